// The types that the checker infers for code without a declared type: results of functions, and computed fields.

import { catchError } from '../../base/catch-error.ts'
import { QueryFailure } from '../../fql10/failure/query-failure.ts'
import {
  type CollectionItem,
  type FunctionItem,
  ofKind,
  type SchemaItem,
} from '../../fql10/schema/fsl/schema-items.ts'
import type { TypeNode } from '../../fql10/syntax/nodes.ts'
import { parseSignature } from '../../fql10/syntax/parse-query.ts'
import { Source } from '../../fql10/syntax/source.ts'
import { functionsByName, SchemaTypes } from '../../fql10/typing/schema-types.ts'

type ComputedField = Parameters<SchemaTypes['computedType']>[1]

/** The inferred types of a schema. Undefined for types that the checker does not know. */
export class InferredTypes {
  readonly #types: SchemaTypes

  constructor(items: readonly SchemaItem[]) {
    const [collections, functions] = [ofKind(items, 'collection'), ofKind(items, 'function')]
    this.#types = new SchemaTypes({ collections, functions: functionsByName(functions), untyped: [] })
  }

  /** The type of a function's result. An overloaded function has the results of all its variants. */
  resultOf(item: FunctionItem): TypeNode | undefined {
    const type = typeIn(this.#types.functionType(item).scheme.text)
    const variants = type?.kind === 'intersection' ? type.members : [type]
    const results = variants.flatMap(each => (each?.kind === 'function' ? [each.result] : []))
    const [first] = results
    if (first === undefined || results.length < variants.length) return undefined
    return results.length === 1 ? first : { kind: 'union', members: results, start: 0, end: 0 }
  }

  computedType(item: CollectionItem, field: ComputedField): TypeNode | undefined {
    return typeIn(this.#types.computedType(item, field).scheme.text)
  }
}

/** Parses a printed type, without its list of type parameters. */
function typeIn(text: string): TypeNode | undefined {
  const source = new Source('*inferred*', text.replace(/^<[^>]*> /, ''))
  return catchError(
    QueryFailure,
    () => parseSignature(source),
    () => undefined,
  )
}

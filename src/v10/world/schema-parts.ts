// What the definition of a collection adds to its companion and to its documents.

import type { Session } from '../../model/session.ts'
import type { Ref } from '../../values/value.ts'
import type { Call } from '../call.ts'
import type { FunctionDefinition } from '../library/definition.ts'
import type { Doc, Value } from '../value.ts'

/** A field that is computed whenever it is read. */
type ComputedField = (doc: Doc, call: Call) => Value

/** The parts of one collection's definition. */
interface SchemaParts {
  /** Functions of the companion, by which indexes are read. */
  readonly indexes: readonly FunctionDefinition[]
  readonly computed: ReadonlyMap<string, ComputedField>
}

const none: SchemaParts = { indexes: [], computed: new Map() }

/** What the definition of a collection says; `collection` is its own document. */
export function schemaPartsOf(_collection: Ref, _session: Session): SchemaParts {
  return none
}

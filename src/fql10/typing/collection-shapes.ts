// The shapes of the collections of a schema: documents, missing documents, and collections. A shape is made when it is
// first used, because a write of one collection needs few of them.

import { upsert } from '../../base/upsert.ts'
import { applyId, rangeType, userCollectionMembers } from '../library/collection.ts'
import { documentMembers } from '../library/document.ts'
import { type CollectionItem, type IndexMember, ofKind } from '../schema/fsl/schema-items.ts'
import { librarySignature } from './annotations.ts'
import { argumentsOf, type Declaration, termType } from './documents.ts'
import type { Scheme, Shape } from './environment.ts'
import { LazyScheme } from './lazy-scheme.ts'
import {
  absentShape,
  type DocumentNames,
  documentNames,
  libraryShapes,
  memberScheme,
  memberSchemes,
  textsWithoutKey,
  typeTexts,
} from './library.ts'
import { type FunctionType, namedType, type Type, withoutSpans } from './terms.ts'

interface CollectionParts {
  declaration(item: CollectionItem): Declaration
  fieldType(item: CollectionItem, name: string): Type | undefined
  alias(item: CollectionItem): Scheme
}

/** The shapes of all collections, by the names of their types. */
export class CollectionShapes {
  readonly #parts: CollectionParts
  readonly #shapes = new Map<string, Shape>()
  readonly #makers = new Map<string, () => Shape>()

  constructor(parts: CollectionParts) {
    this.#parts = parts
  }

  add(name: string, item: CollectionItem): void {
    const names = documentNames(name, `${name}Collection`)
    this.#makers.set(name, () => this.#documentShape(name, item, names))
    this.#makers.set(`Null${name}`, () => absentShape('id', names))
    this.#makers.set(`${name}Collection`, () => ({
      parameters: [],
      fields: this.#moduleFields(name, item, names),
      apply: memberScheme(applyId.type, names),
      hint: 'user_collection',
    }))
  }

  get(name: string): Shape | undefined {
    const make = this.#makers.get(name)
    return make && upsert(this.#shapes, name, make)
  }

  *[Symbol.iterator](): Iterator<readonly [string, Shape]> {
    for (const name of this.#makers.keys()) yield [name, this.get(name) as Shape]
  }

  #documentShape(name: string, item: CollectionItem, names: DocumentNames): Shape {
    const fields = memberSchemes(textsWithoutKey(documentMembers), names)
    for (const method of ['update', 'replace', 'updateData', 'replaceData']) {
      fields.set(method, this.#writeMethod(method, name, item))
    }
    return {
      parameters: [],
      fields,
      member: field => {
        const type = this.#parts.fieldType(item, field)
        return type && new LazyScheme(() => type)
      },
      alias: this.#parts.alias(item),
      isDocument: true,
    }
  }

  #writeMethod(method: string, name: string, item: CollectionItem): Scheme {
    return new LazyScheme(() => {
      const type = argumentsOf(this.#parts.declaration(item))[method] as Type
      return {
        kind: 'function',
        parameters: [{ name: 'data', type: withoutSpans(type) }],
        rest: undefined,
        result: namedType(name),
      }
    })
  }

  #moduleFields(name: string, item: CollectionItem, names: DocumentNames): Map<string, Scheme> {
    const fields = memberSchemes(typeTexts(userCollectionMembers(name)), names)
    fields.set('create', this.#writeMethod('create', name, item))
    fields.set('createData', this.#writeMethod('createData', name, item))
    for (const index of ofKind(item.members, 'index')) {
      fields.set(index.name.text, new LazyScheme(() => this.#indexType(index, item, namedType(name))))
    }
    return fields
  }

  #indexType(index: IndexMember, item: CollectionItem, document: Type): Type {
    const terms = index.members.find(({ kind }) => kind === 'terms')?.paths ?? []
    const parameters = terms.map(({ mva, path }, at) => ({
      name: `term${at + 1}`,
      type: withoutSpans(
        termType(
          name => this.#parts.fieldType(item, name),
          path,
          mva,
          type => this.#unfold(type),
        ),
      ),
    }))
    const result: Type = { kind: 'named', name: 'Set', args: [document] }
    const call = (given: typeof parameters): FunctionType => ({
      kind: 'function',
      parameters: given,
      rest: undefined,
      result,
    })
    const ranged = [...parameters, { name: 'range', type: rangeArgument }]
    return { kind: 'intersection', members: [call(parameters), call(ranged)] }
  }

  #unfold(type: Type): Type {
    if (type.kind !== 'named') return type
    const alias = (libraryShapes.get(type.name) ?? this.get(type.name))?.alias
    return alias === undefined || alias.parameters.length > 0 ? type : alias.type
  }
}

const rangeArgument: Type = librarySignature(rangeType).type

// The definition of an index, and reading it from the index's document. Reading is tolerant: the higher layer validated
// the fields when they were written, so an invalid field gets its default.

import { type Code, codeOf } from '../../values/code.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { firstUserCollection, isObject, itemsOf, native, Ref } from '../../values/value.ts'

/** The field of an index's document that marks it as part of its collection's definition. */
export const ownIndexField = 'collection_index'

/** The field of an index's document with the reason why it could not be built so far. */
export const buildErrorField = 'build_error'

/** One term or value of an index. */
export interface IndexField {
  readonly path: readonly (string | bigint)[] | undefined
  readonly binding: string | undefined
  /** For a binding: the path within its value. */
  readonly within: readonly (string | bigint)[] | undefined
  readonly reverse: boolean
  readonly casefold: boolean
  /** False: an array or object is one value as a whole. */
  readonly multiValue: boolean
}

/** The documents that an index covers: collections by number (`'_'`: every user collection), with computed fields. */
export interface IndexSource {
  readonly collections: readonly number[] | '_'
  readonly bindings: ReadonlyMap<string, Code>
}

/** The properties of an index that the store needs. */
export interface IndexDefinition {
  readonly ref: Ref
  readonly name: string
  readonly sources: readonly IndexSource[]
  readonly terms: readonly IndexField[]
  readonly values: readonly IndexField[]
  readonly unique: boolean
  /**
   * The index is part of its collection's definition: it has no name, is not listed, and has entries whose values are
   * all null.
   */
  readonly isOwn: boolean
  readonly serialized: boolean
  readonly active: boolean
  readonly partitions: number
  /** Every caller of the database may read the index, for example a login page with a client key. */
  readonly publicRead: boolean
}

/** The definition in an index's document. */
export function indexDefinition(document: {
  readonly ref: Ref
  readonly fields: ObjectValue
}): IndexDefinition {
  const { fields, ref } = document
  const name = fields.get('name')
  const terms = itemsOf(fields.get('terms')).map(indexField)
  const unique = fields.get('unique') === true
  const partitions = fields.get('partitions')
  const permissions = fields.get('permissions')
  return {
    ref,
    name: typeof name === 'string' ? name : '',
    sources: itemsOf(fields.get('source')).map(indexSource),
    terms,
    values: itemsOf(fields.get('values')).map(indexField),
    unique,
    isOwn: fields.get(ownIndexField) === true,
    serialized: fields.get('serialized') !== false,
    active: fields.get('active') === true,
    partitions: typeof partitions === 'bigint' ? Number(partitions) : unique || terms.length > 0 ? 1 : 8,
    publicRead: permissions !== undefined && isObject(permissions) && permissions.get('read') === 'public',
  }
}

/** Returns whether an index covers the documents of a collection. `'_'` never covers native ones. */
export function covers(index: IndexDefinition, collection: number): boolean {
  return sourceOf(index, collection) !== undefined
}

/** The source through which an index covers a collection; a source that names it has priority over the wildcard. */
export function sourceOf(index: IndexDefinition, collection: number): IndexSource | undefined {
  let wildcard: IndexSource | undefined
  for (const source of index.sources) {
    if (source.collections === '_') wildcard ??= source
    else if (source.collections.includes(collection)) return source
  }
  return collection >= firstUserCollection ? wildcard : undefined
}

/** The collections that an index names; undefined when it covers all user collections. */
export function namedCollections(index: IndexDefinition): readonly number[] | undefined {
  const named = new Set<number>()
  for (const source of index.sources) {
    if (source.collections === '_') return undefined
    for (const collection of source.collections) named.add(collection)
  }
  return [...named]
}

function indexSource(stored: Value): IndexSource {
  if (!isObject(stored)) return { collections: sourceCollections(stored), bindings: new Map() }
  const bindings = new Map<string, Code>()
  const computed = stored.get('fields')
  if (computed !== undefined && isObject(computed)) {
    for (const [name, body] of computed) {
      const code = codeOf(body)
      if (code) bindings.set(name, code)
    }
  }
  return { collections: sourceCollections(stored.get('collection') ?? stored.get('class') ?? null), bindings }
}

function sourceCollections(stored: Value): readonly number[] | '_' {
  if (stored === '_') return '_'
  const collections: number[] = []
  for (const item of itemsOf(stored)) {
    if (item === '_') return '_'
    if (item instanceof Ref && item.collection === native.collections) collections.push(Number(item.id))
  }
  return collections
}

function indexField(stored: Value): IndexField {
  const fields: ObjectValue = isObject(stored) ? stored : new Map()
  const binding = fields.get('binding')
  return {
    path: fieldPath(fields.get('field')),
    binding: typeof binding === 'string' ? binding : undefined,
    within: fieldPath(fields.get('within')),
    reverse: fields.get('reverse') === true,
    casefold: fields.get('transform') === 'casefold',
    multiValue: fields.get('mva') !== false,
  }
}

function fieldPath(stored: Value | undefined): readonly (string | bigint)[] | undefined {
  if (stored === undefined || stored === null) return undefined
  return itemsOf(stored).filter(step => typeof step === 'string' || typeof step === 'bigint')
}

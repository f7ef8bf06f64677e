// Reads the definition of an index from its document. A higher layer validates the fields before they are written.
// Reading never fails: invalid fields get a default value or are skipped.

import { type Code, codeOf } from '../../values/code.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { firstUserCollection, isObject, itemsOf, native, Ref } from '../../values/value.ts'

/** True in the document of an own index; see {@link IndexDefinition.isOwn}. */
export const ownIndexField = 'collection_index'

/** A field in the document of an index: the reason why the last build of the index failed. */
export const buildErrorField = 'build_error'

/** Partitions of an index without terms, as in the hosted service, if its document contains no number. */
const partitionsDefault = 8

/** Strings are names of fields, and bigints are indexes in arrays. */
export type Path = readonly (string | bigint)[]

/** A term or value. */
export interface IndexField {
  readonly path: Path | undefined
  readonly binding: string | undefined
  /** If the field is a binding: the path within the value of the binding. */
  readonly within: Path | undefined
  readonly reverse: boolean
  readonly casefold: boolean
  /** True: each element of an array is a separate term or value. False: a complete array is one term or value. */
  readonly mva: boolean
}

/**
 * The collections whose documents an index covers, and the bindings (computed fields) for these documents. `'_'` means
 * all user collections.
 */
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
   * The index is part of the definition of its collection: it has no name, is not listed, and unlike other indexes also
   * contains entries whose values are all null.
   */
  readonly isOwn: boolean
  readonly active: boolean
  readonly partitions: number
  /** True: every caller in the database may read the index. For example, a login page may read it with a client key. */
  readonly publicRead: boolean
}

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
    active: fields.get('active') === true,
    partitions:
      typeof partitions === 'bigint'
        ? Number(partitions)
        : unique || terms.length > 0
          ? 1
          : partitionsDefault,
    publicRead: permissions !== undefined && isObject(permissions) && permissions.get('read') === 'public',
  }
}

/** `'_'` covers no native (built-in) collections. */
export function covers(index: IndexDefinition, collection: number): boolean {
  return sourceOf(index, collection) !== undefined
}

/** A source that names the collection has priority over the source `'_'`. */
export function sourceOf(index: IndexDefinition, collection: number): IndexSource | undefined {
  let wildcard: IndexSource | undefined
  for (const source of index.sources) {
    if (source.collections === '_') wildcard ??= source
    else if (source.collections.includes(collection)) return source
  }
  return collection >= firstUserCollection ? wildcard : undefined
}

/** Undefined if the index covers all user collections. */
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
    mva: fields.get('mva') !== false,
  }
}

function fieldPath(stored: Value | undefined): Path | undefined {
  if (stored === undefined || stored === null) return undefined
  return itemsOf(stored).filter(step => typeof step === 'string' || typeof step === 'bigint')
}

// Reads the definitions of databases, collections and indexes from their stored documents. Reading is tolerant: the
// higher layer validated them when they were written, so an invalid field gets its default.

import { type Code, codeOf } from '../../values/code.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { firstUserCollection, isObject, itemsOf, native, Ref } from '../../values/value.ts'
import type {
  CollectionDefinition,
  DatabaseDefinition,
  IndexDefinition,
  IndexField,
  IndexSource,
  Version,
} from './contract.ts'

/** The hidden field of a collection document with the stored lower bound of its history, in microseconds. */
export const historyFloorField = 'min_valid_time'

/** The hidden field of a collection document with the changes of the shape of its documents: a list of steps. */
export const migrationField = 'internal_migrations'

/** The field of a step with its schema time, in microseconds. */
export const stepTimeField = 'at'

/** The field of an index's document that marks it as part of its collection's definition. */
export const ownIndexField = 'collection_index'

/** The field of an index's document with the reason why it could not be built so far. */
export const buildErrorField = 'build_error'

/** A collection as the store itself needs it. */
export interface StoredCollection extends CollectionDefinition {
  /** Microseconds: earlier history was dropped at an earlier write of the collection. */
  readonly historyFloor: number
  /** The steps that migrate documents to the present shape; undefined without steps. */
  readonly migration: Value | undefined
}

/** The definition in a database's document. */
export function databaseDefinition(version: Version): DatabaseDefinition {
  const { ref, fields } = version
  return {
    id: ref.id,
    ref,
    name: text(fields.get('name')),
    parent: ref.database,
    container: fields.get('container') === true,
    protected: fields.get('protected') === true,
  }
}

/** The definition in a collection's document. */
export function collectionDefinition(version: Version): StoredCollection {
  const { ref, fields } = version
  return {
    ref,
    name: text(fields.get('name')),
    historyDays: days(fields.get('history_days')),
    ttlDays: days(fields.get('ttl_days')),
    historyFloor: days(fields.get(historyFloorField)) ?? 0,
    migration: fields.get(migrationField),
  }
}

/** The definition in an index's document. */
export function indexDefinition(version: Version): IndexDefinition {
  const { ref, fields } = version
  const terms = itemsOf(fields.get('terms')).map(indexField)
  const unique = fields.get('unique') === true
  const partitions = fields.get('partitions')
  const permissions = fields.get('permissions')
  return {
    ref,
    name: text(fields.get('name')),
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

function text(stored: Value | undefined): string {
  return typeof stored === 'string' ? stored : ''
}

function days(stored: Value | undefined): number | undefined {
  return typeof stored === 'bigint' ? Number(stored) : undefined
}

// Finds schema objects (databases, collections, indexes …) by name and by reference. Transactions share a cache with
// the schema of each database (schema-cache.ts). The version of a schema is the commit time of its last change. A
// transaction knows the time of the last change to any schema. While this time is unchanged, a cached schema is used
// without reading its version.

import { assert } from '../../base/assert.ts'
import { byteText, textBytes } from '../../base/byte-text.ts'
import { epoch } from '../../base/micros.ts'
import { upsert } from '../../base/upsert.ts'
import {
  type CollectionId,
  collectionOf,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  native,
  Ref,
  rootDatabase,
  type Value,
} from '../../values/value.ts'
import { idAt } from '../keys/key-reader.ts'
import { builtinIndexes, documentKey, indexTermsPrefix, metaKey, schemaVersionKey } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import { encodeTerms } from '../keys/terms.ts'
import type { View } from '../kv/kv-contract.ts'
import {
  collectionDefinition,
  databaseDefinition,
  migrationField,
  type StoredCollection,
} from './definitions.ts'
import { newestLive, scanDocuments, storedVersions } from './documents.ts'
import { entryDocument } from './entry-records.ts'
import { covers, type IndexDefinition, indexDefinition } from './index-definition.ts'
import { nameTerms } from './index-tables.ts'
import { NameHistory } from './name-history.ts'
import { decodeVersion, encodeTimes, timeAt } from './records.ts'
import { beforeAll, type DecodedRow, Schema, type SchemaCache, type SchemaVersions } from './schema-cache.ts'
import { noCounts, read, readFirst, type Snapshot } from './snapshot.ts'
import type { Catalogue, DatabaseDefinition } from './store-contract.ts'

/** The row contains the parent of a database. */
export function parentKey(database: DatabaseId): Uint8Array {
  return metaKey(`parent of ${database}`)
}

/** The value of the row with the key {@link parentKey}. */
export function encodeParent(parent: DatabaseId): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, parent)
  return bytes
}

/** The first commit of a store writes this row. Stores that a version without type checks created do not have it. */
export const rootCheckedKey = metaKey('root is typechecked by default')

/** The parts of one database's cached schema on which a transaction relies. */
export interface SchemaRead {
  readonly version: Micros
  /** See {@link Schema.shownVersion}. */
  readonly shownVersion: Micros
  /** The transaction relies on the complete schema, so that any change makes it stale. */
  isWhole: boolean
  /** The rows of single objects that the transaction has used from the cache, by the `byteText` of the row's key. */
  readonly rows: Map<string, Uint8Array>
  /** Undefined if the transaction has not used the parent. */
  parent: { readonly id: DatabaseId | undefined } | undefined
}

/** Returns whether the schema parts on which a transaction relies are unchanged in `view`. */
export function schemasAgree(schemas: ReadonlyMap<DatabaseId, SchemaRead>, view: View): boolean {
  for (const [database, { isWhole, rows, parent, version }] of schemas) {
    if (versionOf(view.get(schemaVersionKey(database))) !== version) {
      if (isWhole || !rowsAgree(rows, view)) return false
    }
    if (parent !== undefined && parentOf(view.get(parentKey(database))) !== parent.id) return false
  }
  return true
}

function rowsAgree(rows: ReadonlyMap<string, Uint8Array>, view: View): boolean {
  for (const [key, value] of rows) {
    const stored = view.get(textBytes(key))
    if (stored === undefined || Buffer.compare(stored, value) !== 0) return false
  }
  return true
}

function versionOf(stored: Uint8Array | undefined): Micros {
  return stored === undefined ? epoch : timeAt(stored, 0)
}

function versionsOf(stored: Uint8Array | undefined): SchemaVersions {
  const version = versionOf(stored)
  return { version, shown: stored?.length === 16 ? timeAt(stored, 8) : version }
}

/**
 * Returns the row for a changed schema. `isShown` is false if only the state of index builds changes: cached schemas
 * become outdated, but clients still see the version of the definitions. Otherwise, a client could not push after a
 * build.
 */
export function nextVersion(
  stored: Uint8Array | undefined,
  commitTime: Micros,
  isShown: boolean,
): Uint8Array {
  return isShown ? encodeTimes(commitTime) : encodeTimes(commitTime, versionsOf(stored).shown)
}

function parentOf(stored: Uint8Array | undefined): DatabaseId | undefined {
  return stored && idAt(stored, 0)
}

/** The value of all transactions that change no schema; never modified. */
const noChangedSchemas = new Set<DatabaseId>()

export class StoreCatalogue implements Catalogue {
  readonly #snapshot: Snapshot
  readonly #cache: SchemaCache
  readonly #schemas = new Map<DatabaseId, Schema>()
  #changed: Set<DatabaseId> = noChangedSchemas
  /** False if the transaction changes the state of index builds, but no definitions. */
  changesDefinitions = true
  readonly #schemaReads = new Map<DatabaseId, SchemaRead>()
  /** The last collection that {@link userCollection} found. Consecutive requests usually use the same collection. */
  #latest:
    | {
        readonly database: DatabaseId
        readonly collection: CollectionId
        readonly definition: StoredCollection
      }
    | undefined

  /** The result of the last call of {@link lineage}. A request needs the lineage of its database several times. */
  #latestLineage:
    | { readonly database: DatabaseId; readonly lineage: readonly DatabaseDefinition[] }
    | undefined

  constructor(snapshot: Snapshot, cache: SchemaCache) {
    // Reads of the schema are not part of the costs of a query.
    this.#snapshot = { ...snapshot, counters: noCounts() }
    this.#cache = cache
  }

  get changed(): ReadonlySet<DatabaseId> {
    return this.#changed
  }

  /** The parts of cached schemas that the transaction has used. These parts are not in the read set. */
  get schemaReads(): ReadonlyMap<DatabaseId, SchemaRead> {
    return this.#schemaReads
  }

  /** The transaction writes the schema of a database, so it uses no cached parts of this schema from now on. */
  dropCached(database: DatabaseId): void {
    if (this.#changed === noChangedSchemas) this.#changed = new Set()
    this.#changed.add(database)
    this.#schemas.delete(database)
  }

  /**
   * Forgets the schemas that the transaction has used, so that a read of all databases takes bounded memory. Only for
   * transactions that do not write: {@link schemaReads} is incomplete afterwards.
   */
  forget(): void {
    assert(this.#changed.size === 0, 'the transaction writes no schema')
    this.#schemas.clear()
    this.#schemaReads.clear()
  }

  resolve(database: DatabaseId, nativeCollection: number, name: string): Ref | undefined {
    const { names } = this.#schemaInPart(database)
    const remembered = names.get(`${nativeCollection} ${name}`)
    if (remembered !== undefined) return this.#fromRow(database, remembered)
    const terms = encodeTerms(nameTerms(nativeCollection, name))
    const prefix = indexTermsPrefix('live', database, builtinIndexes.names, terms)
    const entry = readFirst(this.#snapshot, prefixRange(prefix))
    if (entry === undefined) return undefined
    const ref = entryDocument(database, entry)
    // A database is found only under its current parent.
    if (nativeCollection === native.databases && this.#parentOf(ref.id) !== database) return undefined
    names.set(`${nativeCollection} ${name}`, { decoded: ref, key: byteText(entry.key), value: entry.value })
    this.#cache.countObjects(database, this.#schemaInPart(database), 0)
    return ref
  }

  nameOf(ref: Ref): string | undefined {
    const cached = this.#cachedName(ref)
    if (cached !== undefined) return cached
    for (const stored of storedVersions(this.#snapshot, ref)) {
      const name = decodeVersion(ref, stored).fields.get('name')
      if (typeof name === 'string') return name
    }
    return undefined
  }

  #cachedName(ref: Ref): string | undefined {
    switch (ref.collection) {
      case native.collections:
        return this.collection(ref)?.name
      case native.indexes:
        return this.index(ref)?.name
      case native.databases:
        return this.#child(ref)?.name
    }
    return undefined
  }

  database(id: DatabaseId): DatabaseDefinition | undefined {
    const parent = id === rootDatabase ? undefined : this.#parentOf(id)
    return parent === undefined ? undefined : this.#child(new Ref(parent, native.databases, id))
  }

  databaseAt(ref: Ref): DatabaseDefinition | undefined {
    const found = ref.collection === native.databases ? this.database(ref.id) : undefined
    return found?.parent === ref.database ? found : undefined
  }

  lineage(database: DatabaseId): readonly DatabaseDefinition[] {
    const latest = this.#latestLineage
    if (latest?.database === database && this.#changed.size === 0) return latest.lineage
    const lineage = this.#findLineage(database)
    this.#latestLineage = { database, lineage }
    return lineage
  }

  #findLineage(database: DatabaseId): readonly DatabaseDefinition[] {
    const found: DatabaseDefinition[] = []
    // Brent's algorithm detects a cycle of stored parents, in which the path reaches `passed` again.
    let passed: DatabaseId | undefined
    for (let at = database; at !== rootDatabase; ) {
      assert(at !== passed, 'no database contains itself')
      if ((found.length & (found.length - 1)) === 0) passed = at
      const definition = this.database(at)
      if (definition === undefined) break
      found.push(definition)
      at = definition.parent
    }
    return found
  }

  get isRootCheckedByDefault(): boolean {
    const { lastCommitTime } = this.#snapshot
    // A store without commits does not have the row yet.
    return lastCommitTime === epoch || read(this.#snapshot, rootCheckedKey) !== undefined
  }

  collection(ref: Ref): StoredCollection | undefined {
    return ref.collection === native.collections
      ? this.userCollection(ref.database, Number(ref.id))
      : undefined
  }

  /** Undefined if the collection does not exist or is native. */
  userCollection(database: DatabaseId, collection: CollectionId): StoredCollection | undefined {
    if (collection < firstUserCollection) return undefined
    const isUntouched = this.#changed.size === 0
    const latest = this.#latest
    if (isUntouched && latest?.collection === collection && latest.database === database)
      return latest.definition
    const definition = this.#definition(database, collection)
    if (definition !== undefined && isUntouched) this.#latest = { database, collection, definition }
    return definition
  }

  #definition(database: DatabaseId, collection: CollectionId): StoredCollection | undefined {
    const schema = this.#schema(database)
    const { collections } = schema
    const cached = collections.get(collection)
    if (cached !== undefined) return cached
    const ref = collectionOf({ database, collection })
    const stored = newestLive(this.#snapshot, ref)
    if (stored === undefined) return undefined
    const definition = collectionDefinition(decodeVersion(ref, stored))
    collections.set(collection, definition)
    this.#cache.countObjects(database, schema, stored.length)
    return definition
  }

  index(ref: Ref): IndexDefinition | undefined {
    return ref.collection === native.indexes ? this.#indexes(ref.database).get(ref.id) : undefined
  }

  indexesOf(database: DatabaseId, collection: number): readonly IndexDefinition[] {
    const { covering } = this.#schema(database)
    return upsert(covering, collection, () =>
      [...this.#indexes(database).values()].filter(index => covers(index, collection)),
    )
  }

  isLive(database: DatabaseId): boolean {
    return database === rootDatabase || this.lineage(database).at(-1)?.parent === rootDatabase
  }

  schemaVersion(database: DatabaseId): Micros {
    this.#schemaInPart(database)
    return this.#schemaReads.get(database)?.shownVersion ?? epoch
  }

  derived<T>(database: DatabaseId, name: string, derive: () => T): T {
    const { derived } = this.#schema(database)
    if (!derived.has(name)) derived.set(name, derive())
    return derived.get(name) as T
  }

  countDerived(database: DatabaseId, bytes: number): void {
    this.#cache.countBytes(database, this.#schema(database), bytes)
  }

  /** Past and present names. Writes of this transaction are not included. */
  nameHistory(database: DatabaseId): NameHistory {
    return this.derived(database, 'names over time', () => {
      const history = new NameHistory(this.#snapshot, database)
      this.#cache.countObjects(database, this.#schema(database), 0, history.size)
      return history
    })
  }

  namesakes(database: DatabaseId, kind: CollectionId, name: string): readonly Ref[] {
    // There may be very many child databases, so their names are not cached.
    const history =
      kind === native.databases
        ? new NameHistory(this.#snapshot, database, [kind])
        : this.nameHistory(database)
    return history.holders(kind, name)
  }

  hasCollection(database: DatabaseId, collection: CollectionId): boolean {
    return collection < firstUserCollection || this.userCollection(database, collection) !== undefined
  }

  /**
   * The steps that migrate documents to the present shape (structure of fields), for a deleted collection to its last
   * shape. Undefined if there are no steps.
   */
  migrationSteps(database: DatabaseId, collection: CollectionId): Value | undefined {
    const definition = this.userCollection(database, collection)
    if (definition !== undefined) return definition.migration
    return this.derived(database, `last steps of ${collection}`, () => {
      const ref = collectionOf({ database, collection })
      for (const stored of storedVersions(this.#snapshot, ref)) {
        const { action, fields } = decodeVersion(ref, stored)
        if (action !== 'delete') return fields.get(migrationField)
      }
      return undefined
    })
  }

  /** Existing user-defined collections only. */
  collectionsOf(database: DatabaseId): readonly number[] {
    const schema = this.#schema(database)
    schema.liveCollections ??= this.#objects(database, native.collections).map(ref => Number(ref.id))
    return schema.liveCollections
  }

  #indexes(database: DatabaseId): ReadonlyMap<bigint, IndexDefinition> {
    const schema = this.#schema(database)
    if (schema.indexes === undefined) {
      const indexes = new Map<bigint, IndexDefinition>()
      for (const ref of this.#objects(database, native.indexes)) {
        const stored = newestLive(this.#snapshot, ref)
        if (stored === undefined) continue
        indexes.set(ref.id, indexDefinition(decodeVersion(ref, stored)))
        this.#cache.countObjects(database, schema, stored.length)
      }
      schema.indexes = indexes
    }
    return schema.indexes
  }

  #objects(database: DatabaseId, nativeCollection: number): Ref[] {
    return Array.from(scanDocuments(this.#snapshot, database, nativeCollection), entry => entry.document)
  }

  #child(ref: Ref): DatabaseDefinition | undefined {
    const { databases } = this.#schemaInPart(ref.database)
    const remembered = databases.get(ref.id)
    if (remembered !== undefined) return this.#fromRow(ref.database, remembered)
    const stored = newestLive(this.#snapshot, ref)
    if (stored === undefined) return undefined
    const decoded = databaseDefinition(decodeVersion(ref, stored))
    databases.set(ref.id, { decoded, key: byteText(documentKey(ref)), value: stored })
    this.#cache.countObjects(ref.database, this.#schemaInPart(ref.database), stored.length)
    return decoded
  }

  /** The transaction relies on the row of the object. */
  #fromRow<T>(database: DatabaseId, { decoded, key, value }: DecodedRow<T>): T {
    this.#schemaReadOf(database)?.rows.set(key, value)
    return decoded
  }

  #parentOf(database: DatabaseId): DatabaseId | undefined {
    if (this.#changed.size > 0) return this.#storedParent(database)
    const schema = this.#schemaInPart(database)
    schema.parent ??= { id: this.#storedParent(database) }
    const schemaRead = this.#schemaReads.get(database)
    if (schemaRead !== undefined) schemaRead.parent = schema.parent
    return schema.parent.id
  }

  #storedParent(database: DatabaseId): DatabaseId | undefined {
    return parentOf(read(this.#snapshot, parentKey(database)))
  }

  /** Returns the schema for a read that relies on the complete schema, such as a read of all indexes. */
  #schema(database: DatabaseId): Schema {
    const schema = this.#schemaInPart(database)
    const schemaRead = this.#schemaReadOf(database)
    if (schemaRead !== undefined) schemaRead.isWhole = true
    return schema
  }

  /** Undefined after the transaction has written the schema, because it then uses no cached schema. */
  #schemaReadOf(database: DatabaseId): SchemaRead | undefined {
    return this.#changed.has(database) ? undefined : this.#schemaReads.get(database)
  }

  /**
   * For reads of single rows: the transaction relies only on these rows (`#fromRow`) or on the parent. Creating or
   * deleting a database changes the schema of its parent, which must not make concurrent writes in other child
   * databases of this parent stale.
   */
  #schemaInPart(database: DatabaseId): Schema {
    let schema = this.#schemas.get(database)
    if (schema === undefined) {
      schema = this.#changed.has(database) ? new Schema(beforeAll, beforeAll) : this.#sharedSchema(database)
      this.#schemas.set(database, schema)
    }
    return schema
  }

  #sharedSchema(database: DatabaseId): Schema {
    const { schemaTime } = this.#snapshot
    let schema = this.#cache.current(database, schemaTime)
    if (schema === undefined) {
      const versions = versionsOf(read(this.#snapshot, schemaVersionKey(database)))
      schema = this.#cache.verified(database, versions, schemaTime)
    }
    this.#schemaReads.set(database, {
      version: schema.version,
      shownVersion: schema.shownVersion,
      isWhole: false,
      rows: new Map(),
      parent: undefined,
    })
    return schema
  }
}

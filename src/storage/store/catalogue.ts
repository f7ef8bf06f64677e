// Schema objects by name and by reference. What a database's schema says is remembered across transactions under
// the version number that every write to the schema changes. That number is read again only when some schema has
// changed since it was read last, which the transaction knows, so using a schema costs nothing most of the time.

import { assert } from '../../base/assert.ts'
import { byteText, textBytes } from '../../base/byte-text.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { epoch, micros } from '../../base/micros.ts'
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
import { builtinIndexes, documentKey, indexTermsPrefix, metaKey, schemaVersionKey } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import { encodeTerms } from '../keys/terms.ts'
import type { View } from '../kv/contract.ts'
import type { Catalogue, DatabaseDefinition, IndexDefinition } from './contract.ts'
import {
  collectionDefinition,
  covers,
  databaseDefinition,
  indexDefinition,
  migrationField,
  type StoredCollection,
} from './definitions.ts'
import { newestLive, scanDocuments, storedVersions } from './documents.ts'
import { entryDocument } from './entry-records.ts'
import { nameTerms } from './index-tables.ts'
import { NameHistory } from './name-history.ts'
import { decodeTime, decodeVersion, idAt } from './records.ts'
import { noCounts, read, readFirst, type Snapshot } from './snapshot.ts'

/** Something that stands in one row of the store. */
interface FromEntry<T> {
  readonly known: T
  /** The `byteText` of the row's key. */
  readonly key: string
  readonly value: Uint8Array
}

/** The version of no stored schema. */
const beforeAll: Micros = micros(-1)

/** What is known of one database's schema at one version of it; filled as it is asked for. */
class Schema {
  readonly version: Micros
  readonly names = new Map<string, FromEntry<Ref>>()
  readonly databases = new Map<bigint, FromEntry<DatabaseDefinition>>()
  readonly collections = new Map<number, StoredCollection>()
  readonly covering = new Map<number, readonly IndexDefinition[]>()
  indexes: ReadonlyMap<bigint, IndexDefinition> | undefined
  liveCollections: readonly number[] | undefined
  readonly derived = new Map<string, unknown>()
  /** Where the database lies; undefined while that is not known. */
  parent: { readonly id: DatabaseId | undefined } | undefined
  /** The schema time as of which this is known to be current. */
  verifiedAt: Micros = beforeAll
  /** About the bytes that it takes. */
  weight = bytesPerSchema
  /** The weight with which the cache counts it. */
  countedWeight = bytesPerSchema

  constructor(version: Micros) {
    this.version = version
  }
}

/** Bytes of memory for an empty schema, for each thing in it, and for each stored byte of it with all that is derived. Measured. */
const bytesPerSchema = 1024
const bytesPerThing = 512
const bytesPerByte = 12

/** Schemas that transactions share. */
export class SchemaCache {
  readonly #schemas: GenerationCache<DatabaseId, Schema>

  /** `bytesMax`: about the bytes of memory for all schemas. One database's schema is remembered whatever it takes. */
  constructor(bytesMax: number = limits.knownSchemasBytesMax) {
    const weigh = ({ countedWeight }: Schema) => Math.min(countedWeight, bytesMax / 2)
    this.#schemas = new GenerationCache(bytesMax, weigh)
  }

  /** Number of remembered schemas. */
  get size(): number {
    return this.#schemas.size
  }

  /** Counts `things` that were added to a schema, and were decoded from `storedBytes`. */
  grew(database: DatabaseId, schema: Schema, storedBytes: number, things = 1): void {
    schema.weight += things * bytesPerThing + storedBytes * bytesPerByte
    // The cache adds the whole weight each time, so it is told only of a multiple.
    if (schema.weight < 2 * schema.countedWeight) return
    if (this.#schemas.get(database) !== schema) return
    schema.countedWeight = schema.weight
    this.#schemas.set(database, schema)
  }

  /** The schema of a database, if nothing can have changed it up to a schema time. */
  current(database: DatabaseId, schemaTime: Micros): Schema | undefined {
    const schema = this.#schemas.get(database)
    return schema?.verifiedAt === schemaTime ? schema : undefined
  }

  /** The schema of a database in the version it was found to have at a schema time. */
  verified(database: DatabaseId, version: Micros, schemaTime: Micros): Schema {
    const schema = this.#inVersion(database, version)
    schema.verifiedAt = schemaTime
    schema.parent = undefined
    return schema
  }

  #inVersion(database: DatabaseId, version: Micros): Schema {
    let schema = this.#schemas.get(database)
    if (schema?.version !== version) {
      schema = new Schema(version)
      this.#schemas.set(database, schema)
    }
    return schema
  }
}

/** Where the parent of a database is stored. */
export function parentKey(database: DatabaseId): Uint8Array {
  return metaKey(`parent of ${database}`)
}

/** The stored form of a parent. */
export function encodeParent(parent: DatabaseId): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, parent)
  return bytes
}

/** What a transaction relied on of one database's remembered schema. */
export interface SchemaRead {
  readonly version: Micros
  /** It asked for more than `entries`: any change to the schema counts. */
  isWhole: boolean
  /** Single rows that what it asked for stands in, by the `byteText` of their keys. */
  readonly entries: Map<string, Uint8Array>
  /** Where the database lies, if that was asked for and remembered. */
  parent: { readonly id: DatabaseId | undefined } | undefined
}

/** Whether the schemas that were relied on are in `view` as they were. */
export function schemasAgree(schemas: ReadonlyMap<DatabaseId, SchemaRead>, view: View): boolean {
  for (const [database, { entries, isWhole, parent, version }] of schemas) {
    if (versionOf(view.get(schemaVersionKey(database))) !== version) {
      if (isWhole || !entriesAgree(entries, view)) return false
    }
    if (parent !== undefined && parentOf(view.get(parentKey(database))) !== parent.id) return false
  }
  return true
}

function entriesAgree(entries: ReadonlyMap<string, Uint8Array>, view: View): boolean {
  for (const [key, value] of entries) {
    const stored = view.get(textBytes(key))
    if (stored === undefined || Buffer.compare(stored, value) !== 0) return false
  }
  return true
}

function versionOf(stored: Uint8Array | undefined): Micros {
  return stored === undefined ? epoch : decodeTime(stored)
}

function parentOf(stored: Uint8Array | undefined): DatabaseId | undefined {
  return stored && idAt(stored, 0)
}

/** Of most transactions; never added to. */
const nothingChanged = new Set<DatabaseId>()

/** The catalogue as one transaction sees it. */
export class StoreCatalogue implements Catalogue {
  readonly #snapshot: Snapshot
  readonly #cache: SchemaCache
  readonly #schemas = new Map<DatabaseId, Schema>()
  #changed: Set<DatabaseId> = nothingChanged
  readonly #relied = new Map<DatabaseId, SchemaRead>()
  /** The collection that was found last: elements and documents of one are mostly asked about in a row. */
  #latest:
    | {
        readonly database: DatabaseId
        readonly collection: CollectionId
        readonly definition: StoredCollection
      }
    | undefined

  constructor(snapshot: Snapshot, cache: SchemaCache) {
    // What it takes to know the schema is not the query's to pay.
    this.#snapshot = { ...snapshot, counters: noCounts() }
    this.#cache = cache
  }

  /** The databases whose schema this transaction has written. */
  get changed(): ReadonlySet<DatabaseId> {
    return this.#changed
  }

  /** What was used of remembered schemas, beside what was read. */
  get relied(): ReadonlyMap<DatabaseId, SchemaRead> {
    return this.#relied
  }

  /** Forgets what was known of a schema that the transaction has just written. */
  noteChange(database: DatabaseId): void {
    if (this.#changed === nothingChanged) this.#changed = new Set()
    this.#changed.add(database)
    this.#schemas.delete(database)
  }

  resolve(database: DatabaseId, nativeCollection: number, name: string): Ref | undefined {
    const { names } = this.#schemaInPart(database)
    const remembered = names.get(`${nativeCollection} ${name}`)
    if (remembered !== undefined) return this.#fromEntry(database, remembered)
    const terms = encodeTerms(nameTerms(nativeCollection, name))
    const prefix = indexTermsPrefix('live', database, builtinIndexes.names, terms)
    const entry = readFirst(this.#snapshot, prefixRange(prefix))
    if (entry === undefined) return undefined
    const known = entryDocument(database, entry)
    // A way down leads to no database that does not know of it.
    if (nativeCollection === native.databases && this.#parentOf(known.id) !== database) return undefined
    names.set(`${nativeCollection} ${name}`, { known, key: byteText(entry.key), value: entry.value })
    this.#cache.grew(database, this.#schemaInPart(database), 0)
    return known
  }

  nameOf(ref: Ref): string | undefined {
    const known = this.#knownName(ref)
    if (known !== undefined) return known
    for (const stored of storedVersions(this.#snapshot, ref)) {
      const name = decodeVersion(ref, stored).fields.get('name')
      if (typeof name === 'string') return name
    }
    return undefined
  }

  #knownName(ref: Ref): string | undefined {
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
    const found: DatabaseDefinition[] = []
    // What is stored must not lead in a circle; one of any length is met at the latest after twice as many steps.
    let passed: DatabaseId | undefined
    for (let at = database; at !== rootDatabase; ) {
      assert(at !== passed, 'no database lies in itself')
      if ((found.length & (found.length - 1)) === 0) passed = at
      const definition = this.database(at)
      if (definition === undefined) break
      found.push(definition)
      at = definition.parent
    }
    return found
  }

  collection(ref: Ref): StoredCollection | undefined {
    return ref.collection === native.collections
      ? this.userCollection(ref.database, Number(ref.id))
      : undefined
  }

  /** The collection of the users with that number; undefined for native ones, too. */
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
    const known = collections.get(collection)
    if (known !== undefined) return known
    const ref = collectionOf({ database, collection })
    const stored = newestLive(this.#snapshot, ref)
    if (stored === undefined) return undefined
    const definition = collectionDefinition(decodeVersion(ref, stored))
    collections.set(collection, definition)
    this.#cache.grew(database, schema, stored.length)
    return definition
  }

  index(ref: Ref): IndexDefinition | undefined {
    return ref.collection === native.indexes ? this.#indexes(ref.database).get(ref.id) : undefined
  }

  indexesOf(database: DatabaseId, collection: number): readonly IndexDefinition[] {
    const { covering } = this.#schema(database)
    let found = covering.get(collection)
    if (found === undefined) {
      found = [...this.#indexes(database).values()].filter(index => covers(index, collection))
      covering.set(collection, found)
    }
    return found
  }

  isLive(database: DatabaseId): boolean {
    return database === rootDatabase || this.lineage(database).at(-1)?.parent === rootDatabase
  }

  schemaVersion(database: DatabaseId): Micros {
    this.#schemaInPart(database)
    return this.#relied.get(database)?.version ?? epoch
  }

  derived<T>(database: DatabaseId, name: string, derive: () => T): T {
    const { derived } = this.#schema(database)
    if (!derived.has(name)) derived.set(name, derive())
    return derived.get(name) as T
  }

  /** Who had which name in a database, without what this transaction does. */
  nameHistory(database: DatabaseId): NameHistory {
    return this.derived(database, 'names over time', () => {
      const history = new NameHistory(this.#snapshot, database)
      this.#cache.grew(database, this.#schema(database), 0, history.size)
      return history
    })
  }

  /** Whether documents of a collection can be reached: native ones always, others while the collection lives. */
  hasCollection(database: DatabaseId, collection: CollectionId): boolean {
    return collection < firstUserCollection || this.userCollection(database, collection) !== undefined
  }

  /**
   * The steps by which documents of a collection of the users get its present shape, or the last one that it had;
   * undefined where there are none.
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

  /** The numbers of all live user collections of a database. */
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
        this.#cache.grew(database, schema, stored.length)
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
    if (remembered !== undefined) return this.#fromEntry(ref.database, remembered)
    const stored = newestLive(this.#snapshot, ref)
    if (stored === undefined) return undefined
    const known = databaseDefinition(decodeVersion(ref, stored))
    databases.set(ref.id, { known, key: byteText(documentKey(ref)), value: stored })
    this.#cache.grew(ref.database, this.#schemaInPart(ref.database), stored.length)
    return known
  }

  /** What was remembered; the transaction relies on its row from now on. */
  #fromEntry<T>(database: DatabaseId, { key, known, value }: FromEntry<T>): T {
    this.#reliedOn(database)?.entries.set(key, value)
    return known
  }

  #parentOf(database: DatabaseId): DatabaseId | undefined {
    if (this.#changed.size > 0) return this.#storedParent(database)
    const schema = this.#schemaInPart(database)
    schema.parent ??= { id: this.#storedParent(database) }
    const relied = this.#relied.get(database)
    if (relied !== undefined) relied.parent = schema.parent
    return schema.parent.id
  }

  #storedParent(database: DatabaseId): DatabaseId | undefined {
    return parentOf(read(this.#snapshot, parentKey(database)))
  }

  /** For what is asked of a schema as a whole. */
  #schema(database: DatabaseId): Schema {
    const schema = this.#schemaInPart(database)
    const relied = this.#reliedOn(database)
    if (relied !== undefined) relied.isWhole = true
    return schema
  }

  /** Undefined once the transaction has written the schema: from then on it sees its own. */
  #reliedOn(database: DatabaseId): SchemaRead | undefined {
    return this.#changed.has(database) ? undefined : this.#relied.get(database)
  }

  /**
   * For single rows of a schema: databases are made and deleted beside each other all the time, and a write in one of
   * them relies on nothing of their parent but its own row there.
   */
  #schemaInPart(database: DatabaseId): Schema {
    let schema = this.#schemas.get(database)
    if (schema === undefined) {
      schema = this.#changed.has(database) ? new Schema(beforeAll) : this.#sharedSchema(database)
      this.#schemas.set(database, schema)
    }
    return schema
  }

  #sharedSchema(database: DatabaseId): Schema {
    const { schemaTime } = this.#snapshot
    let schema = this.#cache.current(database, schemaTime)
    if (schema === undefined) {
      const version = versionOf(read(this.#snapshot, schemaVersionKey(database)))
      schema = this.#cache.verified(database, version, schemaTime)
    }
    this.#relied.set(database, {
      version: schema.version,
      isWhole: false,
      entries: new Map(),
      parent: undefined,
    })
    return schema
  }
}

// The cache of schemas, which the transactions of a process share. Its memory is bounded: the schemas that were used
// least recently are dropped.

import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { micros } from '../../base/micros.ts'
import type { DatabaseId, Micros, Ref } from '../../values/value.ts'
import type { StoredCollection } from './definitions.ts'
import type { IndexDefinition } from './index-definition.ts'
import type { DatabaseDefinition } from './store-contract.ts'

/** A schema object (`known`) that was decoded from one row of the store. */
export interface FromEntry<T> {
  readonly known: T
  /** The `byteText` of the row's key. */
  readonly key: string
  readonly value: Uint8Array
}

/** A version number that is less than the version number of every stored schema. */
export const beforeAll: Micros = micros(-1)

/** The version number of a schema, and the version that clients see. */
export interface SchemaVersions {
  readonly version: Micros
  readonly shown: Micros
}

/** The cached parts of one database's schema in one version. A part is read when it is first used. */
export class Schema {
  readonly version: Micros
  /** The version that clients see. Finished index builds change `version`, but not this version. */
  readonly shownVersion: Micros
  readonly names = new Map<string, FromEntry<Ref>>()
  readonly databases = new Map<bigint, FromEntry<DatabaseDefinition>>()
  readonly collections = new Map<number, StoredCollection>()
  readonly covering = new Map<number, readonly IndexDefinition[]>()
  indexes: ReadonlyMap<bigint, IndexDefinition> | undefined
  liveCollections: readonly number[] | undefined
  readonly derived = new Map<string, unknown>()
  /** The parent of the database; undefined while the parent is not cached. */
  parent: { readonly id: DatabaseId | undefined } | undefined
  /**
   * The schema time at which this schema was last verified to be current. The schema time is the time of the last
   * change to any schema.
   */
  verifiedAt: Micros = beforeAll
  /** The approximate bytes of memory that the schema uses. */
  weight = bytesPerSchema
  /** The value of `weight` that the cache counted most recently. */
  countedWeight = bytesPerSchema

  constructor(version: Micros, shownVersion: Micros) {
    this.version = version
    this.shownVersion = shownVersion
  }
}

/**
 * Measured bytes of memory: for an empty schema, for each object in a schema, and for each stored byte of an object.
 * `bytesPerByte` includes data that is derived from the object.
 */
const bytesPerSchema = 1024
const bytesPerThing = 512
const bytesPerByte = 12

/** The cache of schemas, which transactions share. */
export class SchemaCache {
  readonly #schemas: GenerationCache<DatabaseId, Schema>

  /**
   * `bytesMax`: the approximate limit in bytes for all schemas together. A single schema above the limit is cached,
   * too.
   */
  constructor(bytesMax: number = limits.knownSchemasBytesMax) {
    const weigh = ({ countedWeight }: Schema) => Math.min(countedWeight, bytesMax / 2)
    this.#schemas = new GenerationCache(bytesMax, weigh)
  }

  get size(): number {
    return this.#schemas.size
  }

  /**
   * Counts the memory of `things` new objects in a schema. `storedBytes`: the encoded size of these objects in bytes.
   */
  grew(database: DatabaseId, schema: Schema, storedBytes: number, things = 1): void {
    this.grewBy(database, schema, things * bytesPerThing + storedBytes * bytesPerByte)
  }

  /** Counts `bytes` of memory of a schema. */
  grewBy(database: DatabaseId, schema: Schema, bytes: number): void {
    schema.weight += bytes
    // Updating the cache is expensive, so the cache counts a schema again only when the schema's weight has doubled.
    if (schema.weight < 2 * schema.countedWeight) return
    if (this.#schemas.get(database) !== schema) return
    schema.countedWeight = schema.weight
    this.#schemas.set(database, schema)
  }

  /** Returns the cached schema of a database; undefined if the schema is not known to be current at `schemaTime`. */
  current(database: DatabaseId, schemaTime: Micros): Schema | undefined {
    const schema = this.#schemas.get(database)
    return schema?.verifiedAt === schemaTime ? schema : undefined
  }

  /** Returns the schema of a database in `versions`, and records that this version is current at `schemaTime`. */
  verified(database: DatabaseId, versions: SchemaVersions, schemaTime: Micros): Schema {
    const schema = this.#inVersion(database, versions)
    schema.verifiedAt = schemaTime
    schema.parent = undefined
    return schema
  }

  #inVersion(database: DatabaseId, { shown, version }: SchemaVersions): Schema {
    let schema = this.#schemas.get(database)
    if (schema?.version !== version) {
      schema = new Schema(version, shown)
      this.#schemas.set(database, schema)
    }
    return schema
  }
}

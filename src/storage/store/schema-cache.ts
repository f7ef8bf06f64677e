// Caches the schemas of databases for all transactions of a process. The memory is bounded: the schemas that were used
// least recently are dropped.

import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { micros } from '../../base/micros.ts'
import type { DatabaseId, Micros, Ref } from '../../values/value.ts'
import type { StoredCollection } from './definitions.ts'
import type { IndexDefinition } from './index-definition.ts'
import type { DatabaseDefinition } from './store-contract.ts'

export interface DecodedRow<T> {
  readonly decoded: T
  /** The `byteText` of the row's key. */
  readonly key: string
  readonly value: Uint8Array
}

/** Less than the version number of every stored schema. */
export const beforeAll: Micros = micros(-1)

export interface SchemaVersions {
  readonly version: Micros
  readonly shown: Micros
}

/** The cached parts of one database's schema in one version. A part is read when it is first used. */
export class Schema {
  readonly version: Micros
  /** The version that clients see. Finished index builds change `version`, but not this version. */
  readonly shownVersion: Micros
  readonly names = new Map<string, DecodedRow<Ref>>()
  readonly databases = new Map<bigint, DecodedRow<DatabaseDefinition>>()
  readonly collections = new Map<number, StoredCollection>()
  /** The indexes that cover a collection, by the number of the collection. */
  readonly covering = new Map<number, readonly IndexDefinition[]>()
  indexes: ReadonlyMap<bigint, IndexDefinition> | undefined
  liveCollections: readonly number[] | undefined
  readonly derived = new Map<string, unknown>()
  /** Undefined while the parent is not cached. */
  parent: { readonly id: DatabaseId | undefined } | undefined
  /**
   * The schema time (the time of the last change to any schema) at which this schema was last verified to be current.
   */
  verifiedAt: Micros = beforeAll
  /** Approximate bytes of memory. */
  weight = bytesPerSchema
  /** The `weight` that the cache counted most recently. */
  countedWeight = bytesPerSchema

  constructor(version: Micros, shownVersion: Micros) {
    this.version = version
    this.shownVersion = shownVersion
  }
}

/** Measured memory: of an empty schema, of each object, and of each stored byte of an object with its derived data. */
const bytesPerSchema = 1024
const bytesPerObject = 512
const bytesPerByte = 12

export class SchemaCache {
  readonly #schemas: GenerationCache<DatabaseId, Schema>

  /** `bytesMax` is approximate, and limits all schemas together. A single schema above the limit is cached, too. */
  constructor(bytesMax: number = limits.knownSchemasBytesMax) {
    const weigh = ({ countedWeight }: Schema) => Math.min(countedWeight, bytesMax / 2)
    this.#schemas = new GenerationCache(bytesMax, weigh)
  }

  get size(): number {
    return this.#schemas.size
  }

  /** Adds the estimated memory of `objects` new objects with `storedBytes` encoded bytes. */
  countObjects(database: DatabaseId, schema: Schema, storedBytes: number, objects = 1): void {
    this.countBytes(database, schema, objects * bytesPerObject + storedBytes * bytesPerByte)
  }

  countBytes(database: DatabaseId, schema: Schema, bytes: number): void {
    schema.weight += bytes
    // Updating the cache is expensive, so the cache counts a schema again only when the schema's weight has doubled.
    if (schema.weight < 2 * schema.countedWeight) return
    if (this.#schemas.get(database) !== schema) return
    schema.countedWeight = schema.weight
    this.#schemas.set(database, schema)
  }

  /** Undefined if no schema is known to be current at `schemaTime`. */
  current(database: DatabaseId, schemaTime: Micros): Schema | undefined {
    const schema = this.#schemas.get(database)
    return schema?.verifiedAt === schemaTime ? schema : undefined
  }

  /** The schema in `versions`, which is current at `schemaTime`. */
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

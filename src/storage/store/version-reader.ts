// Decodes stored versions of documents, and migrates them to the present shape (the structure of fields) of their
// collection, for all code that reads versions: queries, history, indexes, streams, exports and removal.
//
// Rows of indexes are also computed from migrated versions. So a transaction that changes the shape must rebuild each
// index whose rows would differ.

import { assert } from '../../base/assert.ts'
import { epoch } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  type Ref,
  type Value,
} from '../../values/value.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import type { StoreCatalogue } from './catalogue.ts'
import type { StoredVersion } from './index-tables.ts'
import { decodeVersion, versionAction, versionShapeTime } from './records.ts'
import type { Migration, StoreHooks } from './store-contract.ts'

/** Applies the migrations that one transaction sees. */
export class VersionReader {
  readonly #catalogue: StoreCatalogue
  readonly #hooks: Pick<StoreHooks, 'readMigration'>
  /** Cached, because consecutive reads are usually in one collection. */
  #latest: { readonly steps: Value; readonly migration: Migration } | undefined

  constructor(catalogue: StoreCatalogue, hooks: Pick<StoreHooks, 'readMigration'>) {
    this.#catalogue = catalogue
    this.#hooks = hooks
  }

  read(ref: Ref, stored: Bytes): StoredVersion {
    const migration = this.#migrationOf(ref.database, ref.collection)
    const version = decodeVersion(ref, stored)
    if (migration === undefined || version.action === 'delete') return version
    const { lastTime } = migration
    const shapeTime = versionShapeTime(stored)
    if (shapeTime >= lastTime) return version
    return { ...version, fields: migration.apply(version.fields, shapeTime), shapeTime: lastTime }
  }

  /** The last change to the shape of a collection's documents; 0 if the shape never changed. */
  shapeTimeOf({ collection, database }: Pick<Ref, 'collection' | 'database'>): Micros {
    return this.#migrationOf(database, collection)?.lastTime ?? epoch
  }

  /** Returns whether a stored version has an earlier shape than the present shape of its collection. */
  isOutdated(ref: Ref, stored: Bytes): boolean {
    return versionAction(stored) !== 'delete' && versionShapeTime(stored) < this.shapeTimeOf(ref)
  }

  #migrationOf(database: DatabaseId, collection: CollectionId): Migration | undefined {
    if (collection < firstUserCollection) return undefined
    const steps = this.#catalogue.migrationSteps(database, collection)
    if (steps === undefined) return undefined
    if (this.#latest?.steps === steps) return this.#latest.migration
    const migration = this.#catalogue.derived(database, `migration of ${collection}`, () => {
      const { readMigration } = this.#hooks
      assert(readMigration !== undefined, 'a reader of documents knows the migrations')
      return readMigration(steps)
    })
    this.#latest = { steps, migration }
    return migration
  }
}

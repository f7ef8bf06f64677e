// Decodes all stored versions of documents, in the present shape of their collection, whatever their shape when they
// were written. All readers use it: queries, history, indexes, streams, exports, removal.
//
// Rows of indexes are computed from decoded versions, too. So an index whose rows would be different after a change of
// the shape must be rebuilt in the transaction that makes the change.

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

/** Reads the versions of documents from the view of one transaction. */
export class VersionReader {
  readonly #catalogue: StoreCatalogue
  readonly #hooks: Pick<StoreHooks, 'readMigration'>
  /** The steps that were used last, because consecutive reads usually concern one collection. */
  #latest: { readonly steps: Value; readonly migration: Migration } | undefined

  constructor(catalogue: StoreCatalogue, hooks: Pick<StoreHooks, 'readMigration'>) {
    this.#catalogue = catalogue
    this.#hooks = hooks
  }

  /** A stored version in the present shape. */
  read(ref: Ref, stored: Bytes): StoredVersion {
    const migration = this.#migrationOf(ref.database, ref.collection)
    const version = decodeVersion(ref, stored)
    if (migration === undefined || version.action === 'delete') return version
    const { lastTime } = migration
    const shapeTime = versionShapeTime(stored)
    if (shapeTime >= lastTime) return version
    return { ...version, fields: migration.apply(version.fields, shapeTime), shapeTime: lastTime }
  }

  /** The time of the last change of the shape of a collection's documents; 0: never. */
  shapeTimeOf({ collection, database }: Pick<Ref, 'collection' | 'database'>): Micros {
    return this.#migrationOf(database, collection)?.lastTime ?? epoch
  }

  /** Returns whether a stored version has another shape than its collection has now. */
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

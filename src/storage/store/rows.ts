// The context in which the writers of a transaction and the background work of the store read and write rows.

import type { CpuBudget } from '../../base/admission/time-budget.ts'
import type { CollectionId, DatabaseId, Micros } from '../../values/value.ts'
import type { Overlay } from '../kv/overlay.ts'
import type { StoreCatalogue } from './catalogue.ts'
import { builtinIndexesOf, documentsTables, type IndexTables, userIndex } from './index-tables.ts'
import type { Snapshot } from './snapshot.ts'
import type { StoreHooks } from './store-contract.ts'
import type { VersionReader } from './version-reader.ts'

/** Reads and writes rows in a single writing transaction. */
export interface Rows {
  readonly snapshot: Snapshot
  /** Includes the transaction's own writes. Rows that are set here are written when the transaction commits. */
  readonly overlay: Overlay
  readonly catalogue: StoreCatalogue
  readonly reader: VersionReader
  readonly hooks: StoreHooks
  /** Time limit for the bindings (computed index fields) of one document. */
  readonly bindingBudget: CpuBudget
  /** The provisional commit time of keys, versions and index entries. The commit may replace it (rebase.ts). */
  readonly commitTime: Micros
  /** The commit time for all other values, such as terms of indexes. It is final after the first call. */
  readonly stamp: () => Micros
}

/** All indexes that cover the documents of a collection. */
export function indexesOf(
  { catalogue, hooks }: Pick<Rows, 'catalogue' | 'hooks'>,
  database: DatabaseId,
  collection: CollectionId,
): readonly IndexTables[] {
  return catalogue.derived(database, `indexes of ${collection}`, () => [
    documentsTables(collection),
    ...builtinIndexesOf(collection),
    ...catalogue.indexesOf(database, collection).map(index => userIndex(index, hooks, catalogue)),
  ])
}

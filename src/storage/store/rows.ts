// Computes the rows of documents and indexes, for the writers of a transaction and for the background work of the
// store.

import type { CpuBudget } from '../../base/admission/time-budget.ts'
import { byteText } from '../../base/byte-text.ts'
import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import { documentKey, historyKey } from '../keys/keyspace.ts'
import type { Overlay } from '../kv/overlay.ts'
import type { StoreCatalogue } from './catalogue.ts'
import {
  builtinIndexesOf,
  documentsTables,
  type IndexRow,
  type IndexTables,
  type StoredVersion,
  timelineRows,
  userIndex,
} from './index-tables.ts'
import { encodeVersion } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { StoreHooks } from './store-contract.ts'
import type { VersionReader } from './version-reader.ts'

/** Reads and writes rows in a single writing transaction. */
export interface Rows {
  readonly snapshot: Snapshot
  /**
   * The rows that the transaction reads, including its own writes. Rows that are set in the overlay are written when
   * the transaction commits.
   */
  readonly overlay: Overlay
  readonly catalogue: StoreCatalogue
  readonly reader: VersionReader
  readonly hooks: StoreHooks
  /** The time limit for the bindings (computed fields) of one document. */
  readonly bindings: CpuBudget
  readonly commitTime: Micros
  /** Returns the commit time, so that a written value can contain it. The commit time cannot change after this call. */
  readonly stamp: () => Micros
}

type IndexContext = Pick<Rows, 'catalogue' | 'hooks'>

/** Returns all indexes that cover the documents of a collection. */
export function indexesOf(
  { catalogue, hooks }: IndexContext,
  database: DatabaseId,
  collection: CollectionId,
): readonly IndexTables[] {
  return catalogue.derived(database, `indexes of ${collection}`, () => [
    documentsTables(collection),
    ...builtinIndexesOf(collection),
    ...catalogue.indexesOf(database, collection).map(index => userIndex(index, hooks, catalogue)),
  ])
}

/** Returns all stored rows of a document, by the text of their keys. `versions`: all versions, oldest first. */
export function storedRows(
  context: IndexContext,
  ref: Ref,
  versions: readonly StoredVersion[],
): Map<string, IndexRow> {
  const rows = new Map<string, IndexRow>()
  for (const [index, version] of versions.entries()) {
    const isNewestLive = index === versions.length - 1 && version.action !== 'delete'
    const key = isNewestLive ? documentKey(ref) : historyKey(ref, version.ts)
    rows.set(byteText(key), { key, value: encodeVersion(version, version.ts) })
  }
  for (const row of indexRows(context, ref, versions)) rows.set(byteText(row.key), row)
  return rows
}

/** Yields all index rows of a document. `versions`: all versions, oldest first. */
function* indexRows(
  context: IndexContext,
  ref: Ref,
  versions: readonly StoredVersion[],
): Generator<IndexRow> {
  for (const index of indexesOf(context, ref.database, ref.collection))
    yield* timelineRows(index, versions).values()
}

// Removes old rows of the change log and the change record (change-log.ts). Rows of the log expire after a day. The
// recorded changes of a collection expire when its retained history no longer contains them. When a row of the log is
// removed, a check of each collection in the row becomes pending work, due when the recorded changes expire. A
// collection has at most one row of pending work per day. If `history_days` is reduced, changes expire earlier, so each
// collection with recorded changes is checked at least once a month.

import { epoch, micros, microsPerDay } from '../../base/micros.ts'
import { collectionOf, firstUserCollection, type Micros } from '../../values/value.ts'
import { timeOf } from '../keys/key-times.ts'
import { changesKey, changesRange, collectionChangesRange } from '../keys/keyspace.ts'
import type { Bytes, KeyRange, View } from '../kv/kv-contract.ts'
import { Batch, takeKeys } from './batch.ts'
import { changedCollections } from './change-log.ts'
import { changeLogMicros } from './retention.ts'
import { firstOf } from './snapshot.ts'
import type { CollectionIds } from './store-contract.ts'
import { recordWork, type SweeperWork, workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** The maximum time between two checks of a collection with recorded changes, in microseconds. */
const checkEveryMicros: number = 30 * microsPerDay

/**
 * `from`: the key of a row before which no rows are left, so that a read does not have to skip the removed rows that
 * LMDB still contains.
 */
function oldLog(now: Micros, from = changesRange().start): KeyRange {
  return { start: from, end: changesKey(micros(now - changeLogMicros), 0) }
}

/** Returns whether rows of the change log have expired, or whether a check of a collection's changes is due. */
export function hasOldChanges(view: View, now: Micros, from?: Bytes): boolean {
  return [...view.range({ ...oldLog(now, from), limit: 1 }), ...workOf(view, 'changes', now, 1)].length > 0
}

interface RemovedChanges {
  /** True if there may be more expired changes. */
  readonly hasMore: boolean
  /** The key of the last row of the change log that was removed. */
  readonly last: Bytes | undefined
}

/** Removes a batch, which also ends when `isOver` returns true. `from`: as for {@link oldLog}. */
export function removeOldChanges(
  transaction: StoreTransaction,
  now: Micros,
  isOver: () => boolean,
  from?: Bytes,
): RemovedChanges {
  const { overlay } = transaction.rows
  const batch = new Batch(isOver)
  const rows: { readonly key: Uint8Array; readonly collections: readonly CollectionIds[] }[] = []
  for (const row of overlay.range(oldLog(now, from))) {
    if (batch.isFull()) break
    const collections = changedCollections(row)
    batch.write(1 + collections.length, row.key.length + row.value.length)
    rows.push({ key: row.key, collections })
  }
  for (const { key, collections } of rows) {
    for (const collection of collections) scheduleRemoval(transaction, collection, timeOf(key))
    overlay.set(key, undefined)
  }
  const [work] = workOf(overlay, 'changes', now, 1)
  if (work !== undefined) removeCollectionChanges(transaction, work, now, new Batch(isOver))
  return { hasMore: work !== undefined || batch.isFull(), last: rows.at(-1)?.key ?? from }
}

/** The last batch schedules the next check of the collection. */
function removeCollectionChanges(
  transaction: StoreTransaction,
  { key, target }: SweeperWork,
  now: Micros,
  batch: Batch,
): void {
  const { overlay } = transaction.rows
  const { database } = target
  const collection = Number(target.id)
  const logStart = now - changeLogMicros
  const floor =
    collection < firstUserCollection
      ? logStart
      : Math.min(
          logStart,
          transaction.minimumValidTime(database, collection, Math.min(now, transaction.snapshotTime)),
        )
  const old = collectionChangesRange(database, collection, undefined, micros(floor))
  for (const key of takeKeys(batch, overlay.range(old))) overlay.set(key, undefined)
  if (batch.isFull()) return
  overlay.set(key, undefined)
  const oldest = firstOf(overlay, collectionChangesRange(database, collection, micros(floor)))
  const ts = oldest && timeOf(oldest.key)
  // If the change log still contains the oldest change, the next check is scheduled when the row of the log is removed.
  if (ts !== undefined && ts < logStart) scheduleRemoval(transaction, { database, collection }, ts, now)
}

/**
 * Schedules a check of a collection with a recorded change at `ts`: at the end of the day on which the change expires,
 * or on which {@link checkEveryMicros} have passed since `ts`, whichever is earlier, but not before the end of the day
 * of `after`.
 */
function scheduleRemoval(
  transaction: StoreTransaction,
  { collection, database }: CollectionIds,
  ts: Micros,
  after: Micros = epoch,
): void {
  const { catalogue } = transaction
  // If the collection or its database is deleted, all data of the collection is removed, including its changes.
  if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection)) return
  const days =
    collection < firstUserCollection ? 0 : catalogue.userCollection(database, collection)?.historyDays
  const retainedMicros =
    days === undefined ? checkEveryMicros : Math.min(days * microsPerDay, checkEveryMicros)
  const due = (Math.floor(Math.max(ts + retainedMicros, after) / microsPerDay) + 1) * microsPerDay
  recordWork(transaction.rows.overlay, 'changes', micros(due), collectionOf({ database, collection }))
}

// Removes expired parts of the change record and the change log: the log by time after a day, and each collection's
// changes when its history no longer contains them. A removed log row names the collections that its transaction
// changed. For each of these collections, pending work is recorded for the time when these changes expire, at most one
// row per day. A collection's history may be shortened before that time, so each collection is also checked every
// month.

import { epoch, micros, microsPerDay } from '../../base/micros.ts'
import { collectionOf, firstUserCollection, type Micros } from '../../values/value.ts'
import { timeOf } from '../keys/key-times.ts'
import { changesKey, changesRange, collectionChangesRange } from '../keys/keyspace.ts'
import type { KeyRange, View } from '../kv/contract.ts'
import { batchWritesMax } from './batch.ts'
import { placesOf } from './change-log.ts'
import type { CollectionPlace } from './contract.ts'
import { changeLogMicros } from './retention.ts'
import { firstOf } from './snapshot.ts'
import { recordWork, type SweeperWork, workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** The longest time between two checks of a collection whose record has rows. */
const lookMicros: number = 30 * microsPerDay

/** The expired part of the log by time. */
function oldLog(now: Micros): KeyRange {
  return {
    start: changesRange().start,
    end: changesKey(micros(now - changeLogMicros), 0),
    limit: batchWritesMax,
  }
}

/** Returns whether any part of the record has expired. */
export function hasOldChanges(view: View, now: Micros): boolean {
  return [...view.range({ ...oldLog(now), limit: 1 }), ...workOf(view, 'changes', now, 1)].length > 0
}

/** Removes a batch of expired changes. Returns whether there may be more. */
export function removeOldChanges(transaction: StoreTransaction, now: Micros): boolean {
  const { overlay } = transaction.rows
  const rows = [...overlay.range(oldLog(now))]
  for (const row of rows) {
    const ts = timeOf(row.key)
    for (const place of placesOf(row)) scheduleRemoval(transaction, place, ts)
    overlay.set(row.key, undefined)
  }
  const [work] = workOf(overlay, 'changes', now, 1)
  if (work !== undefined) removeCollectionChanges(transaction, work, now)
  return work !== undefined || rows.length === batchWritesMax
}

/** Removes a batch of one collection's changes; the last batch schedules the next check of the collection. */
function removeCollectionChanges(
  transaction: StoreTransaction,
  { key, target }: SweeperWork,
  now: Micros,
): void {
  const { overlay } = transaction.rows
  const { database } = target
  const collection = Number(target.id)
  const ofLog = now - changeLogMicros
  const floor =
    collection < firstUserCollection
      ? ofLog
      : Math.min(
          ofLog,
          transaction.minimumValidTime(database, collection, Math.min(now, transaction.snapshotTime)),
        )
  const old = collectionChangesRange(database, collection, undefined, micros(floor))
  const keys = Array.from(overlay.range({ ...old, limit: batchWritesMax }), row => row.key)
  for (const key of keys) overlay.set(key, undefined)
  if (keys.length === batchWritesMax) return
  overlay.set(key, undefined)
  const oldest = firstOf(overlay, collectionChangesRange(database, collection, micros(floor)))
  const ts = oldest && timeOf(oldest.key)
  // For changes that the log by time still contains, pending work is recorded when the log row is removed.
  if (ts !== undefined && ts < ofLog) scheduleRemoval(transaction, { database, collection }, ts, now)
}

/**
 * Schedules a check of a collection that has a change of `ts`: `after` a time, at the end of the day on which the
 * change expires.
 */
function scheduleRemoval(
  transaction: StoreTransaction,
  { collection, database }: CollectionPlace,
  ts: Micros,
  after: Micros = epoch,
): void {
  const { catalogue } = transaction
  // The changes of a deleted object are removed with it.
  if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection)) return
  const days =
    collection < firstUserCollection ? 0 : catalogue.userCollection(database, collection)?.historyDays
  const retainedMicros = days === undefined ? lookMicros : Math.min(days * microsPerDay, lookMicros)
  const due = (Math.floor(Math.max(ts + retainedMicros, after) / microsPerDay) + 1) * microsPerDay
  recordWork(transaction.rows.overlay, 'changes', micros(due), collectionOf({ database, collection }))
}

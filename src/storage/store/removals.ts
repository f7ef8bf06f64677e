// Removes data that cannot be read any more: expired history of documents, expired rows of the change record and the
// change log (change-log.ts), and the data of deleted schema objects. The data of an index is its tables. The data of a
// collection is its documents, with their rows in indexes. The data of a database is its documents, its schema objects
// and its child databases.

import { epoch, micros, microsPerDay } from '../../base/micros.ts'
import {
  collectionOf,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  native,
  type Ref,
} from '../../values/value.ts'
import { timeOf } from '../keys/key-times.ts'
import {
  changesKey,
  changesRange,
  collectionChangesRange,
  collectionHistoryRange,
  databaseRanges,
  documentKey,
  documentRange,
  documentsIndex,
  dueRange,
  historyKey,
  historyRange,
  indexTableRange,
  keyTags,
} from '../keys/keyspace.ts'
import type { KeyInterval } from '../keys/prefix.ts'
import type { KeyRange, View } from '../kv/kv-contract.ts'
import { Batch, batchWritesMax } from './batch.ts'
import { parentKey } from './catalogue.ts'
import { placesOf } from './change-log.ts'
import { removeHome } from './directory.ts'
import { everyDocument, newestLive, scanDocuments, storedVersionsAscending } from './documents.ts'
import { expiryTime } from './due-order.ts'
import type { StoredVersion } from './index-tables.ts'
import { never, versionTime, versionTtl } from './records.ts'
import { changeLogMicros } from './retention.ts'
import { indexRows, storedRows } from './rows.ts'
import { firstOf } from './snapshot.ts'
import type { Store } from './store.ts'
import type { CollectionPlace } from './store-contract.ts'
import { recordWork, type SweeperWork, workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

// The first functions find the expired rows of one document. A version has expired if it was already superseded at the
// minimum valid time (the start of the retained history). A delete that was valid at the minimum valid time has
// expired, too. The index rows of a version expire together with the version. A document with a `ttl` expires at its
// `ttl`, or at its last write if this write is later. If the document's expiry is not after the minimum valid time, the
// complete document has expired. The cost depends only on the expired data, and on the version that was valid at the
// minimum valid time.

/** Maximum number of versions of one document that are removed in one step. */
const versionsMax = 256

/** The rows of a document that have expired. */
interface ExpiredRows {
  /** The keys of the rows to remove. */
  readonly keys: readonly Uint8Array[]
  /** The number of bytes of the versions that were read. */
  readonly bytes: number
  /** True if `keys` contains all expired rows. */
  readonly isAll: boolean
  /**
   * The expiry time of the document. Present if the `ttl` is not after `minimum`, but the document expires later,
   * because it was written after its `ttl`. The caller must add a due mark (due-order.ts) for this time, because
   * version 0.2 of Terrarium added a mark for the `ttl` only.
   */
  readonly expiresAt?: Micros
}

/** Returns the expired rows of a document. `minimum`: the oldest time that can be read. */
export function expiredRows(
  store: Store,
  transaction: StoreTransaction,
  ref: Ref,
  minimum: Micros,
): ExpiredRows {
  const { rows, snapshot } = transaction
  const newest = newestLive(snapshot, ref)
  const ttl = newest === undefined ? never : versionTtl(newest)
  const expiresAt = newest === undefined ? never : expiryTime(ttl, versionTime(newest))
  if (ttl !== never && expiresAt <= minimum) return wholeDocument(store, transaction, ref)
  const past: StoredVersion[] = []
  let bytes = newest?.length ?? 0
  const range = { start: historyRange(ref, minimum).start, end: historyRange(ref).end }
  for (const { value } of snapshot.view.range({ ...range, reverse: true, limit: versionsMax + 1 })) {
    bytes += value.length
    past.push(rows.reader.read(ref, value))
  }
  const isAll = past.length <= versionsMax
  const chain = [...past]
  if (isAll && newest !== undefined && versionTime(newest) <= minimum)
    chain.push(rows.reader.read(ref, newest))
  const root = chain.at(-1)
  const keys: Uint8Array[] = []
  for (const version of past) {
    if (version !== root || (isAll && version.action === 'delete')) keys.push(historyKey(ref, version.ts))
  }
  for (const { key } of store.counted(ref.database, () => [...indexRows(rows, ref, chain)]))
    if (key[0] !== keyTags.indexLive) keys.push(key)
  return { keys, bytes, isAll, ...(ttl <= minimum && { expiresAt }) }
}

/** Returns all stored rows of a document, to remove the complete document. */
function wholeDocument(store: Store, { rows, snapshot }: StoreTransaction, ref: Ref): ExpiredRows {
  let bytes = 0
  const versions = Array.from(storedVersionsAscending(snapshot, ref), stored => {
    bytes += stored.length
    return rows.reader.read(ref, stored)
  })
  const stored = store.counted(ref.database, () => storedRows(rows, ref, versions))
  if (ref.collection === native.keys) removeHome(rows.overlay, ref)
  return { keys: Array.from(stored.values(), ({ key }) => key), bytes, isAll: true }
}

/** Maximum number of deleted objects that {@link nextGarbage} checks. */
const jobsMax = 256

/**
 * Returns the deleted object whose data has waited longest for removal. Skips collections if the bindings (computed
 * fields) of their database may not be computed now.
 */
export function nextGarbage(
  view: View,
  now: Micros,
  mayCompute: (database: DatabaseId) => boolean,
): SweeperWork | undefined {
  return workOf(view, 'object', now, jobsMax).find(
    ({ target }) => target.collection !== native.collections || mayCompute(target.database),
  )
}

/**
 * Removes one batch of the data of a deleted object. The batch also ends when `isOver` returns true. The last batch
 * removes the row of the pending work, too.
 */
export function removeGarbage(
  store: Store,
  transaction: StoreTransaction,
  { key, target }: SweeperWork,
  isOver: () => boolean,
): void {
  const { overlay } = transaction.rows
  if (overlay.get(key) === undefined) return
  const removal = new Removal(transaction, isOver)
  if (target.collection === native.indexes) removal.removeTables(target.database, Number(target.id))
  else if (target.collection === native.collections) removeCollection(store, removal, target)
  else removeDatabase(removal, target.id)
  if (!removal.isFull) overlay.set(key, undefined)
}

/** A batch of removals. */
class Removal {
  readonly transaction: StoreTransaction
  readonly #batch: Batch

  constructor(transaction: StoreTransaction, isOver: () => boolean) {
    this.transaction = transaction
    this.#batch = new Batch(isOver)
  }

  get isFull(): boolean {
    return this.#batch.isFull()
  }

  remove(key: Uint8Array): void {
    this.transaction.rows.overlay.set(key, undefined)
    this.#batch.write(1)
  }

  removeRange(range: KeyInterval): void {
    if (this.isFull) return
    const { overlay } = this.transaction.rows
    // Only the keys are collected, because the values of a batch could need much memory.
    const keys = Array.from(overlay.range({ ...range, limit: this.#batch.writesLeft }), row => row.key)
    for (const key of keys) this.remove(key)
  }

  removeTables(database: DatabaseId, index: number): void {
    for (const table of ['live', 'ended', 'events'] as const)
      this.removeRange(indexTableRange(table, database, index))
  }
}

function removeCollection(store: Store, removal: Removal, { database, id }: Ref): void {
  const collection = Number(id)
  for (const ref of everyDocument(removal.transaction.snapshot, database, collection)) {
    if (removal.isFull) return
    for (const key of wholeDocument(store, removal.transaction, ref).keys) removal.remove(key)
  }
  removal.removeRange(documentRange(database, collection))
  removal.removeRange(collectionHistoryRange(database, collection))
  removal.removeRange(collectionChangesRange(database, collection))
  removal.removeRange(dueRange(database, collection))
  removal.removeTables(database, documentsIndex(collection))
}

/** Removes a batch of the data of a database. Records the removal of each child database as pending work. */
function removeDatabase(removal: Removal, database: DatabaseId): void {
  const { snapshot, overlay, commitTime } = removal.transaction.rows
  for (const { document } of scanDocuments(snapshot, database, native.databases)) {
    if (removal.isFull) return
    recordWork(overlay, 'object', commitTime, document)
    removal.remove(documentKey(document))
  }
  for (const { document } of scanDocuments(snapshot, database, native.keys)) {
    if (removal.isFull) return
    removeHome(overlay, document)
    removal.remove(documentKey(document))
  }
  for (const range of databaseRanges(database)) removal.removeRange(range)
  if (!removal.isFull) overlay.set(parentKey(database), undefined)
}

// The functions below remove expired parts of the change log and the change record. Rows of the log expire after a day.
// The recorded changes of a collection expire when the retained history of the collection no longer contains them. When
// a row of the log is removed, pending work is recorded for each collection in the row. The work is due when the
// recorded changes expire. A collection has at most one row of pending work per day. If `history_days` is reduced,
// changes expire earlier, so each collection with recorded changes is checked at least once a month.

/** The maximum time between two checks of a collection with recorded changes, in microseconds. */
const lookMicros: number = 30 * microsPerDay

/** Returns the range of the expired rows of the change log, limited to one batch. */
function oldLog(now: Micros): KeyRange {
  return {
    start: changesRange().start,
    end: changesKey(micros(now - changeLogMicros), 0),
    limit: batchWritesMax,
  }
}

/** Returns whether rows of the change log have expired, or whether a check of a collection's changes is due. */
export function hasOldChanges(view: View, now: Micros): boolean {
  return [...view.range({ ...oldLog(now), limit: 1 }), ...workOf(view, 'changes', now, 1)].length > 0
}

/** Removes a batch of expired changes. Returns whether there may be more expired changes. */
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

/** Removes a batch of a collection's expired changes. The last batch schedules the next check of the collection. */
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
  // If the change log still contains the oldest change, the next check is scheduled when the row of the log is removed.
  if (ts !== undefined && ts < ofLog) scheduleRemoval(transaction, { database, collection }, ts, now)
}

/**
 * Schedules a check of a collection with a recorded change at `ts`. The check is due at the end of the day on which the
 * change expires, or on which {@link lookMicros} have passed since `ts`, whichever is earlier. If `after` is on a later
 * day, the check is due at the end of that day.
 */
function scheduleRemoval(
  transaction: StoreTransaction,
  { collection, database }: CollectionPlace,
  ts: Micros,
  after: Micros = epoch,
): void {
  const { catalogue } = transaction
  // If the collection or its database is deleted, all data of the collection is removed, including its changes.
  if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection)) return
  const days =
    collection < firstUserCollection ? 0 : catalogue.userCollection(database, collection)?.historyDays
  const retainedMicros = days === undefined ? lookMicros : Math.min(days * microsPerDay, lookMicros)
  const due = (Math.floor(Math.max(ts + retainedMicros, after) / microsPerDay) + 1) * microsPerDay
  recordWork(transaction.rows.overlay, 'changes', micros(due), collectionOf({ database, collection }))
}

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
} from '../keys/keyspace.ts'
import type { KeyInterval } from '../keys/prefix.ts'
import type { Bytes, Entry, KeyRange, View } from '../kv/kv-contract.ts'
import { Batch } from './batch.ts'
import { parentKey } from './catalogue.ts'
import { placesOf } from './change-log.ts'
import { removeHome } from './directory.ts'
import { everyDocument, newestLive, scanDocuments, storedVersionsAscending } from './documents.ts'
import { expiryTime } from './due-order.ts'
import { Timeline } from './entry-timeline.ts'
import type { StoredVersion } from './index-tables.ts'
import { never, versionTime, versionTtl } from './records.ts'
import { changeLogMicros } from './retention.ts'
import { indexesOf } from './rows.ts'
import { firstOf, type Snapshot } from './snapshot.ts'
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

/** The rows of a document that have expired. */
interface ExpiredRows {
  /** The keys of the rows to remove. */
  readonly keys: readonly Uint8Array[]
  /** True if `keys` contains all expired rows. False: the batch is full. */
  readonly isAll: boolean
  /**
   * The expiry time of the document. Present if the `ttl` is not after `minimum`, but the document expires later,
   * because it was written after its `ttl`. The caller must add a due mark (due-order.ts) for this time, because
   * version 0.2 of Terrarium added a mark for the `ttl` only.
   */
  readonly expiresAt?: Micros
}

/**
 * Returns the expired rows of a document, as many as `batch` allows, and counts them in `batch`. `minimum`: the oldest
 * time that can be read.
 */
export function expiredRows(
  store: Store,
  transaction: StoreTransaction,
  ref: Ref,
  minimum: Micros,
  batch: Batch,
): ExpiredRows {
  const { snapshot } = transaction
  const newest = newestLive(snapshot, ref)
  const ttl = newest === undefined ? never : versionTtl(newest)
  const expiresAt = newest === undefined ? never : expiryTime(ttl, versionTime(newest))
  if (ttl !== never && expiresAt <= minimum) return wholeDocument(store, transaction, ref, batch)
  const versions = versionsUpTo(snapshot, ref, minimum, newest)
  const { isAll, keys, root } = removableRows(store, transaction, ref, versions, batch)
  if (isAll && root?.action === 'delete') keys.push(historyKey(ref, root.ts))
  return { keys, isAll, ...(ttl <= minimum && { expiresAt }) }
}

/** Returns all stored rows of a document, as many as `batch` allows, to remove the complete document. */
function wholeDocument(store: Store, transaction: StoreTransaction, ref: Ref, batch: Batch): ExpiredRows {
  const { rows, snapshot } = transaction
  const versions = storedVersionsAscending(snapshot, ref)
  const { isAll, keys, root, timelines } = removableRows(store, transaction, ref, versions, batch)
  if (!isAll) return { keys, isAll }
  const last = timelines.flatMap(timeline => timeline.liveRows()).map(({ key }) => key)
  if (root !== undefined) last.push(root.action === 'delete' ? historyKey(ref, root.ts) : documentKey(ref))
  batch.write(last.length, bytesOf(last))
  if (ref.collection === native.keys) removeHome(rows.overlay, ref)
  return { keys: [...keys, ...last], isAll }
}

/** Yields the versions of a document that were written up to the time `upTo`, oldest first. `newest`: if it is live. */
function* versionsUpTo(
  { view }: Snapshot,
  ref: Ref,
  upTo: Micros,
  newest: Bytes | undefined,
): Generator<Bytes> {
  const range = { start: historyRange(ref, upTo).start, end: historyRange(ref).end }
  for (const { value } of view.range({ ...range, reverse: true })) yield value
  if (newest !== undefined && versionTime(newest) <= upTo) yield newest
}

interface RemovableRows {
  readonly keys: Uint8Array[]
  readonly isAll: boolean
  /** The last version that was read. Its row and its live entries are not in `keys`. */
  readonly root: StoredVersion | undefined
  readonly timelines: readonly Timeline[]
}

/**
 * Returns the keys of all versions but the last, and of the index rows that end with one of `versions`. Stops between
 * two versions when `batch` is full: the remaining versions then form a complete document with a shorter history.
 */
function removableRows(
  store: Store,
  { rows }: StoreTransaction,
  ref: Ref,
  versions: Iterable<Bytes>,
  batch: Batch,
): RemovableRows {
  const timelines = indexesOf(rows, ref.database, ref.collection).map(index => new Timeline(index))
  const keys: Uint8Array[] = []
  let root: StoredVersion | undefined
  let steps = 0
  for (const stored of versions) {
    // Without a second version, the next batch would begin with the same version again.
    if (steps++ > 1 && batch.isFull()) return { keys, isAll: false, root, timelines }
    const version = rows.reader.read(ref, stored)
    const added = store.counted(ref.database, () =>
      timelines.flatMap(timeline => timeline.add(version)).map(({ key }) => key),
    )
    if (root !== undefined) added.push(historyKey(ref, root.ts))
    for (const key of added) keys.push(key)
    batch.read(1, stored.length)
    batch.write(added.length, bytesOf(added))
    root = version
  }
  return { keys, isAll: true, root, timelines }
}

function bytesOf(keys: readonly Uint8Array[]): number {
  return keys.reduce((sum, { length }) => sum + length, 0)
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
  readonly batch: Batch

  constructor(transaction: StoreTransaction, isOver: () => boolean) {
    this.transaction = transaction
    this.batch = new Batch(isOver)
  }

  get isFull(): boolean {
    return this.batch.isFull()
  }

  remove(key: Uint8Array): void {
    this.transaction.rows.overlay.set(key, undefined)
    this.batch.write(1)
  }

  removeRange(range: KeyInterval): void {
    const { overlay } = this.transaction.rows
    for (const key of keysFor(this.batch, overlay.range(range))) overlay.set(key, undefined)
  }

  removeTables(database: DatabaseId, index: number): void {
    for (const table of ['live', 'ended', 'events'] as const)
      this.removeRange(indexTableRange(table, database, index))
  }
}

/** Returns the keys of the first of `rows`, as many as `batch` allows, and counts these rows in `batch` as removed. */
function keysFor(batch: Batch, rows: Iterable<Entry>): Uint8Array[] {
  // Only the keys are collected, because the values of a batch could need much memory.
  const keys: Uint8Array[] = []
  for (const { key, value } of rows) {
    if (batch.isFull()) break
    batch.write(1, key.length + value.length)
    keys.push(key)
  }
  return keys
}

function removeCollection(store: Store, removal: Removal, { database, id }: Ref): void {
  const collection = Number(id)
  for (const ref of everyDocument(removal.transaction.snapshot, database, collection)) {
    if (removal.isFull) return
    const { isAll, keys } = wholeDocument(store, removal.transaction, ref, removal.batch)
    for (const key of keys) removal.transaction.rows.overlay.set(key, undefined)
    if (!isAll) return
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

/** Returns the range of the expired rows of the change log. */
function oldLog(now: Micros): KeyRange {
  return { start: changesRange().start, end: changesKey(micros(now - changeLogMicros), 0) }
}

/** Returns whether rows of the change log have expired, or whether a check of a collection's changes is due. */
export function hasOldChanges(view: View, now: Micros): boolean {
  return [...view.range({ ...oldLog(now), limit: 1 }), ...workOf(view, 'changes', now, 1)].length > 0
}

/**
 * Removes a batch of expired changes. The batch also ends when `isOver` returns true. Returns whether there may be more
 * expired changes.
 */
export function removeOldChanges(transaction: StoreTransaction, now: Micros, isOver: () => boolean): boolean {
  const { overlay } = transaction.rows
  const batch = new Batch(isOver)
  const rows: { readonly key: Uint8Array; readonly places: readonly CollectionPlace[] }[] = []
  for (const row of overlay.range(oldLog(now))) {
    if (batch.isFull()) break
    const places = placesOf(row)
    batch.write(1 + places.length, row.key.length + row.value.length)
    rows.push({ key: row.key, places })
  }
  for (const { key, places } of rows) {
    for (const place of places) scheduleRemoval(transaction, place, timeOf(key))
    overlay.set(key, undefined)
  }
  const [work] = workOf(overlay, 'changes', now, 1)
  if (work !== undefined) removeCollectionChanges(transaction, work, now, new Batch(isOver))
  return work !== undefined || batch.isFull()
}

/** Removes a batch of a collection's expired changes. The last batch schedules the next check of the collection. */
function removeCollectionChanges(
  transaction: StoreTransaction,
  { key, target }: SweeperWork,
  now: Micros,
  batch: Batch,
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
  for (const key of keysFor(batch, overlay.range(old))) overlay.set(key, undefined)
  if (batch.isFull()) return
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

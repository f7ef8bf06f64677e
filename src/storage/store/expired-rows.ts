// Finds the expired rows of one document. A version has expired if it was already superseded at the minimum valid time
// (the start of the retained history). A delete that was valid at the minimum valid time has expired, too. The index
// rows of a version expire together with the version. A document with a `ttl` expires at its `ttl`, or at its last
// write if this write is later. If the document's expiry is not after the minimum valid time, the complete document has
// expired. The cost depends only on the expired data, and on the version that was valid at the minimum valid time.
//
// A version may have more index rows than one batch removes. The batches then remove the rows of the version before its
// own row. Meanwhile, the version is stored without some of its entries, which no read can return any more.

import { type Micros, native, type Ref } from '../../values/value.ts'
import { documentKey, historyKey, historyRange } from '../keys/keyspace.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import type { Overlay } from '../kv/overlay.ts'
import { type Batch, batchBytesMax } from './batch.ts'
import { removeHome } from './directory.ts'
import { newestLive, storedVersionsAscending } from './documents.ts'
import { EntryTimeline } from './entry-timeline.ts'
import { expiryTime } from './expiry-marks.ts'
import type { StoredVersion } from './index-tables.ts'
import { never, versionTime, versionTtl } from './records.ts'
import { indexesOf } from './rows.ts'
import type { Snapshot } from './snapshot.ts'
import type { Store } from './store.ts'
import type { StoreTransaction } from './transaction.ts'

interface ExpiredRows {
  readonly keys: readonly Uint8Array[]
  /** False: the batch is full. */
  readonly isAll: boolean
  /**
   * Present if the `ttl` is not after `minimum`, but the document expires later, because it was written after its
   * `ttl`. The caller must add an expiry mark (expiry-marks.ts) for this time, because version 0.2 of Terrarium added a
   * mark for the `ttl` only.
   */
  readonly expiresAt?: Micros
}

/** Returns as many rows as `batch` allows, counted in `batch`. `minimum`: the oldest time that can be read. */
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
  if (ttl !== never && expiresAt <= minimum) return rowsOfDocument(store, transaction, ref, batch)
  const versions = versionsUpTo(snapshot, ref, minimum, newest)
  const { isAll, keys, last } = removableRows(store, transaction, ref, versions, batch)
  if (isAll && last?.action === 'delete') keys.push(historyKey(ref, last.ts))
  return { keys, isAll, ...(ttl <= minimum && { expiresAt }) }
}

/** Returns all stored rows of a document, as many as `batch` allows, to remove the complete document. */
export function rowsOfDocument(
  store: Store,
  transaction: StoreTransaction,
  ref: Ref,
  batch: Batch,
): ExpiredRows {
  const { rows, snapshot } = transaction
  const versions = storedVersionsAscending(snapshot, ref)
  const { isAll, keys, last, timelines } = removableRows(store, transaction, ref, versions, batch)
  if (!isAll) return { keys, isAll }
  const live = timelines.flatMap(timeline => timeline.liveRows()).map(({ key }) => key)
  const rest = portionOf(rows.overlay, live, batch)
  if (rest.isAll) {
    if (last !== undefined)
      rest.keys.push(last.action === 'delete' ? historyKey(ref, last.ts) : documentKey(ref))
    if (ref.collection === native.keys) removeHome(rows.overlay, ref)
  }
  batch.write(rest.keys.length, bytesOf(rest.keys))
  return { keys: [...keys, ...rest.keys], isAll: rest.isAll }
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
  readonly last: StoredVersion | undefined
  readonly timelines: readonly EntryTimeline[]
}

/**
 * The keys of all versions but the last, and of the index rows that end with one of `versions`. Stops between two
 * versions when `batch` is full: the remaining versions then form a complete document with a shorter history. Stops
 * within the index rows of a version only if they are too large for a batch.
 */
function removableRows(
  store: Store,
  { rows }: StoreTransaction,
  ref: Ref,
  versions: Iterable<Bytes>,
  batch: Batch,
): RemovableRows {
  // The events of the collection's documents, which serve as expiry marks, are the first index, and are removed last.
  const timelines = indexesOf(rows, ref.database, ref.collection)
    .map(index => new EntryTimeline(index))
    .reverse()
  const keys: Uint8Array[] = []
  let last: StoredVersion | undefined
  let steps = 0
  for (const stored of versions) {
    // Without a second version, the next batch would begin with the same version again.
    if (steps++ > 1 && batch.isFull()) return { keys, isAll: false, last, timelines }
    const version = rows.reader.read(ref, stored)
    const ended = store.pauseAfter(ref.database, () =>
      timelines.flatMap(timeline => timeline.add(version)).map(({ key }) => key),
    )
    const added = portionOf(rows.overlay, ended, batch)
    if (added.isAll && last !== undefined) added.keys.push(historyKey(ref, last.ts))
    for (const key of added.keys) keys.push(key)
    batch.read(1, stored.length)
    batch.write(added.keys.length, bytesOf(added.keys))
    if (!added.isAll) return { keys, isAll: false, last, timelines }
    last = version
  }
  return { keys, isAll: true, last, timelines }
}

interface Portion {
  readonly keys: Uint8Array[]
  readonly isAll: boolean
}

/**
 * All of `keys` or, if they have too many bytes for one batch, the first of the keys that are still stored; then ends
 * `batch`.
 */
function portionOf(overlay: Overlay, keys: Uint8Array[], batch: Batch): Portion {
  if (bytesOf(keys) <= batchBytesMax) return { keys, isAll: true }
  const portion: Uint8Array[] = []
  let left = batchBytesMax
  for (const key of keys) {
    if (overlay.get(key) === undefined) continue
    left -= key.length
    if (left < 0) {
      batch.end()
      return { keys: portion, isAll: false }
    }
    portion.push(key)
  }
  return { keys: portion, isAll: true }
}

function bytesOf(keys: readonly Uint8Array[]): number {
  return keys.reduce((sum, { length }) => sum + length, 0)
}

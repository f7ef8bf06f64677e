// Adds missing due marks to an older data directory. Due marks (due-order.ts) show the sweeper (sweeper.ts) when data
// expires. Older versions of Terrarium wrote data without due marks. This work runs once for each directory. The first
// part reads the tables of documents and versions, and adds due marks for their rows. The second part reads the tables
// of ended index entries and of index events. Expired rows of these two tables are removed, because their due marks may
// be missing. The events of all indexes except `documents(collection)` are removed, too, because newer versions of
// Terrarium do not store them (decision 44). The progress is stored, so the work continues after a restart.

import { assert } from '../../base/assert.ts'
import { keyAfter } from '../../base/bytes.ts'
import type { DatabaseId, Micros } from '../../values/value.ts'
import { decodeKey, documentOf, type EntryKey } from '../keys/key-reader.ts'
import { documentsIndex, type keyTags, tagRange } from '../keys/keyspace.ts'
import type { Entry, View } from '../kv/kv-contract.ts'
import { Batch } from './batch.ts'
import {
  expiryTime,
  isOrderComplete,
  markDue,
  orderHasEvents,
  orderIsComplete,
  orderProgressKey,
} from './due-order.ts'
import { entryCollection, entrySince, entryUntil } from './entry-records.ts'
import { versionAction, versionTime, versionTtl } from './records.ts'
import type { Store } from './store.ts'
import type { StoreTransaction } from './transaction.ts'

/** The tables in the order in which they are read, each with the function that handles one row. */
const walks: readonly { readonly table: keyof typeof keyTags; readonly file: Filing }[] = [
  { table: 'document', file: markDocument },
  { table: 'history', file: markVersion },
  { table: 'indexEnded', file: (transaction, row, now) => dropPast(transaction, row, entryUntil(row), now) },
  { table: 'indexEvent', file: dropEvent },
]

type Filing = (transaction: StoreTransaction, row: Entry, now: Micros) => void

/** Returns the progress. `walk`: the index of the current table. `from`: the key at which the next batch begins. */
function progressOf(view: View): { readonly walk: number; readonly from: Uint8Array | undefined } {
  const stored = view.get(orderProgressKey)
  if (stored === undefined) return { walk: 0, from: undefined }
  if (stored[0] === orderHasEvents) return { walk: walks.length - 1, from: undefined }
  return { walk: stored[0] as number, from: stored.length > 1 ? stored.slice(1) : undefined }
}

function encodeProgress(walk: number, from: Uint8Array | undefined): Uint8Array {
  return Uint8Array.of(walk, ...(from ?? []))
}

/**
 * Runs the next batch. `now`: the time that determines which rows have expired. Returns whether there was work to do.
 */
export async function fileBatch(store: Store, now: Micros, isOver: () => boolean): Promise<boolean> {
  if (store.kv.read(isOrderComplete)) return false
  await store.write(transaction => {
    const { overlay } = transaction.rows
    const { from, walk } = progressOf(overlay)
    const step = walks[walk]
    if (step === undefined) return
    const { end, start } = tagRange(step.table)
    const batch = new Batch(isOver)
    for (const row of transaction.snapshot.view.range({ start: from ?? start, end })) {
      step.file(transaction, row, now)
      batch.read(1, row.value.length)
      if (!batch.isFull()) continue
      overlay.set(orderProgressKey, encodeProgress(walk, keyAfter(row.key)))
      return
    }
    const { key: progress, value } = orderIsComplete
    overlay.set(progress, walk + 1 < walks.length ? encodeProgress(walk + 1, undefined) : value)
  })
  return true
}

function markDocument(transaction: StoreTransaction, { key, value }: Entry): void {
  const { overlay } = transaction.rows
  const [ref, ts] = [documentOf(key), versionTime(value)]
  if (versionAction(value) !== 'create') markDue(overlay, ref, ts)
  markDue(overlay, ref, expiryTime(versionTtl(value), ts))
}

function markVersion(transaction: StoreTransaction, { key, value }: Entry): void {
  markDue(transaction.rows.overlay, documentOf(key), versionTime(value))
}

/**
 * Removes an event of an index. Queries still need the events of the built-in indexes for `documents(collection)`, so
 * only expired events of these indexes are removed.
 */
function dropEvent(transaction: StoreTransaction, row: Entry, now: Micros): void {
  if (indexOf(row.key) < documentsIndex(0)) transaction.rows.overlay.set(row.key, undefined)
  else dropPast(transaction, row, entrySince(row), now)
}

/** Removes a row of an index if the row has expired, or if the collection of its document is deleted. */
function dropPast(transaction: StoreTransaction, { key }: Entry, until: Micros, now: Micros): void {
  const [database, collection] = [databaseOf(key), entryCollection({ key })]
  const { catalogue } = transaction
  if (!catalogue.isLive(database)) return
  const isGone = !catalogue.hasCollection(database, collection)
  const minimum = transaction.minimumValidTime(database, collection, Math.min(now, transaction.snapshotTime))
  if (isGone || until <= minimum) transaction.rows.overlay.set(key, undefined)
}

/** Returns the database in the key of an index row. */
function databaseOf(key: Uint8Array): DatabaseId {
  return decodeEntry(key).database
}

function indexOf(key: Uint8Array): number {
  return decodeEntry(key).index
}

function decodeEntry(key: Uint8Array): EntryKey {
  const decoded = decodeKey(key)
  assert('termsBytes' in decoded, 'tables of indexes hold entries')
  return decoded
}

// Removes what belonged to deleted schema objects, which is out of reach from the moment they are deleted:
// an index's tables, a collection's documents with their rows in indexes that live on, everything in a database.

import { decodeKeyOf } from '../keys/key-reader.ts'
import {
  collectionChangesRange,
  collectionHistoryRange,
  databaseRanges,
  documentKey,
  documentRange,
  documentsIndex,
  dueRange,
  garbageKey,
  garbageRange,
  indexTableRange,
} from '../keys/keyspace.ts'
import type { KeyRange, View } from '../kv/contract.ts'
import { type DatabaseId, type Micros, native, type Ref } from '../values/value.ts'
import { batchEnd } from './batch-end.ts'
import type { BindingCosts } from './binding-share.ts'
import { parentKey } from './catalogue.ts'
import { everyDocument, scanDocuments, storedVersionsAscending } from './documents.ts'
import type { Row } from './index-tables.ts'
import { removeHome } from './key-homes.ts'
import { storedRows } from './rows.ts'
import type { StoreTransaction } from './transaction.ts'

/** Keys that one transaction of the background removes, about. */
export const batchKeysMax = 256

/** Bytes of rows after which a batch ends: documents may be so large that fewer than {@link batchKeysMax} fill the memory. */
export const batchBytesMax = 4_194_304

/** Objects looked at for one that may be removed now. */
const looksMax = 256

const present = new Uint8Array([1])

/** A deleted schema object whose belongings wait to be removed. */
interface Garbage {
  readonly key: Uint8Array
  readonly ref: Ref
}

/** The schema object in a garbage key. */
export function garbageTarget(key: Uint8Array): Ref {
  return decodeKeyOf('garbage', key).target
}

/** The object that has waited longest, of those whose documents' bindings may be computed now. */
export function nextGarbage(
  view: View,
  now: Micros,
  mayCompute: (database: DatabaseId) => boolean,
): Garbage | undefined {
  for (const { key } of view.range({ ...garbageRange('object', now), limit: looksMax })) {
    const ref = garbageTarget(key)
    if (ref.collection !== native.collections || mayCompute(ref.database)) return { key, ref }
  }
  return undefined
}

/** Rows of a document that `compute` derives from its versions; what its bindings take counts for its database. */
export function countedRows(
  { bindings, bindingShare }: BindingCosts,
  ref: Ref,
  compute: () => Iterable<Row>,
): readonly Row[] {
  return bindings.counted(
    () => [...compute()],
    micros => bindingShare.spent(ref.database, micros),
  )
}

/**
 * Removes a batch of what belonged to an object, about `batchMs` of it; with the last one, the object is forgotten.
 */
export function removeGarbage(
  store: BindingCosts,
  transaction: StoreTransaction,
  garbage: Garbage,
  batchMs: number | undefined,
): void {
  const { overlay } = transaction.rows
  if (overlay.get(garbage.key) === undefined) return
  const batch = new Batch(transaction, batchEnd(batchMs))
  if (garbage.ref.collection === native.indexes) removeIndex(batch, garbage.ref)
  else if (garbage.ref.collection === native.collections) removeCollection(store, batch, garbage.ref)
  else removeDatabase(batch, garbage)
  if (!batch.isFull) overlay.set(garbage.key, undefined)
}

/** Counts what a transaction removes. */
class Batch {
  readonly transaction: StoreTransaction
  readonly #isOver: () => boolean
  #left = batchKeysMax

  constructor(transaction: StoreTransaction, isOver: () => boolean) {
    this.transaction = transaction
    this.#isOver = isOver
  }

  get isFull(): boolean {
    return this.#left <= 0 || (this.#left < batchKeysMax && this.#isOver())
  }

  remove(key: Uint8Array): void {
    this.transaction.rows.overlay.set(key, undefined)
    this.#left--
  }

  removeRange(range: KeyRange): void {
    if (this.isFull) return
    const { overlay } = this.transaction.rows
    // Collected first, and without the values: all of a batch could be large.
    const keys = Array.from(overlay.range({ ...range, limit: this.#left }), row => row.key)
    for (const key of keys) this.remove(key)
  }
}

function removeIndex(batch: Batch, index: Ref): void {
  removeTables(batch, index.database, Number(index.id))
}

function removeTables(batch: Batch, database: DatabaseId, index: number): void {
  for (const table of ['live', 'ended', 'events'] as const) {
    batch.removeRange(indexTableRange(table, database, index))
  }
}

function removeCollection(store: BindingCosts, batch: Batch, { database, id }: Ref): void {
  const collection = Number(id)
  const { snapshot } = batch.transaction
  for (const ref of everyDocument(snapshot, database, collection)) {
    if (batch.isFull) return
    const versions = Array.from(storedVersionsAscending(snapshot, ref), stored =>
      batch.transaction.rows.reader.read(ref, stored),
    )
    const rows = countedRows(store, ref, () => storedRows(batch.transaction.rows, ref, versions).values())
    for (const { key } of rows) batch.remove(key)
  }
  batch.removeRange(documentRange(database, collection))
  batch.removeRange(collectionHistoryRange(database, collection))
  batch.removeRange(collectionChangesRange(database, collection))
  batch.removeRange(dueRange(database, collection))
  removeTables(batch, database, documentsIndex(collection))
}

/** Databases within come into the queue themselves before their documents are removed. */
function removeDatabase(batch: Batch, { ref }: Garbage): void {
  const { snapshot, overlay, commitTime } = batch.transaction.rows
  const database = ref.id
  for (const { document } of scanDocuments(snapshot, database, native.databases)) {
    if (batch.isFull) return
    overlay.set(garbageKey('object', commitTime, document), present)
    batch.remove(documentKey(document))
  }
  for (const { document } of scanDocuments(snapshot, database, native.keys)) {
    if (batch.isFull) return
    removeHome(overlay, document)
    batch.remove(documentKey(document))
  }
  for (const range of databaseRanges(database)) batch.removeRange(range)
  if (!batch.isFull) overlay.set(parentKey(database), undefined)
}

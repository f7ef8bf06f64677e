// Removes the data of deleted schema objects: an index's tables, a collection's documents with their rows in other
// indexes, all content of a database. No query can reach this data after the object is deleted.

import { type DatabaseId, type Micros, native, type Ref } from '../../values/value.ts'
import {
  collectionChangesRange,
  collectionHistoryRange,
  databaseRanges,
  documentKey,
  documentRange,
  documentsIndex,
  dueRange,
  indexTableRange,
} from '../keys/keyspace.ts'
import type { KeyInterval } from '../keys/prefix.ts'
import type { View } from '../kv/contract.ts'
import { Batch } from './batch.ts'
import { parentKey } from './catalogue.ts'
import { everyDocument, scanDocuments } from './documents.ts'
import { wholeDocument } from './expired-rows.ts'
import { removeHome } from './key-homes.ts'
import type { Store } from './store.ts'
import { recordWork, type SweeperWork, workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of objects that are searched for an object that may be removed now. */
const jobsMax = 256

/** The object whose removal has waited longest. Objects whose bindings may not be computed now are skipped. */
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
 * Removes a batch of the data of an object, or less when `isOver`; the last batch also removes the pending work of the
 * object.
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
    // Keys are collected first, without the values, because all values of a batch could be large.
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

/** Removal of each child database is queued before the document of that database is removed. */
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

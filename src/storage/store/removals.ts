// Removes the data of deleted schema objects: the tables of an index, the documents of a collection with their rows in
// indexes, and the documents, schema objects and child databases of a database. Also removes revoked tokens
// (token-revocation.ts).

import { type DatabaseId, native, type Ref, unlisted } from '../../values/value.ts'
import {
  collectionChangesRange,
  collectionHistoryRange,
  databaseRanges,
  documentKey,
  documentRange,
  documentsIndex,
  expiryMarkRange,
  indexTableRange,
} from '../keys/keyspace.ts'
import { intervalsFrom, type KeyInterval } from '../keys/prefix.ts'
import type { Bytes, View } from '../kv/kv-contract.ts'
import { Batch, takeKeys } from './batch.ts'
import { parentKey } from './catalogue.ts'
import { removeHome, tokensRange } from './directory.ts'
import { everyDocument, idMax, newestLive, scanDocuments } from './documents.ts'
import { entryDocument } from './entry-records.ts'
import { rowsOfDocument } from './expired-rows.ts'
import { versionTime } from './records.ts'
import { indexesOf } from './rows.ts'
import type { Store } from './store.ts'
import { type RemovalCursor, recordWork, type SweeperWork } from './sweeper-work.ts'
import { isRevoked, revokedIdentities } from './token-revocation.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of deleted objects that {@link nextGarbage} checks. */
const checkedObjectsMax = 256

/**
 * The deleted object whose data has waited longest. Skips collections and tokens if the bindings (computed fields)
 * of their database may not be computed now.
 */
export function nextGarbage(
  view: View,
  removals: RemovalCursor,
  mayCompute: (database: DatabaseId) => boolean,
): SweeperWork | undefined {
  return removals
    .read(view, checkedObjectsMax)
    .find(
      ({ target }) =>
        target.collection === native.databases ||
        target.collection === native.indexes ||
        mayCompute(target.database),
    )
}

/**
 * Removes one batch, which also ends when `isOver` returns true. The last batch removes the row of the pending work,
 * too.
 */
export function removeGarbage(
  store: Store,
  transaction: StoreTransaction,
  { key, target }: SweeperWork,
  isOver: () => boolean,
): void {
  const { overlay } = transaction.rows
  const stored = overlay.get(key)
  if (stored === undefined) return
  const removal = new Removal(transaction, new Batch(isOver), decodeProgress(stored))
  if (target.collection === native.indexes) removal.removeRows(tablesOf(target.database, Number(target.id)))
  else if (target.collection === native.collections) removeCollection(store, removal, target)
  else if (target.collection === unlisted.token_revocations) removeRevokedTokens(store, removal, target)
  else removeDatabase(removal, target.id)
  overlay.set(key, removal.isFull ? encodeProgress(removal.progress) : undefined)
}

/**
 * How far the removal of an object has come: documents with lower ids than `first`, or rows up to the key `from`, are
 * removed. A batch continues there, because a read from the start would skip all removed rows which LMDB still
 * contains.
 */
type Progress =
  | { readonly stage: 'documents'; readonly first: bigint }
  | { readonly stage: 'rows'; readonly from: Bytes }

/** The first byte of a row of pending work. The row of new work consists of `documents` alone. */
const stages = { documents: 1, rows: 2 } as const

function decodeProgress(stored: Bytes): Progress {
  if (stored[0] === stages.rows) return { stage: 'rows', from: stored.slice(1) }
  const first = stored.length === 9 ? new DataView(stored.buffer, stored.byteOffset).getBigUint64(1) : 0n
  return { stage: 'documents', first }
}

function encodeProgress(progress: Progress): Bytes {
  if (progress.stage === 'rows') return Uint8Array.of(stages.rows, ...progress.from)
  const stored = Uint8Array.of(stages.documents, ...new Uint8Array(8))
  new DataView(stored.buffer).setBigUint64(1, progress.first)
  return stored
}

class Removal {
  readonly transaction: StoreTransaction
  readonly batch: Batch
  progress: Progress

  constructor(transaction: StoreTransaction, batch: Batch, progress: Progress) {
    this.transaction = transaction
    this.batch = batch
    this.progress = progress
  }

  get isFull(): boolean {
    return this.batch.isFull()
  }

  remove(key: Bytes): void {
    this.transaction.rows.overlay.set(key, undefined)
    this.batch.write(1)
  }

  removeRows(intervals: readonly KeyInterval[]): void {
    const { overlay } = this.transaction.rows
    let from = this.progress.stage === 'rows' ? this.progress.from : new Uint8Array()
    for (const range of intervalsFrom(intervals, from)) {
      for (const key of takeKeys(this.batch, overlay.range(range))) {
        overlay.set(key, undefined)
        from = key
      }
    }
    this.progress = { stage: 'rows', from }
  }
}

const tablesOf = (database: DatabaseId, index: number): readonly KeyInterval[] =>
  (['live', 'ended', 'events'] as const).map(table => indexTableRange(table, database, index))

function removeCollection(store: Store, removal: Removal, { database, id }: Ref): void {
  const collection = Number(id)
  if (removal.progress.stage === 'documents' && !removeEntries(store, removal, database, collection)) return
  removal.removeRows([
    documentRange(database, collection),
    collectionHistoryRange(database, collection),
    collectionChangesRange(database, collection),
    expiryMarkRange(database, collection),
    ...tablesOf(database, documentsIndex(collection)),
  ])
}

/**
 * Removes the documents of a collection with their entries in indexes that users have defined. Returns whether none are
 * left.
 */
function removeEntries(store: Store, removal: Removal, database: DatabaseId, collection: number): boolean {
  const { batch, progress, transaction } = removal
  const { rows, snapshot } = transaction
  // Without such an index, no document has to be decoded: the ranges of the collection contain all its rows.
  if (indexesOf(rows, database, collection).length === 1) return true
  const span = { first: progress.stage === 'documents' ? progress.first : 0n, last: idMax }
  for (const ref of everyDocument(snapshot, database, collection, span)) {
    removal.progress = { stage: 'documents', first: ref.id }
    if (removal.isFull) return false
    const { isAll, keys } = rowsOfDocument(store, transaction, ref, batch)
    for (const key of keys) rows.overlay.set(key, undefined)
    if (!isAll) return false
  }
  return true
}

/** A batch is full before it has read this number of tokens. */
const tokensPerBatch = 2048
/** Approximate number of rows that the deletion of a token writes. */
const rowsOfToken = 6

/** Deletes a batch of revoked tokens. Later tokens of the same identities remain. */
function removeRevokedTokens(store: Store, removal: Removal, target: Ref): void {
  const { batch, transaction } = removal
  const { catalogue, rows } = transaction
  const revocations = transaction.get(target)?.fields
  if (revocations === undefined || !catalogue.isLive(target.database)) return
  const from = removal.progress.stage === 'rows' ? removal.progress.from : undefined
  const identities = revokedIdentities(target, revocations)
  const intervals = identities.map(instance => ({ instance, ...tokensRange(instance) }))
  for (const { end, instance, start } of intervalsFrom(intervals, from)) {
    for (const entry of [...rows.overlay.range({ start, end, limit: tokensPerBatch })]) {
      removal.progress = { stage: 'rows', from: entry.key }
      if (removal.isFull) return
      const token = entryDocument(target.database, entry)
      const version = newestLive(rows.snapshot, token)
      batch.read(1, version?.length ?? 0)
      if (version === undefined || !isRevoked({ ts: versionTime(version) }, instance, revocations)) continue
      store.pauseAfter(target.database, () => transaction.delete(token))
      batch.write(rowsOfToken)
    }
  }
}

/** The removal of each child database becomes pending work. */
function removeDatabase(removal: Removal, database: DatabaseId): void {
  const { snapshot, overlay, commitTime } = removal.transaction.rows
  if (removal.progress.stage === 'documents') {
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
  }
  removal.removeRows(databaseRanges(database))
  if (!removal.isFull) overlay.set(parentKey(database), undefined)
}

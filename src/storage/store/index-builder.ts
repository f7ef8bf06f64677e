// Builds indexes over existing documents. A build adds entries for all stored versions of a document. Each entry
// contains the time of its version. If there are few documents, the transaction that creates the index also builds the
// index. If there are many documents, the index is built in batches in the background. Each batch is a transaction that
// also stores the progress, so a crash loses at most one batch. During the build, a transaction that writes a document
// also writes its index rows. When the build reaches this document, it writes all index rows of the document again.

import { limits } from '../../base/limits.ts'
import { RequestError } from '../../base/request-errors.ts'
import { type CollectionId, collectionOf, type DatabaseId, native, Ref } from '../../values/value.ts'
import { decodeKeyOf } from '../keys/key-reader.ts'
import { buildKey, tagRange } from '../keys/keyspace.ts'
import type { View } from '../kv/kv-contract.ts'
import type { Overlay } from '../kv/overlay.ts'
import { Batch } from './batch.ts'
import type { StoreCatalogue } from './catalogue.ts'
import { everyDocument, idMax, storedVersionsAscending } from './documents.ts'
import { markDue } from './due-order.ts'
import { entrySince, hasExpired } from './entry-records.ts'
import { buildErrorField, namedCollections } from './index-definition.ts'
import { type IndexRow, type IndexTables, prepareEntries, timelineRows, userIndex } from './index-tables.ts'
import { idAt } from './records.ts'
import { minimumValidTime } from './retention.ts'
import type { Rows } from './rows.ts'
import { firstOf, type Snapshot } from './snapshot.ts'
import type { Transaction } from './store-contract.ts'
import { recordWork } from './sweeper-work.ts'
import { checkTransactionBytes } from './transaction-limits.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
export const indexBuilderLimits = {
  /** Maximum number of stored document versions for which the transaction that creates an index also builds it. */
  synchronousIndexBuildMax: 128,
} as const

/** Reading a document costs at least as much as reading this number of versions. */
const readsPerDocument = 4

/** A transaction with access to the rows of the store. */
interface BuildTransaction extends Transaction {
  readonly catalogue: StoreCatalogue
  readonly rows: Rows
}

/** Returns whether `collections` have so few documents and versions that one transaction can index them. */
export function fitsOneTransaction(
  snapshot: Snapshot,
  database: DatabaseId,
  collections: readonly CollectionId[],
): boolean {
  let versions = 0
  for (const collection of collections) {
    for (const ref of everyDocument(snapshot, database, collection)) {
      for (const _ of storedVersionsAscending(snapshot, ref)) {
        if (++versions > indexBuilderLimits.synchronousIndexBuildMax) return false
      }
    }
  }
  return true
}

/** Indexes all stored versions of the documents in `collections` within the running transaction. */
export function buildNow(
  context: Rows,
  database: DatabaseId,
  collections: readonly CollectionId[],
  index: IndexTables,
): void {
  let bytes = 0
  for (const collection of collections) {
    for (const ref of everyDocument(context.snapshot, database, collection)) {
      const {
        bytes: added,
        rows,
        versions,
      } = context.bindings.perItem(limits.documentBindingsMs, () => rowsOf(context, ref, index))
      bytes += added
      checkTransactionBytes(bytes)
      lay(context, ref, rows)
      context.snapshot.counters.indexUnits += index.width * versions
    }
  }
}

/** All rows of a document in an index. */
interface DocumentRows {
  readonly rows: Iterable<IndexRow>
  readonly bytes: number
  /** The number of versions of the document. */
  readonly versions: number
}

/** Returns all rows of a document in an index. Throws a RequestError if the newest version has too many entries. */
function rowsOf({ reader, snapshot }: Rows, ref: Ref, index: IndexTables): DocumentRows {
  const versions = Array.from(storedVersionsAscending(snapshot, ref), stored => reader.read(ref, stored))
  // Called only for its error. The number of entries of superseded versions is not limited.
  prepareEntries(index, versions.at(-1), snapshot.time)
  const rows = timelineRows(index, versions)
  let bytes = 0
  for (const { key, value } of rows.values()) bytes += key.length + value.length
  return { rows: rows.values(), bytes, versions: versions.length }
}

/**
 * Writes the index rows of a document. If a row has already expired, adds a due mark (due-order.ts), because the
 * sweeper (sweeper.ts) may already have removed the earlier mark.
 */
function lay({ catalogue, commitTime, overlay, snapshot }: Rows, ref: Ref, rows: Iterable<IndexRow>): void {
  const definition = catalogue.userCollection(ref.database, ref.collection)
  const minimum = minimumValidTime(ref.collection, definition, snapshot.time)
  let isMarked = false
  for (const row of rows) {
    overlay.set(row.key, row.value)
    if (isMarked || !hasExpired(row, minimum)) continue
    markDue(overlay, ref, entrySince(row))
    recordWork(overlay, 'history', commitTime, collectionOf(ref))
    isMarked = true
  }
}

/** Thrown if a document cannot be indexed. */
export class BuildFailure extends Error {
  override name = 'BuildFailure'
  readonly document: Ref

  constructor(index: Ref, document: Ref, cause: unknown) {
    super(`the index ${index.id} of database ${index.database} cannot be built`, { cause })
    this.document = document
  }
}

/** Registers a build of `index` in the background. The build begins with the first document of the first collection. */
export function beginBuild(overlay: Overlay, index: Ref): void {
  overlay.set(buildKey(index.database, Number(index.id)), encodeProgress(0, 0n))
}

function encodeProgress(collection: CollectionId, id: bigint): Uint8Array {
  const bytes = new Uint8Array(10)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, collection)
  view.setBigUint64(2, id)
  return bytes
}

/** Decodes the collection and the document at which the next batch begins. */
function decodeProgress(value: Uint8Array): { readonly collection: CollectionId; readonly id: bigint } {
  const collection = new DataView(value.buffer, value.byteOffset, 2).getUint16(0)
  return { collection, id: idAt(value, 2) }
}

/**
 * Decodes the key of a build. Returns a reference whose id is the number of the index. If the build rewrites the
 * versions of a collection (document-rewriter.ts), the id is the number of the built-in index for
 * `documents(collection)`.
 */
function buildOf(key: Uint8Array): Ref {
  const { database, index } = decodeKeyOf('build', key)
  return new Ref(database, native.indexes, BigInt(index))
}

/**
 * Returns the collection and the document at which the next batch of a build begins; undefined if the build is not
 * running.
 */
export function progressOf(view: View, index: Ref): ReturnType<typeof decodeProgress> | undefined {
  const progress = view.get(buildKey(index.database, Number(index.id)))
  return progress && decodeProgress(progress)
}

/** Returns the builds that are not complete. */
export function pendingBuildsIn(view: View): Ref[] {
  return Array.from(view.range(tagRange('build')), ({ key }) => buildOf(key))
}

/**
 * Returns the next build of `database` with the index number `index` or a greater number. If there is no such build,
 * returns the first build of a later database; undefined if there is none.
 */
export function nextBuild(view: View, database: DatabaseId, index: number): Ref | undefined {
  const found = firstOf(view, { start: buildKey(database, index), end: tagRange('build').end })
  return found && buildOf(found.key)
}

/**
 * Runs one batch of a build inside `transaction`. The batch ends when `isOver` returns true. After the last batch, the
 * index becomes active. Throws {@link BuildFailure} if a document cannot be indexed. The failed transaction writes
 * nothing.
 */
export function continueBuild(transaction: BuildTransaction, index: Ref, isOver: () => boolean): void {
  const { rows: context } = transaction
  const { catalogue } = transaction
  const key = buildKey(index.database, Number(index.id))
  const progress = context.overlay.get(key)
  const definition = catalogue.index(index)
  if (progress === undefined) return
  if (definition === undefined) {
    context.overlay.set(key, undefined)
    return
  }
  const from = decodeProgress(progress)
  const { bindings, hooks } = context
  const tables = userIndex(definition, hooks, catalogue)
  const collections = [...(namedCollections(definition) ?? catalogue.collectionsOf(index.database))].sort(
    (left, right) => left - right,
  )
  const batch = new Batch(isOver)
  let bytes = 0
  for (const collection of collections) {
    if (collection < from.collection) continue
    const first = collection === from.collection ? from.id : 0n
    for (const ref of everyDocument(context.snapshot, index.database, collection, { first, last: idMax })) {
      const found = attempt(index, ref, () =>
        bindings.perItem(limits.documentBindingsMs, () => rowsOf(context, ref, tables)),
      )
      if (batch.isFull(found.bytes)) {
        context.overlay.set(key, encodeProgress(collection, ref.id))
        return
      }
      lay(context, ref, found.rows)
      batch.read(Math.max(readsPerDocument, found.versions), found.bytes)
      bytes += found.bytes
      attempt(index, ref, () => checkTransactionBytes(bytes))
    }
  }
  context.overlay.set(key, undefined)
  const current = transaction.get(index)
  if (current === undefined) return
  const fields = new Map(current.fields).set('active', true)
  fields.delete(buildErrorField)
  transaction.put(index, fields)
}

function attempt<T>(index: Ref, document: Ref, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new BuildFailure(index, document, cause)
  }
}

/** Stores the reason of a failure in the document of the index. The reason of an internal error is only in the log. */
export function recordFailure(
  transaction: BuildTransaction,
  index: Ref,
  { cause, document }: BuildFailure,
): void {
  const current = transaction.get(index)
  if (current === undefined) return
  const name = transaction.catalogue.nameOf(collectionOf(document)) ?? document.collection
  const reason = cause instanceof RequestError ? cause.description : 'The service met an internal error.'
  const text = `Document ${document.id} of ${name}: ${reason}`
  if (current.fields.get(buildErrorField) === text) return
  transaction.put(index, new Map(current.fields).set(buildErrorField, text))
}

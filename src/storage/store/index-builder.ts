// Builds indexes over existing documents: adds entries for all stored versions of a document, each with the time of its
// version. If there are few documents, the transaction that creates the index also builds it. Otherwise, the index is
// built in batches in the background. Each batch is a transaction that also stores the progress, so a crash loses at
// most one batch. A batch may end between two versions of a document, and within the rows of a version if these rows
// alone are too large for a batch. During the build, a transaction that writes a document also writes its index rows.
// When the build reaches this document, it writes all of its index rows again.

import { limits } from '../../base/limits.ts'
import { RequestError } from '../../base/request-errors.ts'
import {
  type CollectionId,
  collectionOf,
  type DatabaseId,
  type Micros,
  native,
  Ref,
} from '../../values/value.ts'
import { decodeKeyOf, idAt } from '../keys/key-reader.ts'
import { buildKey, tagRange } from '../keys/keyspace.ts'
import type { Entry, View } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { Batch, batchBytesMax } from './batch.ts'
import type { StoreCatalogue } from './catalogue.ts'
import { everyDocument, idMax, storedVersionsAscending, validAt } from './documents.ts'
import { entrySince, hasExpired } from './entry-records.ts'
import { EntryTimeline } from './entry-timeline.ts'
import { markExpiry } from './expiry-marks.ts'
import { buildErrorField, namedCollections } from './index-definition.ts'
import { type IndexTables, prepareEntries, type StoredVersion, userIndex } from './index-tables.ts'
import { timeAt, versionTime } from './records.ts'
import { minimumValidTime } from './retention.ts'
import type { Rows } from './rows.ts'
import { firstOf, type Snapshot } from './snapshot.ts'
import type { Transaction } from './store-contract.ts'
import { recordWork } from './sweeper-work.ts'
import { checkTransactionBytes } from './transaction-limits.ts'

export const indexBuilderLimits = {
  /** Maximum number of stored document versions for which the transaction that creates an index also builds it. */
  synchronousIndexBuildMax: 128,
  /** Maximum number of bytes of these versions; own limit. */
  synchronousIndexBuildBytesMax: 1_048_576,
  /**
   * Maximum number of bytes of index rows that the transaction that creates an index writes: half of the bytes that a
   * transaction may write; own limit.
   */
  synchronousIndexRowsBytesMax: 8_388_608,
} as const

/** Finding a document costs as much as reading this number of versions. */
const readsPerDocument = 2

interface BuildTransaction extends Transaction {
  readonly catalogue: StoreCatalogue
  readonly rows: Rows
}

/** Returns whether one transaction can index the documents and versions of `collections`. */
export function fitsOneTransaction(
  snapshot: Snapshot,
  database: DatabaseId,
  collections: readonly CollectionId[],
): boolean {
  const { synchronousIndexBuildBytesMax, synchronousIndexBuildMax } = indexBuilderLimits
  let versions = 0
  let bytes = 0
  for (const collection of collections) {
    for (const ref of everyDocument(snapshot, database, collection)) {
      for (const stored of storedVersionsAscending(snapshot, ref)) {
        bytes += stored.length
        if (++versions > synchronousIndexBuildMax || bytes > synchronousIndexBuildBytesMax) return false
      }
    }
  }
  return true
}

/**
 * Indexes all stored versions within the running transaction. Returns false if the index rows have too many bytes; then
 * no rows were written.
 */
export function buildNow(
  context: Rows,
  database: DatabaseId,
  collections: readonly CollectionId[],
  index: IndexTables,
): boolean {
  const journal: Journal = []
  let bytes = 0
  const batch: VersionBatch = {
    bytesMax: indexBuilderLimits.synchronousIndexRowsBytesMax,
    isFull: rowBytes => bytes + rowBytes > indexBuilderLimits.synchronousIndexRowsBytesMax,
    written(rowBytes, storedBytes) {
      bytes += rowBytes
      // The live rows of a document cost nothing beside those of its versions.
      if (storedBytes > 0) context.snapshot.counters.indexUnits += index.width
    },
  }
  for (const collection of collections) {
    for (const ref of everyDocument(context.snapshot, database, collection)) {
      if (indexDocument(context, ref, index, undefined, batch, journal) === undefined) continue
      context.overlay.revert(journal)
      return false
    }
  }
  return true
}

/** The progress of a build within a document: the entries up to the version `ts` were written. */
interface VersionProgress {
  /** The last version whose entries were written. */
  readonly ts: Micros
  /** The times at which the entries of this version were added, in the order of the entries. */
  readonly since: readonly Micros[]
}

interface VersionBatch {
  /** Maximum number of bytes of the index rows of one version. */
  readonly bytesMax: number
  /** Returns whether a version with `rowBytes` bytes of index rows must wait for the next batch. */
  isFull(rowBytes: number): boolean
  /** The index rows of a version, or the live rows of a document, were written. */
  written(rowBytes: number, storedBytes: number): void
}

/**
 * Writes the rows of a document, one version after the other. `from`: the progress of the previous batch; undefined at
 * the beginning of the document. Returns the progress when `batch` is full, or undefined if all rows were written.
 * Throws a RequestError if the newest version has too many entries.
 */
function indexDocument(
  context: Rows,
  ref: Ref,
  index: IndexTables,
  from: VersionProgress | undefined,
  batch: VersionBatch,
  journal?: Journal,
): { readonly version: VersionProgress | undefined } | undefined {
  const { bindingBudget, reader, snapshot } = context
  const compute = <T>(work: () => T): T => bindingBudget.perItem(limits.documentBindingsMs, work)
  const writer = new RowWriter(context, ref, batch, journal)
  const timeline = new EntryTimeline(index)
  let last = from && compute(() => resumeAt(context, ref, timeline, from))
  const versions = storedVersionsAscending(snapshot, ref, last?.ts)
  if (last !== undefined) versions.next()
  for (const stored of versions) {
    const version = reader.read(ref, stored)
    const { open } = timeline
    const rows = compute(() => timeline.add(version))
    if (!writer.write(rows, stored.length)) return { version: last && { ts: last.ts, since: timesOf(open) } }
    last = version
  }
  // Called only for its error. The number of entries of superseded versions is not limited.
  compute(() => prepareEntries(index, last, snapshot.time))
  const rows = timeline.liveRows()
  if (writer.write(rows, 0)) return undefined
  return { version: last && { ts: last.ts, since: timesOf(timeline.open) } }
}

/**
 * Continues after the version at `from`, and returns this version. Undefined if it was removed meanwhile; then the
 * build begins with the oldest version of the document again.
 */
function resumeAt(
  { reader, snapshot }: Rows,
  ref: Ref,
  timeline: EntryTimeline,
  from: VersionProgress,
): StoredVersion | undefined {
  const stored = validAt(snapshot, ref, from.ts)
  if (stored === undefined || versionTime(stored) !== from.ts) return undefined
  const version = reader.read(ref, stored)
  timeline.resume(version, (_, index) => from.since[index] ?? from.ts)
  return version
}

function timesOf(open: EntryTimeline['open']): Micros[] {
  return Array.from(open.values(), ({ since }) => since)
}

function bytesOf(row: Entry): number {
  return row.key.length + row.value.length
}

/**
 * Writes the index rows of a document. Adds an expiry mark (expiry-marks.ts) for a row that has already expired,
 * because the sweeper (sweeper.ts) may already have removed the earlier mark.
 */
class RowWriter {
  readonly #context: Rows
  readonly #ref: Ref
  readonly #batch: VersionBatch
  readonly #journal: Journal | undefined
  readonly #minimum: Micros
  #isMarked = false

  constructor(context: Rows, ref: Ref, batch: VersionBatch, journal: Journal | undefined) {
    const definition = context.catalogue.userCollection(ref.database, ref.collection)
    this.#context = context
    this.#ref = ref
    this.#batch = batch
    this.#journal = journal
    this.#minimum = minimumValidTime(ref.collection, definition, context.snapshot.time)
  }

  /**
   * Writes the rows that end with a version, or the live rows of a document. Returns false if some of the rows must
   * wait for the next batch. `storedBytes`: the size of the version.
   */
  write(rows: readonly Entry[], storedBytes: number): boolean {
    const batch = this.#batch
    const bytes = rows.reduce((sum, row) => sum + bytesOf(row), 0)
    if (batch.isFull(bytes)) return false
    if (bytes <= batch.bytesMax) {
      for (const row of rows) this.#set(row)
    } else if (!this.#writeMissing(rows)) return false
    batch.written(bytes, storedBytes)
    return true
  }

  /**
   * Writes the first of the rows that are not stored yet, because the rows are too large for one batch. Returns whether
   * all rows are stored. Writes at least one row, so each batch makes progress, even if one row has more than
   * `bytesMax` bytes. Throws a RequestError if no transaction can write this row. Omits expired rows: otherwise, the
   * sweeper could remove a part of the rows while the next batch writes another part, and neither would make progress.
   */
  #writeMissing(rows: readonly Entry[]): boolean {
    const { overlay } = this.#context
    let written = 0
    for (const row of rows) {
      if (hasExpired(row, this.#minimum)) continue
      const stored = overlay.get(row.key)
      if (stored !== undefined && Buffer.compare(stored, row.value) === 0) continue
      const bytes = bytesOf(row)
      if (written > 0 && written + bytes > this.#batch.bytesMax) return false
      written += bytes
      checkTransactionBytes(written)
      this.#set(row)
    }
    return true
  }

  #set(row: Entry): void {
    const { commitTime, overlay } = this.#context
    overlay.set(row.key, row.value, this.#journal)
    if (this.#isMarked || !hasExpired(row, this.#minimum)) return
    markExpiry(overlay, this.#ref, entrySince(row), this.#journal)
    recordWork(overlay, 'history', commitTime, collectionOf(this.#ref), this.#journal)
    this.#isMarked = true
  }
}

export class BuildFailure extends Error {
  override name = 'BuildFailure'
  readonly document: Ref

  constructor(index: Ref, document: Ref, cause: unknown) {
    super(`the index ${index.id} of database ${index.database} cannot be built`, { cause })
    this.document = document
  }
}

/** Begins with the first document of the first collection. */
export function beginBuild(overlay: Overlay, index: Ref): void {
  overlay.set(buildKey(index.database, Number(index.id)), encodeProgress({ collection: 0, id: 0n }))
}

interface BuildProgress {
  readonly collection: CollectionId
  /** The id of the document at which the next batch begins. */
  readonly id: bigint
  /** Present if the previous batch ended within this document. */
  readonly version?: VersionProgress | undefined
}

const versionAt = 10

function encodeProgress({ collection, id, version }: BuildProgress): Uint8Array {
  const times = version === undefined ? [] : [version.ts, ...version.since]
  const bytes = new Uint8Array(versionAt + 8 * times.length)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, collection)
  view.setBigUint64(2, id)
  for (const [at, time] of times.entries()) view.setBigUint64(versionAt + 8 * at, BigInt(time))
  return bytes
}

function decodeProgress(value: Uint8Array): BuildProgress {
  const collection = new DataView(value.buffer, value.byteOffset, 2).getUint16(0)
  const times: Micros[] = []
  for (let at = versionAt; at < value.length; at += 8) times.push(timeAt(value, at))
  const [ts, ...since] = times
  return { collection, id: idAt(value, 2), ...(ts !== undefined && { version: { ts, since } }) }
}

/**
 * The version of `ref` at the past time `ts` was inserted, replaced or removed. If a build of the index has ended a
 * batch within this document after `ts`, the next batch begins with the oldest version again.
 */
export function restartDocument(overlay: Overlay, ref: Ref, ts: Micros, index: number): void {
  const key = buildKey(ref.database, index)
  const stored = overlay.get(key)
  if (stored === undefined || stored.length === versionAt) return
  const { collection, id, version } = decodeProgress(stored)
  if (collection !== ref.collection || id !== ref.id || version === undefined || version.ts < ts) return
  overlay.set(key, encodeProgress({ collection, id }))
}

/**
 * A reference whose id is the number of the index or, if the build rewrites the versions of a collection
 * (document-rewriter.ts), of the built-in index for `documents(collection)`.
 */
function buildOf(key: Uint8Array): Ref {
  const { database, index } = decodeKeyOf('build', key)
  return new Ref(database, native.indexes, BigInt(index))
}

/** The next batch of a build begins here; undefined if the build is not running. */
export function progressOf(view: View, index: Ref): BuildProgress | undefined {
  const progress = view.get(buildKey(index.database, Number(index.id)))
  return progress && decodeProgress(progress)
}

export function pendingBuildsIn(view: View): Ref[] {
  return Array.from(view.range(tagRange('build')), ({ key }) => buildOf(key))
}

/**
 * The next build of `database` with the index number `index` or a greater one, or else the first build of a later
 * database.
 */
export function nextBuild(view: View, database: DatabaseId, index: number): Ref | undefined {
  const found = firstOf(view, { start: buildKey(database, index), end: tagRange('build').end })
  return found && buildOf(found.key)
}

/**
 * Runs one batch, which also ends when `isOver` returns true. After the last batch, the index becomes active.
 * Throws {@link BuildFailure} if a document cannot be indexed; the failed transaction writes nothing.
 */
export function continueBuild(transaction: BuildTransaction, index: Ref, isOver: () => boolean): void {
  const { catalogue, rows: context } = transaction
  const key = buildKey(index.database, Number(index.id))
  const progress = context.overlay.get(key)
  const definition = catalogue.index(index)
  if (progress === undefined) return
  if (definition === undefined) {
    context.overlay.set(key, undefined)
    return
  }
  const from = decodeProgress(progress)
  const tables = userIndex(definition, context.hooks, catalogue)
  const collections = [...(namedCollections(definition) ?? catalogue.collectionsOf(index.database))].sort(
    (left, right) => left - right,
  )
  const batch = new Batch(isOver)
  const versions: VersionBatch = {
    bytesMax: batchBytesMax,
    isFull: rowBytes => batch.isFull(rowBytes),
    written: (rowBytes, storedBytes) => batch.read(1, rowBytes + storedBytes),
  }
  for (const collection of collections) {
    if (collection < from.collection) continue
    const first = collection === from.collection ? from.id : 0n
    for (const ref of everyDocument(context.snapshot, index.database, collection, { first, last: idMax })) {
      const { id } = ref
      const since = collection === from.collection && id === from.id ? from.version : undefined
      const rest = orBuildFailure(index, ref, () => indexDocument(context, ref, tables, since, versions))
      if (rest !== undefined) {
        context.overlay.set(key, encodeProgress({ collection, id, version: rest.version }))
        return
      }
      batch.read(readsPerDocument, 0)
    }
  }
  context.overlay.set(key, undefined)
  const current = transaction.get(index)
  if (current === undefined) return
  catalogue.changesDefinitions = false
  const fields = new Map(current.fields).set('active', true)
  fields.delete(buildErrorField)
  transaction.put(index, fields)
}

/** Wraps each error of `work` in a {@link BuildFailure}. */
function orBuildFailure<T>(index: Ref, document: Ref, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new BuildFailure(index, document, cause)
  }
}

/** Stores the reason in the document of the index. The reason of an internal error is only in the service log. */
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
  transaction.catalogue.changesDefinitions = false
  transaction.put(index, new Map(current.fields).set(buildErrorField, text))
}

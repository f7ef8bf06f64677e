// The LMDB engine with a commit log. The log is the system of record, and LMDB is derived from the log.
//
// A commit runs the waiting transactions, appends their writes to the log as one record, flushes the log, and resolves
// the promises of the transactions (group commit). Reads search the new rows in memory before they search LMDB. A
// thread later applies many rows to LMDB in one large transaction, which writes far fewer pages than one transaction
// per commit. Readers see a commit only when the commit is on disk, so no reader sees data that a crash could revoke.

import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { assert } from '../../base/assert.ts'
import { systemClock } from '../../base/clock.ts'
import { type Cancel, systemTimers, type Timers, wait } from '../../base/timers.ts'
import { writeBytesMax } from '../kv/batch.ts'
import {
  CommitQueue,
  completeJob,
  type Job,
  type JobWrites,
  prepareBatch,
  runJob,
} from '../kv/commit-queue.ts'
import { Listeners } from '../kv/engine-parts.ts'
import type { Bytes, EncodedWrites, KeyValueStore, View, Work, Write } from '../kv/kv-contract.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import { closeFolder, type OpenFolder, openFolder } from '../lmdb/folder.ts'
import { ForgottenCommitError } from '../lmdb/newest-commit.ts'
import { assertRoom, freeBytes } from '../lmdb/room.ts'
import { LmdbView } from '../lmdb/view.ts'
import { ApplyQueue } from './apply-queue.ts'
import { appendDurably, UnknownAppendError } from './durable-append.ts'
import { DurableSequence } from './durable-sequence.ts'
import { LoggedView } from './logged-view.ts'
import { NextSegment } from './next-segment.ts'
import { type ApplyLag, beginLog, markLogApplied } from './position.ts'
import { readLog, writeEndAgain } from './replay.ts'
import type { RowTable } from './row-table.ts'
import { type ChainPlace, Segment, segmentSlack } from './segment.ts'
import {
  closeFile,
  type LogDisk,
  logFolder,
  type SegmentFile,
  SegmentFiles,
  segmentBytesDefault,
  systemDisk,
} from './segment-files.ts'
import { headerBytes } from './segment-format.ts'

interface LoggedOptions {
  /** The folder, which is created if it is missing. */
  readonly path: string
  readonly timers?: Timers
  /** Bytes of an ordinary segment of the log; a larger record gets a larger segment. */
  readonly segmentBytes?: number
  readonly disk?: LogDisk
  /** The default returns what the system reports. */
  readonly freeBytes?: () => number
  /**
   * Called when the outcome of a batch cannot be determined, for example after a failed flush. The store then commits
   * nothing more, and the program must exit; the next start reads from the log which writes are on disk.
   */
  readonly onLostFlush?: (error: unknown) => void
  /**
   * Other processes read the log, so the store publishes the number of the newest durable record
   * ({@link DurableSequence}).
   */
  readonly isFollowed?: boolean
  /** Receives all records of the log, for example for a continuous backup. */
  readonly records?: RecordSink
}

/** Receives durable records, in the order of the log. */
export interface RecordSink {
  /**
   * Called first. `place`: the place before the first record that `add` receives. `hasFailed`: returns true after a
   * commit with an unknown outcome, whose record `add` has not received.
   */
  begin(log: Bytes, place: ChainPlace, hasFailed: () => boolean): void
  /**
   * Receives complete records of a segment. `place`: the place after the last of these records. The receiver must copy
   * bytes that it retains.
   */
  add(records: Bytes, place: ChainPlace): void
  /** No more records follow. Closing the store waits for the returned promise. */
  end(): Promise<void>
}

/** Number of rows in a batch after which the remaining transactions wait for the next batch. */
const batchWritesMax = 4000
/** Milliseconds after which a segment is applied to LMDB, even if the segment is not full. */
const applyAfterMs = 4_000
/**
 * Interval of the attempts of the first write to LMDB, which fail while LMDB has forgotten a commit of another process
 * (lmdb/newest-commit.ts).
 */
const recoveryIntervalMs = 2
/** Maximum number of attempts of the first write to LMDB. */
const recoveriesMax = 1_000

/** Transactions whose promises can be resolved. */
interface DurableBatch {
  readonly jobs: readonly Job[]
  readonly hasWritten: boolean
}

/** Throws {@link StoreUnavailableError}. */
export function openLogged(options: LoggedOptions): LoggedStore {
  return new LoggedStore(options)
}

class LoggedStore implements KeyValueStore {
  readonly #path: string
  readonly #lmdb: OpenFolder
  readonly #timers: Timers
  readonly #freeBytes: () => number
  readonly #onLostFlush: (error: unknown) => void
  readonly #durable: DurableSequence | undefined
  readonly #records: RecordSink | undefined
  readonly #disk: LogDisk
  readonly #segmentBytes: number
  readonly #listeners = new Listeners()
  readonly #files: SegmentFiles
  readonly #queue = new CommitQueue()
  readonly #log: Bytes
  /** Reads search these tables before LMDB, the newest first. */
  #tables: readonly RowTable[] = []
  readonly #applyQueue: ApplyQueue
  /** Records are appended to this segment; undefined until a commit needs it. */
  #active: Segment | undefined
  /** The place after the newest record. */
  #place: ChainPlace
  #segmentNumber: number
  readonly #next: NextSegment
  #committing: Promise<void> | undefined
  /** The reason why the outcome of a batch is unknown. The store then commits nothing more. */
  #lostFlush: StoreUnavailableError | undefined
  #cancelApply: Cancel | undefined
  /** The number of rows of the last ordinary segment, as an estimate for the next segment. */
  #rowsExpected = 0
  /** The active segment is old enough to be applied. */
  #isOld = false
  #reading: LoggedView | undefined
  #isWorking = false
  /** This process has recorded that the log is open. */
  #isOpenRecorded = false
  #isClosed = false

  constructor(options: LoggedOptions) {
    this.#path = options.path
    this.#timers = options.timers ?? systemTimers
    this.#freeBytes = options.freeBytes ?? (() => freeBytes(options.path))
    this.#disk = options.disk ?? systemDisk
    this.#segmentBytes = options.segmentBytes ?? segmentBytesDefault
    this.#onLostFlush = options.onLostFlush ?? (() => undefined)
    this.#lmdb = openFolder(options.path, { use: 'logged' })
    const position = beginLog(this.#lmdb)
    this.#log = position.log
    const folder = join(options.path, logFolder)
    const { files, segments } = readLog(folder, position)
    const last = segments.at(-1)
    if (last) writeEndAgain(folder, last)
    this.#place = last?.place ?? position
    this.#segmentNumber = last?.number ?? position.segment
    this.#files = new SegmentFiles(folder, this.#disk, this.#segmentBytes)
    const numbers = new Set(segments.map(({ number }) => number))
    this.#files.freeAll(
      files.filter(number => !numbers.has(number)),
      this.#segmentNumber + 1,
    )
    if (options.isFollowed) this.#durable = new DurableSequence(folder, 'write')
    this.#durable?.write(this.#place.sequence)
    this.#records = options.records
    this.#records?.begin(position.log, position, () => this.#lostFlush !== undefined)
    for (const { bytes, end, place } of segments)
      if (end > headerBytes) this.#records?.add(bytes.subarray(headerBytes, end), place)
    this.#next = new NextSegment(this.#files, this.#segmentBytes, this.#segmentNumber + 1)
    this.#applyQueue = new ApplyQueue(
      {
        path: options.path,
        lmdb: this.#lmdb,
        log: this.#log,
        files: this.#files,
        timers: this.#timers,
        freeBytes: this.#freeBytes,
        prepareNext: () => this.#next.ready(),
        hasNewerRecords: () => this.#active?.isEmpty === false,
        onRelease: () => this.#listTables(),
      },
      segments,
    )
    this.#listTables()
    if (!this.#applyQueue.isEmpty) this.#applyLater()
  }

  /** The sequence number of the newest durable record. */
  get logSequence(): number {
    return this.#place.sequence
  }

  get applyLag(): ApplyLag {
    const { bytes, lagMs } = this.#applyQueue
    return { bytes: bytes + (this.#active?.end ?? 0), lagMs }
  }

  read<T>(read: (view: View) => T): T {
    assert(!this.#isWorking, 'a transaction must not read beside its view')
    if (this.#reading) return read(this.#reading)
    if (this.#isClosed) throw this.#closedError()
    // Otherwise, lmdb-js would use the old snapshot until the next turn of the event loop.
    this.#lmdb.root.resetReadTxn()
    const tables = this.#tables.map(table => ({ table, limit: table.published }))
    const view = new LoggedView(new LmdbView(this.#lmdb.trees), tables, this.#place.sequence)
    this.#reading = view
    try {
      return read(view)
    } finally {
      this.#reading = undefined
      view.end()
    }
  }

  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T> {
    assert(!this.#isWorking, 'a transaction must not begin another')
    if (this.#isClosed) return Promise.reject(this.#closedError())
    if (this.#lostFlush) return Promise.reject(new StoreUnavailableError(this.#lostFlush.message))
    const result = this.#queue.add(work, systemClock.elapsedMs(), prepare)
    this.#committing ??= this.#commitAll()
    return result
  }

  watch(listener: () => void): () => void {
    if (this.#isClosed) throw this.#closedError()
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#committing
    this.#cancelApply?.()
    this.#endSegment()
    await this.#applyQueue.close()
    const next = await this.#next.prepared()
    if (next) await closeFile(next.descriptor)
    if (this.#applyQueue.isEmpty) this.#markLogApplied()
    await closeFolder(this.#lmdb)
    this.#durable?.close()
    await this.#records?.end()
  }

  /** Records that LMDB contains all rows of the log. If this write fails, the next start replays the log. */
  #markLogApplied(): void {
    try {
      markLogApplied(this.#lmdb, true, this.#freeBytes())
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
      if (!(error instanceof ForgottenCommitError) && !isFull) throw error
    }
  }

  async #commitAll(): Promise<void> {
    // Transactions that arrive in the same turn of the event loop share the commit.
    await turn()
    let durable: DurableBatch | undefined
    for (;;) {
      // The disk already writes the next batch while the clients of the previous batch get their responses.
      const next = this.#queue.isEmpty ? undefined : this.#commit()
      for (const job of durable?.jobs ?? []) completeJob(job)
      if (durable?.hasWritten) this.#listeners.notify()
      if (next === undefined) break
      durable = await next
    }
    this.#committing = undefined
    if (this.#isOld) this.#endSegment()
  }

  /** Rejects the transactions of a batch that fails. */
  async #commit(): Promise<DurableBatch> {
    let jobs: Job[] | undefined
    let hasWritten = false
    try {
      if (this.#lostFlush) throw this.#lostFlush
      if (this.#isOld || this.#active?.isComplete === false) this.#endSegment()
      await this.#applyQueue.waitForRoom()
      this.#active ??= await this.#begin()
      jobs = this.#queue.take()
      if (jobs[0]?.prepare && !(await prepareBatch(jobs))) return { jobs: [], hasWritten: false }
      const batch = this.#run(this.#active, jobs)
      hasWritten = batch.writes.length > 0
      if (hasWritten) this.#assertRoom(batch)
      const ranMs = systemClock.elapsedMs()
      if (hasWritten) await this.#append(batch)
      this.#queue.flushed(systemClock.elapsedMs() - ranMs)
      return { jobs, hasWritten }
    } catch (error) {
      this.#active?.revert()
      const failed = jobs ?? this.#queue.takeOlderThan(Number.POSITIVE_INFINITY)
      const message = `cannot write to the store in ${this.#path}: ${causeText(error)}`
      const isUnknown = jobs !== undefined && this.#lostFlush !== undefined
      const reason = isUnknown ? this.#lostFlush : new StoreUnavailableError(message, { cause: error })
      for (const job of failed) job.reject(reason)
      return { jobs: [], hasWritten: false }
    }
  }

  /**
   * Runs transactions until the batch or the segment is full, and requeues the others. A transaction that writes in
   * pieces is the last of its batch. Returns the writes of the executed transactions, together.
   */
  #run(active: Segment, batch: Job[]): JobWrites {
    const all: Write[] = []
    let pieces: EncodedWrites | undefined
    this.#lmdb.root.resetReadTxn()
    this.#isWorking = true
    try {
      let count = 0
      while (count < batch.length && active.isComplete && all.length < batchWritesMax && !pieces) {
        const tables = this.#tables.map(table => ({ table, limit: Number.MAX_SAFE_INTEGER }))
        const view = new LoggedView(new LmdbView(this.#lmdb.trees), tables)
        const done = runJob(batch[count++] as Job, view)
        view.end()
        // The record contains the commit row of each transaction: a restore to a point in time may end between two of
        // them.
        for (const write of done.writes) {
          all.push(write)
          active.add(write)
        }
        pieces = done.pieces
      }
      this.#queue.putBack(batch.splice(count))
      return { writes: all, ...(pieces && { pieces }) }
    } finally {
      this.#isWorking = false
    }
  }

  #assertRoom({ pieces, writes }: JobWrites): void {
    let bytes = pieces?.bytesMax ?? 0
    for (const { key, value } of writes) bytes += key.length + (value?.length ?? 0)
    assertRoom({ rows: writes.length + (pieces?.rowsMax ?? 0), bytes }, this.#freeBytes())
  }

  /** Makes the writes of a batch durable and then visible. */
  async #append({ pieces, writes }: JobWrites): Promise<void> {
    let active = this.#active as Segment
    if (!active.hasRoom(pieces?.bytesMax ?? 0)) {
      active.revert()
      this.#endSegment()
      const bytes = bytesFor(writes) + (pieces?.bytesMax ?? 0)
      active = await this.#begin(Math.max(this.#segmentBytes, bytes), pieces?.rowsMax)
      for (let at = 0; at < writes.length; at += batchWritesMax) {
        if (at > 0) await turn()
        for (const write of writes.slice(at, at + batchWritesMax)) active.add(write)
      }
      assert(active.hasRoom(pieces?.bytesMax ?? 0), 'a new segment has space for its record')
    }
    for (const piece of pieces ?? []) {
      active.addPart(piece)
      await turn()
    }
    const record = active.seal()
    await appendDurably(this.#disk, active, record).catch((error: unknown) => {
      // A retry would not help: a later flush may succeed even if the batch is not on disk.
      if (error instanceof UnknownAppendError)
        this.#loseFlush('the disk has failed a flush of the commit log', error.cause)
      throw error
    })
    active.accept(record)
    this.#place = record.place
    this.#applyQueue.recordAppended()
    this.#applyLater()
    // The batch is committed, so an error from here on must not reject its transactions as uncommitted. Records are
    // shipped before they are published, so the backup contains every acknowledged commit.
    try {
      const recordStart = Math.max(record.start, headerBytes)
      this.#records?.add(active.bytes.subarray(recordStart, record.end), record.place)
      await this.#durable?.publish(record.place.sequence)
    } catch (error) {
      this.#loseFlush('a commit cannot be published to other processes', error)
    }
  }

  /** The outcome of the current batch is unknown to its clients, so the store rejects all further commits. */
  #loseFlush(what: string, cause: unknown): never {
    const message = `${what} in ${this.#path}: ${causeText(cause)}`
    this.#lostFlush = new StoreUnavailableError(message, { cause, outcome: 'unknown' })
    this.#onLostFlush(this.#lostFlush)
    throw this.#lostFlush
  }

  #applyLater(): void {
    this.#cancelApply ??= this.#timers.after(applyAfterMs, () => {
      this.#isOld = true
      if (this.#committing === undefined) this.#endSegment()
    })
  }

  /** Begins a segment in the prepared file, or in a new file if `bytes` exceeds the ordinary size. */
  async #begin(bytes = this.#segmentBytes, rows = this.#rowsExpected): Promise<Segment> {
    const isLarge = bytes > this.#segmentBytes
    const file = isLarge ? await this.#replaceNext(bytes) : await this.#next.ready()
    // Records that the log may now contain rows that are not in LMDB.
    if (!this.#isOpenRecorded) await this.#recordOpen()
    this.#segmentNumber = file.number
    void this.#next.prepare(this.#segmentNumber + 1)
    const segment = new Segment(file, this.#log, this.#place, rows)
    this.#active = segment
    this.#listTables()
    return segment
  }

  async #replaceNext(bytes: number): Promise<SegmentFile> {
    const { descriptor, number } = await this.#next.ready()
    await closeFile(descriptor)
    const empty = this.#active
    if (empty !== undefined) {
      // The larger segment gets the number of the empty segment, because a segment without records would be a gap in
      // the log.
      this.#active = undefined
      this.#files.free(number)
      await closeFile(empty.file.descriptor)
      this.#segmentNumber = empty.number - 1
    }
    return this.#next.prepare(this.#segmentNumber + 1, bytes)
  }

  async #recordOpen(): Promise<void> {
    for (let attempt = 1; !this.#isOpenRecorded; attempt++) {
      try {
        markLogApplied(this.#lmdb, false, this.#freeBytes())
        this.#isOpenRecorded = true
      } catch (error) {
        if (!(error instanceof ForgottenCommitError) || attempt === recoveriesMax) throw error
        await wait(recoveryIntervalMs)
      }
    }
  }

  /** Queues the active segment for LMDB. */
  #endSegment(): void {
    this.#isOld = false
    this.#cancelApply?.()
    this.#cancelApply = undefined
    const active = this.#active
    if (active !== undefined && !active.isEmpty) {
      const { bytes, end, number, place, table } = active
      if (bytes.length === this.#segmentBytes) this.#rowsExpected = table.rows
      this.#active = undefined
      this.#applyQueue.add({ number, bytes, table, end, place })
      this.#listTables()
      void closeFile(active.file.descriptor)
    }
    this.#applyQueue.start()
  }

  #listTables(): void {
    const tables = [...this.#applyQueue.tables]
    if (this.#active) tables.push(this.#active.table)
    this.#tables = tables.reverse()
  }

  #closedError(): StoreUnavailableError {
    return new StoreUnavailableError(`the store in ${this.#path} is closed`)
  }
}

function bytesFor(writes: readonly Write[]): number {
  let bytes = segmentSlack
  for (const write of writes) bytes += writeBytesMax(write)
  return bytes
}

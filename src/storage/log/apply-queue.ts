// Queues segments (parts of the commit log) for a separate thread, which applies them to LMDB.
//
// Applied segments and their files stay readable until a later snapshot of LMDB contains their rows: LMDB can forget a
// commit when another process opens the folder at the same moment (lmdb/newest-commit.ts). Until the other process has
// restored the commit, snapshots lack its rows.

import { Worker } from 'node:worker_threads'
import { assert } from '../../base/assert.ts'
import { systemClock } from '../../base/clock.ts'
import { programFile } from '../../base/program-files.ts'
import type { Timers } from '../../base/timers.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import type { OpenFolder } from '../lmdb/folder.ts'
import { type ApplyRequest, applySegment } from './apply.ts'
import type { ApplyReply } from './apply-thread.ts'
import { readPosition } from './position.ts'
import type { ReadSegment } from './replay.ts'
import type { RowTable } from './row-table.ts'
import type { SegmentFiles } from './segment-files.ts'

const threadFile = programFile('storage/log/apply-thread.ts')

/** Sends segments to the thread. */
class Applier {
  readonly #path: string
  /** Undefined until a request starts the thread, and after the thread has exited. */
  #worker: Worker | undefined
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined

  /** `path`: the folder, which the thread opens separately. */
  constructor(path: string) {
    this.#path = path
  }

  /** Resolves when the rows are on disk in LMDB. Only one request may run at a time. */
  apply(request: ApplyRequest): Promise<void> {
    assert(this.#waiting === undefined, 'one transaction applies segments at a time')
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    return new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject }
      worker.postMessage(request)
    })
  }

  /** The thread must be idle. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    worker.ref()
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => resolve())
    })
    worker.postMessage('close')
    await ended
  }

  #start(): Worker {
    const worker = new Worker(threadFile, { workerData: this.#path, execArgv: [] })
    worker.on('message', ({ failure }: ApplyReply) => this.#finish(failure))
    worker.on('error', (error: Error) => this.#finish(error.message))
    worker.once('exit', () => {
      this.#worker = undefined
      this.#finish('the thread that applies the commit log has exited')
    })
    return worker
  }

  #finish(failure: string | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#worker?.unref()
    if (failure === undefined) waiting?.resolve()
    else waiting?.reject(new Error(failure))
  }
}

/** A segment to which no more records are added. */
type FullSegment = Pick<ReadSegment, 'number' | 'bytes' | 'table' | 'end' | 'place'>

/** Milliseconds between a failed write to LMDB and the next attempt. */
const applyAgainMs = 1_000
/** Milliseconds after which applied segments are released, unless the next segment is applied earlier. */
const releaseAfterMs = 1_000
/** At this number of waiting segments, commits wait. */
const waitingMax = 4

interface ApplyQueueOptions {
  readonly lmdb: OpenFolder
  readonly path: string
  readonly log: Bytes
  readonly files: SegmentFiles
  readonly timers: Timers
  /** Free bytes on the disk of the folder. */
  readonly freeBytes: () => number
  /**
   * Resolves when the file of the next segment exists. After a crash, the store can be opened only if the log contains
   * the segment that follows the position stored in LMDB.
   */
  readonly prepareNext: () => Promise<unknown>
  /** Returns whether the log has records after the segments in the queue. */
  readonly hasNewerRecords: () => boolean
  /** Called when segments have been released, so that their tables are no longer in {@link ApplyQueue.tables}. */
  readonly onRelease: () => void
}

export class ApplyQueue {
  readonly #options: ApplyQueueOptions
  readonly #applier: Applier
  /** In both lists, the oldest segment comes first. */
  #waiting: readonly FullSegment[]
  #applied: readonly FullSegment[] = []
  #applying: Promise<void> | undefined
  #failure: Error | undefined
  /** When the oldest record that LMDB lacks was appended: an approximate time on the monotonic clock. */
  #behindSinceMs: number | undefined
  #isClosed = false

  /** `waiting`: segments that the previous process had not applied. */
  constructor(options: ApplyQueueOptions, waiting: readonly FullSegment[]) {
    this.#options = options
    this.#applier = new Applier(options.path)
    this.#waiting = waiting
    if (waiting.length > 0) this.recordAppended()
  }

  /** All segments are in LMDB. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** The tables that readers search before they read LMDB; the list begins with the oldest table. */
  get tables(): readonly RowTable[] {
    return [...this.#applied, ...this.#waiting].map(({ table }) => table)
  }

  /** Bytes of the segments that are not in LMDB. */
  get bytes(): number {
    return this.#waiting.reduce((sum, { end }) => sum + end, 0)
  }

  /** The lag of LMDB behind the log. */
  get lagMs(): number {
    return this.#behindSinceMs === undefined ? 0 : systemClock.elapsedMs() - this.#behindSinceMs
  }

  recordAppended(): void {
    this.#behindSinceMs ??= systemClock.elapsedMs()
  }

  add(segment: FullSegment): void {
    this.#waiting = [...this.#waiting, segment]
    this.start()
  }

  start(): void {
    if (!this.#isClosed && this.#applying === undefined && !this.isEmpty) void this.#apply()
  }

  /** Limits the memory for rows: waits until some segments have been applied. Throws when LMDB cannot be written. */
  async waitForRoom(): Promise<void> {
    while (this.#waiting.length >= waitingMax) {
      await this.#apply()
      if (this.#failure) throw this.#failure
    }
  }

  /** Applies all waiting segments, unless LMDB cannot be written. The caller must not add more segments. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#applying
    while (!this.isEmpty && this.#failure === undefined) await this.#apply()
    await this.#applier.close()
  }

  /**
   * Applies the oldest waiting segment, and then starts the next; returns the running promise if there is one. Stores a
   * failure in `#failure`.
   */
  #apply(): Promise<void> {
    this.#applying ??= this.#applyOldest().finally(() => {
      this.#applying = undefined
      if (this.#failure) this.#options.timers.after(applyAgainMs, () => this.start())
      else this.start()
    })
    return this.#applying
  }

  async #applyOldest(): Promise<void> {
    const { freeBytes, hasNewerRecords, lmdb, log, prepareNext, timers } = this.#options
    const beganMs = systemClock.elapsedMs()
    const [oldest] = this.#waiting
    assert(oldest !== undefined, 'a segment waits to be applied')
    const { bytes, end, number: segment, place } = oldest
    const position = { ...place, log, segment, isLogApplied: false }
    try {
      // Releases the segments that the previous transaction applied.
      this.#release()
      await prepareNext()
      const request = { memory: bytes.buffer as SharedArrayBuffer, end, position, free: freeBytes() }
      // This thread applies the rows itself: starting a thread would take longer, and no requests are served any more.
      if (this.#isClosed) applySegment(lmdb, request)
      else await this.#applier.apply(request)
    } catch (error) {
      this.#failure = error as Error
      return
    }
    this.#failure = undefined
    this.#waiting = this.#waiting.slice(1)
    this.#applied = [...this.#applied, oldest]
    // The oldest record that LMDB lacks now was appended at about `beganMs`.
    this.#behindSinceMs = this.isEmpty && !hasNewerRecords() ? undefined : beganMs
    timers.after(releaseAfterMs, () => this.#releaseLater())
  }

  #releaseLater(): void {
    if (this.#isClosed) return
    try {
      this.#release()
    } catch {
      // LMDB cannot be read now: the segments stay in memory until the next attempt.
    }
    if (this.#applied.length > 0) this.#options.timers.after(releaseAfterMs, () => this.#releaseLater())
  }

  /** Drops the applied segments whose rows are in a new snapshot of LMDB; their files are reused. */
  #release(): void {
    if (this.#applied.length === 0) return
    const { files, lmdb, onRelease } = this.#options
    lmdb.root.resetReadTxn()
    const newest = readPosition(lmdb.root)?.segment ?? 0
    for (const { number } of this.#applied) if (number <= newest) files.free(number)
    this.#applied = this.#applied.filter(({ number }) => number > newest)
    onRelease()
  }
}

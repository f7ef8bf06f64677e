// The LMDB engine without a commit log: one environment in one folder, which several processes may share.
//
// Transactions that arrive while a commit is being written to disk form the next batch: one write transaction, one
// flush (group commit). The file kv/commit-queue.ts limits the size of the batch, so that one batch is evaluated while
// another batch is flushed. The library lmdb-js opens the write transaction on a separate thread, and calls back to run
// the transaction functions. So the main thread waits neither for the writer's lock nor for the disk. A commit becomes
// visible to readers of all processes only when the commit is on disk, so no reader sees data that a crash could
// revoke. With `durable: false`, a commit is visible before it is on disk.

import { assert } from '../../base/assert.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { systemTimers, type Timers, wait } from '../../base/timers.ts'
import { allWrites } from '../kv/batch.ts'
import { CommitQueue, completeJob, type Job, runJob } from '../kv/commit-queue.ts'
import { Listeners } from '../kv/engine-parts.ts'
import type { KeyValueStore, View, Work, Write } from '../kv/kv-contract.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import { closeFolder, type OpenFolder, openFolder } from './folder.ts'
import { ForgottenCommitError } from './newest-commit.ts'
import { assertRoom, freeBytes } from './room.ts'
import { LmdbView } from './view.ts'

interface LmdbOptions {
  /** The folder, which is created if it is missing. */
  readonly path: string
  /** Address space for the data, in bytes, which uses neither memory nor disk. The default is 1 TiB. */
  readonly mapSizeBytes?: number
  readonly timers?: Timers
  /** The clock that measures evaluation and flushes. */
  readonly clock?: Clock
  /**
   * If false, commits are not flushed: they survive a crash of the process, but not of the machine, after which the
   * folder must be deleted. The default is true.
   */
  readonly durable?: boolean
  /** The default returns what the system reports. */
  readonly freeBytes?: () => number
}

/**
 * Throws {@link StoreUnavailableError}. `watch` reports commits of this process when `transact` resolves, and commits
 * of other processes within some milliseconds.
 */
export function openLmdb(options: LmdbOptions): KeyValueStore {
  return new LmdbStore(options)
}

/** Interval at which commits of other processes are detected while there are listeners. */
const watchIntervalMs = 10

/**
 * After this number of rows, the remaining transactions wait for the next batch, because more rows would block the
 * thread for long. A single transaction may have more rows.
 */
const batchWritesMax = 4000

/** Milliseconds between two attempts to write after LMDB has forgotten a commit (newest-commit.ts). */
const recoveryIntervalMs = 2
/** Milliseconds after which the attempts to write end, and the writes fail. */
const recoveryMsMax = 5_000

/**
 * Key of the number of commits so far (8 bytes), in the environment's main table. A process detects commits of other
 * processes by a change of this number.
 */
const commitCountKey = Buffer.from('commits')

class LmdbStore implements KeyValueStore {
  readonly #path: string
  readonly #lmdb: OpenFolder
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #freeBytes: () => number
  readonly #listeners = new Listeners()
  readonly #commits = new Set<Promise<void>>()
  #stopWatching: (() => void) | undefined
  /** The number of commits at the last notification of the listeners. */
  #seen = 0n
  /** A commit takes the waiting transactions when its write transaction is open. */
  readonly #queue = new CommitQueue()
  #reading: LmdbView | undefined
  #isWorking = false
  #isClosed = false
  /** When this process detected that LMDB had forgotten a commit, on the monotonic clock. */
  #forgottenSinceMs: number | undefined

  constructor(options: LmdbOptions) {
    this.#path = options.path
    this.#timers = options.timers ?? systemTimers
    this.#clock = options.clock ?? systemClock
    this.#freeBytes = options.freeBytes ?? (() => freeBytes(options.path))
    this.#lmdb = openFolder(options.path, options)
  }

  read<T>(read: (view: View) => T): T {
    assert(!this.#isWorking, 'a transaction must not read beside its view')
    if (this.#reading) return read(this.#reading)
    if (this.#isClosed) throw this.#closedError()
    // Otherwise, lmdb-js would use the old snapshot until the next turn of the event loop.
    this.#lmdb.root.resetReadTxn()
    const view = new LmdbView(this.#lmdb.trees)
    this.#reading = view
    try {
      return read(view)
    } finally {
      this.#reading = undefined
      view.end()
    }
  }

  /** `prepare` must be undefined: this engine cannot hold the writer's lock while a promise is pending. */
  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T> {
    assert(prepare === undefined, 'no transaction of this engine has a preparation')
    assert(!this.#isWorking, 'a transaction must not begin another')
    if (this.#isClosed) return Promise.reject(this.#closedError())
    const isFirst = this.#queue.isEmpty
    const result = this.#queue.add(work, this.#clock.elapsedMs())
    if (isFirst) this.#beginCommit()
    return result
  }

  #beginCommit(): void {
    const commit = this.#commit().finally(() => this.#commits.delete(commit))
    this.#commits.add(commit)
  }

  watch(listener: () => void): () => void {
    if (this.#isClosed) throw this.#closedError()
    if (!this.#stopWatching) {
      this.#seen = this.#commitCount()
      this.#stopWatching = this.#timers.every(watchIntervalMs, () => this.#checkForOthers())
    }
    const remove = this.#listeners.add(listener)
    return () => {
      remove()
      if (this.#listeners.isEmpty) this.#endWatch()
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#endWatch()
    while (this.#commits.size > 0) await Promise.allSettled(this.#commits)
    await closeFolder(this.#lmdb)
  }

  async #commit(): Promise<void> {
    let batch: Job[] | undefined
    let ranMs = 0
    try {
      // If the callback throws, LMDB rolls back the child transaction, which contains all writes of the batch.
      await this.#lmdb.root.childTransaction(() => {
        this.#assertNewest()
        batch = this.#queue.take()
        try {
          this.#queue.putBack(batch.splice(this.#run(batch)))
        } finally {
          // The remaining transactions get another commit, which begins after this callback.
          if (!this.#queue.isEmpty) queueMicrotask(() => this.#beginCommit())
        }
        ranMs = this.#clock.elapsedMs()
      })
    } catch (error) {
      if (error instanceof ForgottenCommitError && this.#mayRecover()) {
        await wait(recoveryIntervalMs, this.#timers)
        this.#beginCommit()
        return
      }
      // If no write transaction has begun, or `#assertNewest` has thrown, no other commit would take the waiting
      // transactions.
      batch ??= this.#queue.takeOlderThan(Number.POSITIVE_INFINITY)
      const reason = await this.#explain(error)
      for (const job of batch) job.reject(reason)
      return
    }
    this.#queue.flushed(this.#clock.elapsedMs() - ranMs)
    for (const job of batch ?? []) completeJob(job)
    this.#notifyListeners()
  }

  /** Throws {@link ForgottenCommitError} if the running write transaction would overwrite a commit. */
  #assertNewest(): void {
    const { newest, root } = this.#lmdb
    // lmdb-js creates a second promise for every commit, whose rejection would crash the process.
    root.committed.then(undefined, () => {})
    newest.assertNotForgotten(root)
    this.#forgottenSinceMs = undefined
  }

  /** Returns whether the process that made LMDB forget a commit may still restore the commit. */
  #mayRecover(): boolean {
    const nowMs = this.#clock.elapsedMs()
    this.#forgottenSinceMs ??= nowMs
    return nowMs - this.#forgottenSinceMs < recoveryMsMax
  }

  /**
   * Runs transactions in the write transaction of their batch, until {@link batchWritesMax} rows are written. Returns
   * the number of transactions that have run.
   */
  #run(batch: readonly Job[]): number {
    this.#isWorking = true
    try {
      let count = 0
      let writes = 0
      let bytes = 0
      while (count < batch.length && writes < batchWritesMax) {
        const view = new LmdbView(this.#lmdb.trees)
        const done = allWrites(runJob(batch[count++] as Job, view))
        view.end()
        for (const write of done) this.#apply(write)
        writes += done.length
        for (const { key, value } of done) bytes += key.length + (value?.length ?? 0)
      }
      if (writes > 0) assertRoom({ rows: writes, bytes }, this.#freeBytes())
      if (writes > 0) this.#countCommit()
      return count
    } finally {
      this.#isWorking = false
    }
  }

  #apply({ key, value }: Write): void {
    const tree = this.#lmdb.trees.of(key)
    if (value) tree.put(key, value)
    else tree.remove(key)
  }

  #countCommit(): void {
    const count = Buffer.alloc(8)
    count.writeBigUInt64BE(this.#commitCount() + 1n)
    this.#lmdb.root.put(commitCountKey, count)
  }

  /** The number of commits of all processes, read in the current transaction, or else from the newest state. */
  #commitCount(): bigint {
    if (!this.#isWorking && !this.#reading) this.#lmdb.root.resetReadTxn()
    const count = this.#lmdb.root.get(commitCountKey)
    return count ? Buffer.from(count.buffer, count.byteOffset, 8).readBigUInt64BE() : 0n
  }

  /**
   * Does nothing while a commit of this process is running: the commit notifies the listeners when its promise
   * resolves, shortly after the commit becomes visible. With an earlier notification, streams would get the event
   * before the writing client gets its response. The driver of version 10 loses events that arrive while its program
   * waits for a response over the same HTTP/2 session.
   */
  #checkForOthers(): void {
    if (this.#commits.size === 0) this.#notifyListeners()
  }

  /** Does nothing if there are no new commits. */
  #notifyListeners(): void {
    if (this.#listeners.isEmpty || this.#isClosed) return
    const count = this.#commitCount()
    if (count === this.#seen) return
    this.#seen = count
    this.#listeners.notify()
  }

  #endWatch(): void {
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }

  /** lmdb-js provides the reason as a promise that rejects. */
  async #explain(error: unknown): Promise<StoreUnavailableError> {
    let cause = error
    if (error instanceof Error && 'commitError' in error) {
      await Promise.resolve(error.commitError).catch(reason => {
        cause = reason
      })
    }
    return new StoreUnavailableError(`cannot write to the store in ${this.#path}: ${causeText(cause)}`, {
      cause,
    })
  }

  #closedError(): StoreUnavailableError {
    return new StoreUnavailableError(`the store in ${this.#path} is closed`)
  }
}

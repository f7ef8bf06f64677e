// The embedded engine: one LMDB environment in one folder, which several processes may share.
//
// Transactions that arrive while a commit is on its way to the disk form the next batch: one write transaction, one
// flush (group commit), unless that would make evaluation and disk wait for each other (commit-pace.ts). lmdb-js opens
// the transaction on a thread of its own and calls back for what runs in it, so neither the writer's lock nor the disk is
// waited for here. A commit becomes visible to readers, here and in other processes, only once it is on disk; so no reader
// ever sees what a crash could take back.

import { assert } from '../../base/assert.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { systemTimers, type Timers } from '../../base/timers.ts'
import { allWrites } from './batch.ts'
import { CommitQueue, type Job, runJob, settle } from './commit-queue.ts'
import type { Bytes, KeyValueStore, View, Work, Write } from './contract.ts'
import { StoreUnavailableError, wordsOf } from './errors.ts'
import { HeldWrite } from './held-write.ts'
import { Listeners } from './listeners.ts'
import { type Environment, openFolder } from './lmdb-folder.ts'
import { ForgottenCommitError, type NewestCommit } from './lmdb-newest-commit.ts'
import { assertRoom, freeBytes } from './lmdb-room.ts'
import type { Trees } from './lmdb-trees.ts'
import { LmdbView } from './lmdb-view.ts'

interface LmdbOptions {
  /** The data directory; created when missing. */
  readonly path: string
  /** Address space set aside for the data, in bytes; 1 TiB when absent. Costs neither memory nor disk. */
  readonly mapSizeBytes?: number
  /** How often commits of other processes are looked for while there are listeners, in milliseconds; 10 when absent. */
  readonly watchIntervalMs?: number
  readonly timers?: Timers
  /** Tells how long evaluation and flushes take. */
  readonly clock?: Clock
  /**
   * False: commits are not flushed to disk. They survive a crash of the process, not one of the machine, after which
   * the folder must be thrown away. True when absent.
   */
  readonly durable?: boolean
  /** Bytes that are free on the disk of the folder; the system's answer when absent. */
  readonly freeBytes?: () => number
}

/**
 * Opens the store in a folder. Throws {@link StoreUnavailableError} when that is impossible.
 * `watch` hears of own commits with the promise of `transact`, of others' within `watchIntervalMs`.
 */
export function openLmdb(options: LmdbOptions): KeyValueStore {
  return new LmdbStore(options)
}

const watchIntervalMsDefault = 10

/**
 * Rows that a batch writes before what is left of it has to wait for the next one: applying more would hold the thread for
 * long, and a single transaction has no more (the processes of the slow lane serve no other query meanwhile).
 */
const batchWritesMax = 4000

/** Milliseconds between attempts to write while LMDB has forgotten a commit, and after which they fail. */
const recoveryIntervalMs = 2
const recoveryMsMax = 5_000

/** Key, in the environment's own table, of the number of commits so far (8 bytes): tells processes of each other's. */
const commitCountKey = Buffer.from('commits')

class LmdbStore implements KeyValueStore {
  readonly #path: string
  readonly #root: Environment
  readonly #trees: Trees
  readonly #newest: NewestCommit
  readonly #timers: Timers
  readonly #clock: Clock
  readonly #watchIntervalMs: number
  readonly #freeBytes: () => number
  readonly #listeners = new Listeners()
  readonly #commits = new Set<Promise<void>>()
  #stopWatching: (() => void) | undefined
  /** The number of commits the listeners know of. */
  #seen = 0n
  /** Those whose write transaction has not been opened yet: one commit that has been begun will take them. */
  readonly #queue = new CommitQueue()
  #reading: LmdbView | undefined
  #isWorking = false
  #isClosed = false
  /** Since when LMDB has forgotten a commit, on the steady clock, in milliseconds. */
  #forgottenSinceMs: number | undefined

  constructor(options: LmdbOptions) {
    this.#path = options.path
    this.#timers = options.timers ?? systemTimers
    this.#clock = options.clock ?? systemClock
    this.#watchIntervalMs = options.watchIntervalMs ?? watchIntervalMsDefault
    this.#freeBytes = options.freeBytes ?? (() => freeBytes(options.path))
    const { newest, root, trees } = openFolder(options.path, options)
    this.#root = root
    this.#trees = trees
    this.#newest = newest
  }

  /** A read inside a read shares its snapshot. */
  read<T>(read: (view: View) => T): T {
    assert(!this.#isWorking, 'a transaction must not read beside its view')
    if (this.#reading) return read(this.#reading)
    if (this.#isClosed) throw this.#closedError()
    // The next access takes a new snapshot; lmdb-js would keep the old one until the event loop turns.
    this.#root.resetReadTxn()
    const view = new LmdbView(this.#trees)
    this.#reading = view
    try {
      return read(view)
    } finally {
      this.#reading = undefined
      view.end()
    }
  }

  transact<T>(work: (view: View) => Work<T>, prepare?: () => Promise<void>): Promise<T> {
    assert(prepare === undefined, 'other processes commit meanwhile')
    assert(!this.#isWorking, 'a transaction must not begin another')
    if (this.#isClosed) return Promise.reject(this.#closedError())
    const isFirst = this.#queue.isEmpty
    const result = this.#queue.add(work, this.#clock.elapsedMs())
    if (isFirst) this.#beginCommit()
    return result
  }

  /** Begins the commit of what waits. */
  #beginCommit(): void {
    const commit = this.#commit().finally(() => this.#commits.delete(commit))
    this.#commits.add(commit)
  }

  watch(listener: () => void): () => void {
    if (this.#isClosed) throw this.#closedError()
    if (!this.#stopWatching) {
      this.#seen = this.#commitCount()
      this.#stopWatching = this.#timers.every(this.#watchIntervalMs, () => this.#lookForOthers())
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
    await this.#root.close()
    this.#newest.close()
  }

  async #commit(): Promise<void> {
    let batch: Job[] | undefined
    let ranMs = 0
    try {
      // A child transaction: if a change fails halfway, what the batch has written is undone as a whole.
      await this.#root.childTransaction(() => {
        this.#assertNewest()
        batch = this.#queue.take()
        try {
          this.#queue.putBack(batch.splice(this.#run(batch)))
        } finally {
          // Those that are left have a commit of their own, which does not begin inside of this transaction.
          if (!this.#queue.isEmpty) queueMicrotask(() => this.#beginCommit())
        }
        ranMs = this.#clock.elapsedMs()
      })
    } catch (error) {
      if (error instanceof ForgottenCommitError && this.#mayRecover()) {
        await new Promise<void>(resolve => {
          this.#timers.after(recoveryIntervalMs, resolve)
        })
        this.#beginCommit()
        return
      }
      // Without a write transaction no other commit takes those that wait.
      batch ??= this.#queue.takeOlderThan(Number.POSITIVE_INFINITY)
      const reason = await this.#explain(error)
      for (const job of batch) job.reject(reason)
      return
    }
    this.#queue.flushed(this.#clock.elapsedMs() - ranMs)
    for (const job of batch ?? []) settle(job)
    this.#announce()
  }

  /** Throws {@link ForgottenCommitError} if the write transaction that runs would overwrite a commit. */
  #assertNewest(): void {
    // lmdb-js makes a second promise of every commit; unless it is handled, a failed commit ends the process.
    this.#root.committed.then(undefined, () => {})
    this.#newest.check(this.#root)
    this.#forgottenSinceMs = undefined
  }

  /** Returns true while the process that caused the fault may still correct it ({@link openFolder}). */
  #mayRecover(): boolean {
    const nowMs = this.#clock.elapsedMs()
    this.#forgottenSinceMs ??= nowMs
    return nowMs - this.#forgottenSinceMs < recoveryMsMax
  }

  /** Runs transaction functions in the write transaction of their batch; how many of them. */
  #run(batch: readonly Job[]): number {
    this.#isWorking = true
    try {
      const held = new HeldWrite(write => this.#apply(write))
      let count = 0
      let writes = 0
      let bytes = 0
      while (count < batch.length && writes < batchWritesMax) {
        const view = new LmdbView(this.#trees, held)
        const done = allWrites(runJob(batch[count++] as Job, view))
        view.end()
        held.add(done)
        writes += done.length
        for (const { key, value } of done) bytes += key.length + (value?.length ?? 0)
      }
      if (writes > 0) assertRoom({ rows: writes, bytes }, this.#freeBytes())
      held.release()
      if (writes > 0) this.#countCommit()
      return count
    } finally {
      this.#isWorking = false
    }
  }

  #apply({ key, value }: Write): void {
    const tree = this.#trees.of(key)
    if (value) tree.put(key, value)
    else tree.remove(key)
  }

  #countCommit(): void {
    const count = Buffer.alloc(8)
    count.writeBigUInt64BE(this.#commitCount() + 1n)
    this.#root.put(commitCountKey, count)
  }

  /** Commits of all processes so far, as the current transaction sees it. */
  #commitCount(): bigint {
    if (!this.#isWorking && !this.#reading) this.#root.resetReadTxn()
    return decodeCount(this.#root.get(commitCountKey))
  }

  /**
   * Waits for the commits of this process, which announce themselves: visible a moment before their promises are kept, they
   * would be told to streams before the client that wrote. The driver of version 10 loses what a stream tells while its
   * program waits for a response over the same HTTP/2 session.
   */
  #lookForOthers(): void {
    if (this.#commits.size === 0) this.#announce()
  }

  /** Tells the listeners if there are commits they have not heard of. */
  #announce(): void {
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

  /** Why a commit failed. lmdb-js hands the reason over as a promise that rejects. */
  async #explain(error: unknown): Promise<StoreUnavailableError> {
    let cause = error
    if (error instanceof Error && 'commitError' in error) {
      await Promise.resolve(error.commitError).catch(reason => {
        cause = reason
      })
    }
    return new StoreUnavailableError(`cannot write to the store in ${this.#path}: ${wordsOf(cause)}`, {
      cause,
    })
  }

  #closedError(): StoreUnavailableError {
    return new StoreUnavailableError(`the store in ${this.#path} is closed`)
  }
}

function decodeCount(count: Bytes | undefined): bigint {
  return count ? Buffer.from(count.buffer, count.byteOffset, 8).readBigUInt64BE() : 0n
}

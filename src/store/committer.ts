// The way of a write: evaluated on a snapshot outside any lock, then, under the writer's lock, compared with what was
// committed since, given its time and applied. A stale attempt that was short is evaluated again right there, on the
// newest state, so that nobody starves; one that takes long is tried again outside, so that nobody waits for it.
//
// Each commit is announced on the timeline before it is evaluated, and its writes are made for the time it gets then.
// If another commit has come up to that time first, they are made for a later one (retime.ts).
//
// An attempt of the slow lane that is large is committed by the process that made it, while nothing is committed here.

import type { MemoryBound, Release } from '../base/memory-bound.ts'
import { SharedGate } from '../base/shared-gate.ts'
import { type Announcement, commitDistance } from '../base/timeline.ts'
import type { ForeignBatch, KeyValueStore, View, Work, Write } from '../kv/contract.ts'
import { RecentWrites } from '../kv/recent-writes.ts'
import { limits } from '../limits.ts'
import type { Micros } from '../values/value.ts'
import { attemptOn, type Evaluated, evaluateOn, type StoreAttempt, stillHolds, writesAt } from './attempt.ts'
import {
  type CommitLeave,
  ContendedTransaction,
  type DistantCommit,
  type KeptAttempt,
  type TransactionOutcome,
  type WriteOptions,
} from './contract.ts'
import { commitOf, commitWrite, lastCommit } from './last-commit.ts'
import type { CommitRecord } from './records.ts'
import type { SnapshotTimes } from './snapshot-times.ts'
import type { StoreTransaction, TransactionParts } from './transaction.ts'

type TransactionWork<T> = (transaction: StoreTransaction) => T

/** What became of an attempt under the lock; `later`: it is stale, and the others have waited long enough. */
type Decision<T> = TransactionOutcome<T> | 'stale' | 'later'

/** An attempt that took longer is not evaluated under the lock, in microseconds. */
const shortMicros = 10_000
/** What a batch of commits may evaluate under the lock before the rest has to wait for the next, in microseconds. */
const lockedMicrosMax = 20_000

export class Committer {
  readonly #kv: KeyValueStore
  readonly #times: SnapshotTimes
  readonly #parts: TransactionParts
  readonly #clock: () => Micros
  readonly #memory: MemoryBound | undefined
  readonly #recent = new RecentWrites()
  /** Passed by the commits of this process together, and alone by one that another process makes for it. */
  readonly #gate = new SharedGate()
  /** What the batch under the lock has evaluated so far, in microseconds. */
  #lockedMicros = 0

  /** `clock`: microseconds, to measure how long evaluation takes. `memory` bounds what waits to be written. */
  constructor(
    kv: KeyValueStore,
    times: SnapshotTimes,
    parts: TransactionParts,
    clock: () => Micros,
    memory: MemoryBound | undefined,
  ) {
    this.#memory = memory
    this.#kv = kv
    this.#times = times
    this.#parts = parts
    this.#clock = clock
    kv.watchForeign?.(batch => this.#learn(batch))
  }

  /** Runs `work` to its commit. */
  async write<T>(work: TransactionWork<T>, options: WriteOptions): Promise<TransactionOutcome<T>> {
    const { notBefore = 0, retriesMax = limits.contentionRetriesDefault } = options
    for (let retries = 0; ; retries++) {
      const announcement = this.#times.announce(notBefore)
      let attempt: StoreAttempt<T>
      try {
        attempt = this.#evaluate(work, announcement.time)
      } catch (error) {
        announcement.end()
        throw error
      }
      // Who set no number of tries is not refused: after the usual ones the last is made where nobody comes in between.
      const isLast = options.retriesMax === undefined && retries >= retriesMax
      const isShort = isLast || attempt.evaluationMicros <= shortMicros
      const decision = await this.#decide(attempt, announcement, isShort ? work : undefined)
      if (decision !== 'stale') return { ...decision, retries: decision.retries + retries }
      if (retries >= retriesMax) throw new ContendedTransaction(retries + 1)
    }
  }

  /** Evaluates `work` on a snapshot. Nothing is announced: {@link commit} finds the time. */
  attempt<T>(work: TransactionWork<T>, notBefore: Micros, stampTime?: () => Micros): StoreAttempt<T> {
    const announcement = this.#times.announce(notBefore)
    try {
      return this.#evaluate(work, announcement.time, stampTime)
    } finally {
      announcement.end()
    }
  }

  /** Commits an attempt, of whatever process; `again` evaluates it under the lock if it is stale. */
  commit<T>(
    attempt: StoreAttempt<T>,
    again: TransactionWork<T> | undefined,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    return this.#decide(attempt, this.#times.announce(attempt.commitTime - 1), again)
  }

  /**
   * Has an attempt committed by the process that keeps it. Meanwhile nothing is committed here: so that process can be told
   * all that was, and those behind it wait for the writer's lock no longer than they would for any commit of that size.
   */
  async commitKept(attempt: KeptAttempt): Promise<Micros | 'stale'> {
    // Before it waits: what has gone ahead has an earlier time, and its own does not pass meanwhile.
    const announcement = this.#times.announce(attempt.commitTime - 1)
    try {
      const open = await this.#gate.alone()
      try {
        const recent = this.#recent.tell(attempt.since)
        const commit = await attempt.commit({ time: announcement.time, ...(recent && { recent }) })
        if (commit === 'stale') return commit
        if (commit.written) this.#recent.learn(commit.written)
        this.#times.noteCommit(commit.time)
        return commit.time
      } finally {
        open()
      }
    } finally {
      announcement.end()
    }
  }

  /**
   * Commits an attempt of this process for the one that gave it `leave`. `assertLeave` throws when that one has ended:
   * nobody waits for the commit then, and its time is not announced any more.
   */
  async commitFor<T>(
    attempt: StoreAttempt<T>,
    leave: CommitLeave,
    assertLeave: () => void,
  ): Promise<DistantCommit | 'stale'> {
    // A process commits one after the other here, and nothing else: what it remembers is about this one.
    this.#recent.clear()
    if (leave.recent) this.#recent.learn(leave.recent)
    // Made outside the lock: with one service over the folder it stays the time.
    const prepared = writesAt(attempt, leave.time)
    const { result, before } = await this.#kv.transact(
      (view): Work<{ readonly before: Micros; readonly result: Decision<T> }> => {
        assertLeave()
        const last = lastCommit(view)
        const time = this.#times.commitTime(leave.time, last)
        if (!stillHolds(attempt, view, last, time, this.#recent)) {
          return { result: { before: last.time, result: 'stale' }, writes: [] }
        }
        const writes = time === leave.time ? prepared : writesAt(attempt, time)
        const done = this.#commitOf(attempt, writes, last, time)
        return { result: { before: last.time, result: done.result }, writes: done.writes }
      },
    )
    if (typeof result === 'string') return 'stale'
    const written = attempt.writes.length > 0 ? this.#recent.tell(before) : undefined
    return { time: result.time, ...(written && { written }) }
  }

  /** Commits nothing but a time, so that readers need not wait any more for commits announced before it. */
  async passTime(): Promise<void> {
    const announcement = this.#times.announce(0)
    try {
      await this.#underLock(announcement.time, (last, time) => {
        const write = commitWrite({ ...last, time })
        this.#recent.add(time, last.time, [write])
        return { result: undefined, writes: [write] }
      })
    } finally {
      announcement.end()
    }
  }

  #evaluate<T>(work: TransactionWork<T>, announced: Micros, stampTime?: () => Micros): StoreAttempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(0, (view, since, settledTime) => {
      const commitTime = Math.max(announced, since.time + commitDistance)
      const stamp = stampTime && { stampTime: () => Math.max(commitTime, stampTime()) }
      const times = { ...timesOf(since, commitTime), settledTime, ...stamp }
      return attemptOn(this.#parts, view, since, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  /** What is to be written counts against the bound until it has been. */
  async #decide<T>(
    attempt: StoreAttempt<T>,
    announcement: Announcement,
    again: TransactionWork<T> | undefined,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    let release: Release | undefined
    try {
      release = this.#memory?.hold(attempt.counters.writeBytes)
      for (;;) {
        const notBefore = Math.max(announcement.time, attempt.commitTime)
        const decision = await this.#underLock(notBefore, (last, time, view): Work<Decision<T>> => {
          if (stillHolds(attempt, view, last, time, this.#recent)) {
            return this.#commitOf(attempt, writesAt(attempt, time), last, time)
          }
          if (again === undefined) return { result: 'stale', writes: [] }
          if (this.#lockedMicros > lockedMicrosMax) return { result: 'later', writes: [] }
          const evaluated = this.#evaluateHere(again, view, last, time)
          const { result, writes } = this.#commitOf(evaluated, evaluated.writes, last, evaluated.commitTime)
          return { result: { ...result, retries: 1 }, writes }
        })
        if (decision !== 'later') return decision
      }
    } finally {
      announcement.end()
      release?.()
    }
  }

  /** Runs `work` with the newest commit, and the time of the next one, which is announced. */
  async #underLock<T>(
    notBefore: Micros,
    work: (last: CommitRecord, time: Micros, view: View) => Work<T>,
  ): Promise<T> {
    let hasWritten = false
    const wait = this.#gate.enter()
    if (wait !== undefined) await wait
    try {
      return await this.#kv.transact(view => {
        // It runs again when its batch came to nothing: what was remembered of that has not been committed.
        if (hasWritten) this.#recent.clear()
        const last = lastCommit(view)
        const done = work(last, this.#times.commitTime(notBefore, last), view)
        hasWritten = done.writes.length > 0
        return done
      })
    } catch (error) {
      // The commits of its batch may have come to nothing, too.
      if (hasWritten) this.#recent.clear()
      throw error
    } finally {
      this.#gate.leave()
    }
  }

  /** Remembers the commits of another machine as if they had been made here. */
  #learn({ after, writes }: ForeignBatch): void {
    let before = after
    let own: Write[] = []
    for (const write of writes) {
      // Copied: the memory keeps keys for long, and these are parts of whole batches.
      own.push({ key: new Uint8Array(write.key), value: undefined })
      const commit = commitOf(write)
      if (commit === undefined) continue
      this.#recent.add(commit.time, before, own)
      before = commit.time
      own = []
    }
  }

  #evaluateHere<T>(work: TransactionWork<T>, view: View, last: CommitRecord, time: Micros): Evaluated<T> {
    const started = this.#clock()
    if (this.#lockedMicros === 0) {
      // The batch is through when everything that runs at once has run.
      queueMicrotask(() => {
        this.#lockedMicros = 0
      })
    }
    try {
      for (let commitTime = time; ; ) {
        const times = { ...timesOf(last, commitTime), settledTime: last.time + 1 }
        const evaluated = evaluateOn(this.#parts, view, times, work)
        if (evaluated.nextExpiry >= evaluated.commitTime) return evaluated
        // The ids that it drew have moved its commit behind the end of something that it saw.
        commitTime = evaluated.commitTime
      }
    } finally {
      this.#lockedMicros += Math.max(1, this.#clock() - started)
    }
  }

  #commitOf<T>(
    { changesSchema, counters, givenIdsMs, result }: Evaluated<T>,
    writes: readonly Write[],
    last: CommitRecord,
    time: Micros,
  ): Work<TransactionOutcome<T>> {
    if (writes.length === 0) {
      return { result: { result, time: this.#times.settledTime(last), counters, retries: 0 }, writes }
    }
    this.#times.noteCommit(time)
    const commit = commitWrite({
      time,
      schemaTime: changesSchema ? time : last.schemaTime,
      givenIdsMs: Math.max(last.givenIdsMs, givenIdsMs),
    })
    const all = [...writes, commit]
    this.#recent.add(time, last.time, all)
    return { result: { result, time, counters, retries: 0 }, writes: all }
  }
}

/** The times of a transaction that commits at `commitTime`, on the state after the commit `last`. */
function timesOf(last: CommitRecord, commitTime: Micros) {
  const { givenIdsMs, schemaTime, time: lastCommitTime } = last
  return { time: commitTime - 1, commitTime, schemaTime, lastCommitTime, givenIdsMs }
}

// The way of a write: evaluated on a snapshot outside any lock, then, under the writer's lock, compared with what was
// committed since, given its time and applied. A stale attempt that was short is evaluated again right there, on the
// newest state, so that none starves; one that takes long is tried again outside, so that none waits for it.
//
// Each commit is announced on the timeline before it is evaluated, and its writes are made for the time it gets then.
// If another commit has come up to that time first, they are made for a later one (retime.ts).
//
// A process of the slow lane commits what it has evaluated itself, at a time that its service announces.

import { limits } from '../../base/limits.ts'
import type { MemoryBound, Release } from '../../base/memory-bound.ts'
import { epoch, micros } from '../../base/micros.ts'
import { type Announcement, commitDistance } from '../../base/timeline.ts'
import type { Micros } from '../../values/value.ts'
import type { ForeignBatch, KeyValueStore, View, Work, Write } from '../kv/contract.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { type Attempt, attemptOn, type Evaluated, evaluateOn, stillHolds, writesAt } from './attempt.ts'
import {
  type AnnouncedElsewhere,
  ContendedTransaction,
  type TransactionOutcome,
  type WriteOptions,
} from './contract.ts'
import { type CommitRecord, commitOf, commitWrite, lastCommit } from './last-commit.ts'
import type { TransactionParts } from './reader.ts'
import type { SnapshotTimes } from './snapshot-times.ts'
import type { StoreTransaction } from './transaction.ts'

type TransactionWork<T> = (transaction: StoreTransaction) => T

/** What became of an attempt under the lock; `later`: it is stale, and the others have waited long enough. */
type Decision<T> = TransactionOutcome<T> | 'stale' | 'later'

/** Where a commit comes among the others. */
interface CommitPlace {
  readonly last: CommitRecord
  /** What its client has seen; undefined: any time but its own may be too early. */
  readonly seen: Micros | undefined
  readonly time: Micros
}

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
  readonly #recent: RecentWrites
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
    this.#recent = parts.recent
    this.#clock = clock
    kv.watchForeign?.(batch => this.#learn(batch))
  }

  /** Runs `work` to its commit. */
  async write<T>(work: TransactionWork<T>, options: WriteOptions): Promise<TransactionOutcome<T>> {
    const { notBefore = epoch, retriesMax = limits.contentionRetriesDefault } = options
    for (let retries = 0; ; retries++) {
      const announcement = this.#times.announce(notBefore)
      let attempt: Attempt<T>
      try {
        attempt = this.#evaluate(work, announcement.time)
      } catch (error) {
        announcement.end()
        throw error
      }
      // Without a number of tries none is refused: after the usual ones the last is made where no other commit comes between.
      const isLast = options.retriesMax === undefined && retries >= retriesMax
      const isShort = isLast || attempt.evaluationMicros <= shortMicros
      const decision = await this.#decide(attempt, announcement, notBefore, {
        ...(isShort && { again: work }),
      })
      if (decision !== 'stale') return { ...decision, retries: decision.retries + retries }
      if (retries >= retriesMax) throw new ContendedTransaction(retries + 1)
    }
  }

  /** Evaluates `work` on a snapshot. Nothing is announced: {@link commit} finds the time. */
  attempt<T>(work: TransactionWork<T>, notBefore: Micros, stampTime?: () => Micros): Attempt<T> {
    const announcement = this.#times.announce(notBefore)
    try {
      return this.#evaluate(work, announcement.time, stampTime)
    } finally {
      announcement.end()
    }
  }

  /** Commits an attempt, if it still holds; else what `again` comes to under the lock. */
  commit<T>(
    attempt: Attempt<T>,
    announced?: AnnouncedElsewhere,
    again?: TransactionWork<T>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const announcement = announced
      ? { time: announced.time, end: () => undefined }
      : this.#times.announceAt(attempt.commitTime)
    // A process that commits for another does not know the times of that one's snapshots.
    const seen = announced ? undefined : epoch
    const check = announced && { check: announced.check }
    return this.#decide(attempt, announcement, seen, { ...check, ...(again && { again }) })
  }

  /** Has another process commit what it has evaluated: `commit` tells it the time, which is announced here until it is visible. */
  async commitElsewhere<T extends { readonly time: Micros }>(
    { commitTime }: Pick<Attempt<unknown>, 'commitTime'>,
    commit: (announced: Micros) => Promise<T | 'stale'>,
  ): Promise<T | 'stale'> {
    const announcement = this.#times.announceAt(commitTime)
    try {
      const done = await commit(announcement.time)
      if (done !== 'stale') this.#times.noteCommit(done.time)
      return done
    } finally {
      announcement.end()
    }
  }

  /** Commits nothing but a time, so that readers need not wait any more for commits announced before it. */
  async passTime(): Promise<void> {
    const announcement = this.#times.announce(epoch)
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

  #evaluate<T>(work: TransactionWork<T>, announced: Micros, stampTime?: () => Micros): Attempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(undefined, (view, since, settledTime) => {
      const commitTime = Math.max(announced, micros(since.time + commitDistance))
      const stamp = stampTime && { stampTime: () => Math.max(commitTime, stampTime()) }
      const times = { ...timesOf(since, commitTime), settledTime, ...stamp }
      return attemptOn(this.#parts, view, since, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  /**
   * What is to be written counts against the bound until it has been. `seen`: what writes nothing gets a later time; undefined: the
   * time of a commit. `again`: what is evaluated once more, under the lock, when the attempt is stale.
   */
  async #decide<T>(
    attempt: Attempt<T>,
    announcement: Announcement,
    seen: Micros | undefined,
    { again, check }: { readonly again?: TransactionWork<T>; readonly check?: () => void },
  ): Promise<TransactionOutcome<T> | 'stale'> {
    let release: Release | undefined
    try {
      release = this.#memory?.hold(attempt.counters.writeBytes)
      const notBefore = Math.max(announcement.time, attempt.commitTime)
      // Made outside the lock: mostly it stays the time.
      const prepared = writesAt(attempt, notBefore)
      for (;;) {
        const decision = await this.#underLock(notBefore, (last, time, view): Work<Decision<T>> => {
          check?.()
          if (stillHolds(attempt, view, last, time, this.#recent)) {
            const writes = time === notBefore ? prepared : writesAt(attempt, time)
            return this.#commitOf(attempt, writes, { last, seen, time })
          }
          if (again === undefined) return { result: 'stale', writes: [] }
          if (this.#lockedMicros > lockedMicrosMax) return { result: 'later', writes: [] }
          const evaluated = this.#evaluateHere(again, view, last, time)
          const place = { last, seen, time: evaluated.commitTime }
          const { result, writes } = this.#commitOf(evaluated, evaluated.writes, place)
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
        const times = { ...timesOf(last, commitTime), settledTime: micros(last.time + 1) }
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
    { changesSchema, counters, givenIdsMs, latestExpiry, result }: Evaluated<T>,
    writes: readonly Write[],
    { last, seen, time }: CommitPlace,
  ): Work<TransactionOutcome<T>> {
    const hasWrites = writes.length > 0
    if (!hasWrites) {
      const settled = seen === undefined ? undefined : this.#times.settledTime(last, seen)
      if (settled !== undefined && latestExpiry <= settled)
        return { result: { result, time: settled, counters, retries: 0 }, writes }
      // What it saw to have expired had not yet at that time, or its client has seen a later one: it counts just before a
      // commit of nothing.
    }
    this.#times.noteCommit(time)
    const commit = commitWrite({
      time,
      schemaTime: changesSchema ? time : last.schemaTime,
      givenIdsMs: Math.max(last.givenIdsMs, givenIdsMs),
    })
    const all = [...writes, commit]
    this.#recent.add(time, last.time, all)
    return {
      result: { result, time: hasWrites ? time : micros(time - 1), counters, retries: 0 },
      writes: all,
    }
  }
}

/** The times of a transaction that commits at `commitTime`, on the state after the commit `last`. */
function timesOf(last: CommitRecord, commitTime: Micros) {
  const { givenIdsMs, schemaTime, time: lastCommitTime } = last
  return { time: micros(commitTime - 1), commitTime, schemaTime, lastCommitTime, givenIdsMs }
}

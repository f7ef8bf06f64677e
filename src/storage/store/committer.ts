// The way of a write: evaluated on a snapshot outside any lock, then compared with what was committed since, given its time
// and applied (commits.ts). A stale attempt that was short is evaluated again where no other commit comes between; one that
// takes long is tried again outside, so that no other transaction waits for it.
//
// Each commit is announced on the timeline before it is evaluated, and its writes are made for the time it gets then.
// If another commit has come up to that time first, they are made for a later one (retime.ts).
//
// Processes of the slow lane send their attempts to their service. Workers forward whole queries to the process that commits.

import { limits } from '../../base/limits.ts'
import type { MemoryBound } from '../../base/memory-bound.ts'
import { epoch, micros } from '../../base/micros.ts'
import { commitDistance } from '../../base/timeline.ts'
import type { Micros } from '../../values/value.ts'
import type { View } from '../kv/contract.ts'
import { type Attempt, attemptOn, type Evaluated, evaluateOn, stillHolds } from './attempt.ts'
import type { AttemptOwner, Commits, CommitTerms, TransactionWork } from './commits.ts'
import { ContendedTransaction, type TransactionOutcome, type WriteOptions } from './contract.ts'
import type { CommitRecord } from './last-commit.ts'
import type { EvaluateHere } from './local-commits.ts'
import type { TransactionParts } from './reader.ts'
import type { SnapshotTimes } from './snapshot-times.ts'

/** An attempt that took longer is not evaluated under the lock, in microseconds. */
const shortMicros = 10_000

interface CommitterOptions {
  readonly times: SnapshotTimes
  readonly parts: TransactionParts
  /** Microseconds, to measure how long evaluation takes. */
  readonly clock: () => Micros
  /** Bounds what waits to be written. */
  readonly memory: MemoryBound | undefined
  readonly commits: (evaluate: EvaluateHere) => Commits
}

export class Committer {
  readonly #times: SnapshotTimes
  readonly #parts: TransactionParts
  readonly #clock: () => Micros
  readonly #memory: MemoryBound | undefined
  readonly #commits: Commits

  constructor({ clock, commits, memory, parts, times }: CommitterOptions) {
    this.#memory = memory
    this.#times = times
    this.#parts = parts
    this.#clock = clock
    this.#commits = commits((work, view, last, time) => this.#evaluateOn(work, view, last, time))
  }

  /** Runs `work` to its commit. */
  async write<T>(work: TransactionWork<T>, options: WriteOptions): Promise<TransactionOutcome<T>> {
    const { notBefore: seen = epoch, retriesMax = limits.contentionRetriesDefault } = options
    for (let retries = 0; ; retries++) {
      const announcement = this.#times.announce(seen)
      try {
        const attempt = this.#evaluate(work, announcement.time)
        const notBefore = Math.max(announcement.time, attempt.commitTime)
        // Without a number of tries none is refused: after the usual ones the last is made where no other commit comes between.
        const isLast = options.retriesMax === undefined && retries >= retriesMax
        const isShort = isLast || attempt.evaluationMicros <= shortMicros
        const terms = { notBefore, seen, ...(isShort && { again: work }) }
        const outcome = await this.#commit(attempt, terms)
        if (outcome !== 'stale') return { ...outcome, retries: outcome.retries + retries }
      } finally {
        announcement.end()
      }
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

  /** Commits an attempt, if it is still valid, or what its owner evaluates instead. */
  async commit<T>(attempt: Attempt<T>, owner?: AttemptOwner<T>): Promise<TransactionOutcome<T> | 'stale'> {
    const announcement = this.#times.announceAt(attempt.commitTime)
    try {
      const notBefore = Math.max(announcement.time, attempt.commitTime)
      return await this.#commit(attempt, { notBefore, seen: epoch, ...(owner && { owner }) })
    } finally {
      announcement.end()
    }
  }

  /** Evaluates `work` on the newest state that this process sees, for a commit at `time` that no other commit comes before. */
  attemptAt<T>(work: TransactionWork<T>, time: Micros): Attempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(epoch, (view, last) => {
      const times = { ...timesOf(last, time), settledTime: micros(last.time + 1) }
      return attemptOn(this.#parts, view, last, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  /** The newest commit that this process sees, if an attempt that it has made would come out the same after it. */
  validated(attempt: Attempt<unknown>): CommitRecord | 'stale' {
    return this.#times.onSnapshot(epoch, (view, last) => {
      const time = Math.max(attempt.commitTime, last.time)
      return stillHolds(attempt, view, last, time, this.#parts.recent) ? last : 'stale'
    })
  }

  passTime(): Promise<void> {
    return this.#commits.passTime()
  }

  /** What is to be written counts against the bound of memory until it has been. */
  async #commit<T>(attempt: Attempt<T>, terms: CommitTerms<T>): Promise<TransactionOutcome<T> | 'stale'> {
    const release = this.#memory?.hold(attempt.counters.writeBytes)
    try {
      return await this.#commits.commit(attempt, terms)
    } finally {
      release?.()
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

  #evaluateOn<T>(work: TransactionWork<T>, view: View, last: CommitRecord, time: Micros): Evaluated<T> {
    for (let commitTime = time; ; ) {
      const times = { ...timesOf(last, commitTime), settledTime: micros(last.time + 1) }
      const evaluated = evaluateOn(this.#parts, view, times, work)
      if (evaluated.nextExpiry >= evaluated.commitTime) return evaluated
      // The ids that it drew have moved its commit behind the end of something that it saw.
      commitTime = evaluated.commitTime
    }
  }
}

/** The times of a transaction that commits at `commitTime`, on the state after the commit `last`. */
function timesOf(last: CommitRecord, commitTime: Micros) {
  const { givenIdsMs, schemaTime, time: lastCommitTime } = last
  return { time: micros(commitTime - 1), commitTime, schemaTime, lastCommitTime, givenIdsMs }
}

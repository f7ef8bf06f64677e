// Runs transactions that write. A transaction is evaluated on a snapshot, without the writer lock. The result is called
// an attempt. An attempt is validated against newer commits, rebased to its commit time, and applied (commits.ts). A
// stale attempt is evaluated again: under the lock if its evaluation was short, otherwise without the lock, so that no
// other transaction waits for the evaluation. Without a retry limit of the caller, the last evaluation runs under the
// lock however long it takes, so that the transaction does not starve.
//
// Before the evaluation, the committer announces the time of the commit (snapshot-times.ts). The writes of the attempt
// contain the announced time. If another commit already has this time or a later time, the writes are rebased
// (rebase.ts).
//
// The processes of the slow lane (for long queries) send attempts to the service that started these processes. Worker
// processes forward complete queries to the committing process.

import type { MemoryBudget } from '../../base/admission/memory-budget.ts'
import { limits } from '../../base/limits.ts'
import { epoch, micros } from '../../base/micros.ts'
import { commitDistance } from '../../base/timeline.ts'
import type { Micros } from '../../values/value.ts'
import type { View } from '../kv/kv-contract.ts'
import { type Attempt, attemptOn, type Evaluation, evaluateOn, validate } from './attempt.ts'
import type { AttemptEvaluator, CommitConditions, Commits, TransactionWork } from './commits.ts'
import type { CommitRecord } from './last-commit.ts'
import type { EvaluateHere } from './local-commits.ts'
import type { TransactionParts } from './reader.ts'
import type { SnapshotTimes } from './snapshot-times.ts'
import { ContendedTransaction, type TransactionOutcome, type WriteOptions } from './store-contract.ts'

/** A longer attempt is evaluated again under the lock only if it is the last one. */
const shortMicros = 10_000

interface CommitterOptions {
  readonly times: SnapshotTimes
  readonly parts: TransactionParts
  /** Measures the duration of evaluations in microseconds. */
  readonly clock: () => Micros
  /** Limits the memory of waiting writes. */
  readonly memory: MemoryBudget | undefined
  readonly commits: (evaluate: EvaluateHere) => Commits
}

export class Committer {
  readonly #times: SnapshotTimes
  readonly #parts: TransactionParts
  readonly #clock: () => Micros
  readonly #memory: MemoryBudget | undefined
  readonly #commits: Commits

  constructor({ clock, commits, memory, parts, times }: CommitterOptions) {
    this.#memory = memory
    this.#times = times
    this.#parts = parts
    this.#clock = clock
    this.#commits = commits((work, view, last, time) => this.#evaluateOn(work, view, last, time))
  }

  /**
   * Evaluates and commits `work`, again after each conflict. Throws {@link ContendedTransaction} after the last
   * permitted retry.
   */
  async write<T>(work: TransactionWork<T>, options: WriteOptions): Promise<TransactionOutcome<T>> {
    const { lastSeen = epoch, retriesMax = limits.contentionRetriesDefault } = options
    for (let retries = 0; ; retries++) {
      const announcement = this.#times.announce(lastSeen)
      try {
        const attempt = this.#evaluate(work, announcement.time)
        const notBefore = Math.max(announcement.time, attempt.commitTime)
        // Without a retry limit of the caller, conflicts never reject the transaction: after the default number of
        // retries, a stale attempt is evaluated again under the lock.
        const isLast = options.retriesMax === undefined && retries >= retriesMax
        const mayHoldLock = isLast || attempt.evaluationMicros <= shortMicros
        const conditions = { notBefore, seen: lastSeen, ...(mayHoldLock && { again: work }) }
        const outcome = await this.#commit(attempt, conditions, options.memoryOwner?.())
        if (outcome !== 'stale') return { ...outcome, retries: outcome.retries + retries }
      } finally {
        announcement.end()
      }
      if (retries >= retriesMax) throw new ContendedTransaction(retries + 1)
    }
  }

  /** The commit time is announced only during the evaluation; {@link commit} announces it again. */
  attempt<T>(work: TransactionWork<T>, lastSeen: Micros, stampTime?: () => Micros): Attempt<T> {
    const announcement = this.#times.announce(lastSeen)
    try {
      return this.#evaluate(work, announcement.time, stampTime)
    } finally {
      announcement.end()
    }
  }

  /** If the attempt is stale and `evaluator` can evaluate it again, commits the new attempt. */
  async commit<T>(
    attempt: Attempt<T>,
    evaluator?: AttemptEvaluator<T>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const announcement = this.#times.announceAt(attempt.commitTime)
    try {
      const notBefore = Math.max(announcement.time, attempt.commitTime)
      const conditions = { notBefore, seen: epoch, ...(evaluator && { evaluator }) }
      return await this.#commit(attempt, conditions, evaluator?.memoryOwner)
    } finally {
      announcement.end()
    }
  }

  /** Evaluates `work` on the newest state, for a commit at `time`. No other commit may run during the evaluation. */
  attemptAt<T>(work: TransactionWork<T>, time: Micros): Attempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(epoch, (view, last) => {
      const times = { ...timesOf(last, time), readTimestamp: micros(last.time + 1) }
      return attemptOn(this.#parts, view, last, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  /** Validates an attempt against the newest state. Returns the newest commit if the attempt is valid. */
  validated(attempt: Attempt<unknown>): CommitRecord | 'stale' {
    return this.#times.onSnapshot(epoch, (view, last) => {
      const time = Math.max(attempt.commitTime, last.time)
      const validity = validate(attempt, view, last, time, this.#parts.recent, 'own process')
      return validity === 'valid' ? last : 'stale'
    })
  }

  passTime(): Promise<void> {
    return this.#commits.passTime()
  }

  /** The writes count against the memory limit, for `memoryOwner`, until the outcome is known. */
  async #commit<T>(
    attempt: Attempt<T>,
    conditions: CommitConditions<T>,
    memoryOwner?: string,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const release = this.#memory?.reserve(attempt.counters.writeBytes, memoryOwner)
    try {
      return await this.#commits.commit(attempt, conditions)
    } finally {
      release?.()
    }
  }

  #evaluate<T>(work: TransactionWork<T>, announced: Micros, stampTime?: () => Micros): Attempt<T> {
    const started = this.#clock()
    const attempt = this.#times.onSnapshot(undefined, (view, since, readTimestamp) => {
      // In a slow-lane process, `announced` is only the requested time (app/open-engine.ts), which can be earlier than
      // the snapshot.
      const commitTime = Math.max(announced, micros(since.time + commitDistance), micros(readTimestamp + 1))
      const stamp = stampTime && { stampTime: () => Math.max(commitTime, stampTime()) }
      const times = { ...timesOf(since, commitTime), readTimestamp, ...stamp }
      return attemptOn(this.#parts, view, since, times, work)
    })
    return { ...attempt, evaluationMicros: this.#clock() - started }
  }

  #evaluateOn<T>(work: TransactionWork<T>, view: View, last: CommitRecord, time: Micros): Evaluation<T> {
    for (let commitTime = time; ; ) {
      const times = { ...timesOf(last, commitTime), readTimestamp: micros(last.time + 1) }
      const evaluated = evaluateOn(this.#parts, view, times, work)
      if (evaluated.nextExpiry >= evaluated.commitTime) return evaluated
      // A document that was read expires before the commit time that the generated ids require, so the evaluation is
      // invalid.
      commitTime = evaluated.commitTime
    }
  }
}

/** Returns the times of a transaction that is evaluated on the state after `last` and commits at `commitTime`. */
function timesOf(last: CommitRecord, commitTime: Micros) {
  const { chosenIdsMs, schemaTime, time: lastCommitTime } = last
  return { time: micros(commitTime - 1), commitTime, schemaTime, lastCommitTime, chosenIdsMs }
}

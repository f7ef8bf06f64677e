// The interface for committing attempts: in this process (local-commits.ts), or not at all in a worker, which forwards
// writing queries.

import type { Micros } from '../../values/value.ts'
import type { Attempt } from './attempt.ts'
import type { CommitRecord } from './last-commit.ts'
import type { TransactionOutcome } from './store-contract.ts'
import type { StoreTransaction } from './transaction.ts'

/** The function of a transaction, which may run several times. */
export type TransactionWork<T> = (transaction: StoreTransaction) => T

/**
 * The process that has evaluated an attempt, as the committing process sees it. Both functions reject when that process
 * has exited.
 */
export interface AttemptOwner<T> {
  /** Calls {@link Committer.validated} where validation would take the committing process too long. */
  readonly validate: () => Promise<CommitRecord | 'stale'>
  /**
   * Calls {@link Committer.attemptAt} for a stale attempt; `stale` when the evaluation fails. Absent: a stale attempt
   * is not committed.
   */
  readonly evaluateAt?: (time: Micros) => Promise<Attempt<T> | 'stale'>
}

/** The conditions for committing an attempt. */
export interface CommitTerms<T> {
  /** The time of the commit is this or later. The time is announced on the timeline until the outcome is known. */
  readonly notBefore: Micros
  /** A transaction without writes gets a later time than this. */
  readonly seen: Micros
  /** Evaluates a stale attempt once more, without concurrent commits. Absent: a stale attempt is not committed. */
  readonly again?: TransactionWork<T>
  /** Present when another process has evaluated the attempt. */
  readonly owner?: AttemptOwner<T>
}

export interface Commits {
  /**
   * Commits an attempt durably; `stale` when other transactions have written a part of its read set. Rejects with
   * `StoreUnavailableError`.
   */
  commit<T>(attempt: Attempt<T>, terms: CommitTerms<T>): Promise<TransactionOutcome<T> | 'stale'>
  /** Commits a time without data, so that readers no longer wait for commits that were announced for earlier times. */
  passTime(): Promise<void>
}

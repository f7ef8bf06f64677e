// The interface for committing attempts (evaluated transactions). `local-commits.ts` implements this interface for the
// process that commits. A worker process does not commit: it forwards queries that write.

import type { Micros } from '../../values/value.ts'
import type { Attempt } from './attempt.ts'
import type { CommitRecord } from './last-commit.ts'
import type { TransactionOutcome } from './store-contract.ts'
import type { StoreTransaction } from './transaction.ts'

/** The function that evaluates a transaction. The function may run several times. */
export type TransactionWork<T> = (transaction: StoreTransaction) => T

/**
 * The committing process uses this object to call functions in the process that has evaluated an attempt (the owner).
 * Both functions reject if the owner has exited.
 */
export interface AttemptOwner<T> {
  /**
   * Validates the attempt in the owner, with {@link Committer.validated}. Called if the validation would take too long
   * in the committing process.
   */
  readonly validate: () => Promise<CommitRecord | 'stale'>
  /**
   * Evaluates a stale attempt again in the owner, with {@link Committer.attemptAt}. Returns `stale` if the evaluation
   * fails. If this function is undefined, a stale attempt is not committed.
   */
  readonly evaluateAt?: (time: Micros) => Promise<Attempt<T> | 'stale'>
  /** The owner that the memory of the waiting writes counts for. */
  readonly memoryOwner?: string
}

/** The conditions for committing an attempt. */
export interface CommitTerms<T> {
  /** The earliest allowed commit time. The commit is announced (base/timeline.ts) until its outcome is known. */
  readonly notBefore: Micros
  /**
   * The time of the newest transaction that the client has seen. An attempt without writes gets a time later than
   * `seen`.
   */
  readonly seen: Micros
  /** Evaluates a stale attempt again, while no other commit runs. If undefined, a stale attempt is not committed. */
  readonly again?: TransactionWork<T>
  /** Present if another process has evaluated the attempt. */
  readonly owner?: AttemptOwner<T>
}

export interface Commits {
  /**
   * Commits an attempt durably. Returns `stale` if other transactions have changed the read set of the attempt. Rejects
   * with `StoreUnavailableError`.
   */
  commit<T>(attempt: Attempt<T>, terms: CommitTerms<T>): Promise<TransactionOutcome<T> | 'stale'>
  /** Makes a commit without data. Afterwards, readers no longer wait for commits with earlier announced times. */
  passTime(): Promise<void>
}

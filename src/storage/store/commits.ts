// Commits attempts (evaluated transactions). `local-commits.ts` implements this interface for the process that commits.
// A worker process does not commit: it forwards queries that write.

import type { Micros } from '../../values/value.ts'
import type { Attempt } from './attempt.ts'
import type { CommitRecord } from './last-commit.ts'
import type { TransactionOutcome } from './store-contract.ts'
import type { StoreTransaction } from './transaction.ts'

/** May run several times. */
export type TransactionWork<T> = (transaction: StoreTransaction) => T

/**
 * The process that has evaluated an attempt, for calls from the committing process. Both functions reject if this
 * process has exited.
 */
export interface AttemptEvaluator<T> {
  /** Calls `Store.validated`, for a validation that would take too long in the committing process. */
  readonly validate: () => Promise<CommitRecord | 'stale'>
  /**
   * Evaluates a stale attempt again, with `Store.attemptAt`; `stale` if this fails. If undefined, a stale
   * attempt is not committed.
   */
  readonly evaluateAt?: (time: Micros) => Promise<Attempt<T> | 'stale'>
  /** The owner for whom the memory of the waiting writes is counted (base/admission/memory-budget.ts). */
  readonly memoryOwner?: string
}

/** The conditions for committing an attempt. */
export interface CommitConditions<T> {
  /** The earliest commit time. It is announced (base/timeline.ts) until the outcome of the commit is known. */
  readonly notBefore: Micros
  /** The newest transaction that the client has seen. An attempt without writes gets a later time. */
  readonly seen: Micros
  /** Evaluates a stale attempt again, while no other commit runs. If undefined, a stale attempt is not committed. */
  readonly again?: TransactionWork<T>
  /** Present if another process has evaluated the attempt. */
  readonly evaluator?: AttemptEvaluator<T>
}

export interface Commits {
  /**
   * Commits an attempt durably; `stale` if other transactions have changed its read set. Rejects with
   * `StoreUnavailableError`.
   */
  commit<T>(attempt: Attempt<T>, conditions: CommitConditions<T>): Promise<TransactionOutcome<T> | 'stale'>
  /** Commits no data. Afterwards, readers no longer wait for commits with earlier announced times. */
  passTime(): Promise<void>
}

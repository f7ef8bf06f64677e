// The interface behind which attempts are committed: in this process (local-commits.ts), or nowhere,
// in a worker, which forwards what writes.

import type { Micros } from '../../values/value.ts'
import type { Attempt } from './attempt.ts'
import type { TransactionOutcome } from './contract.ts'
import type { CommitRecord } from './last-commit.ts'
import type { StoreTransaction } from './transaction.ts'

/** The function of a transaction, which may run several times. */
export type TransactionWork<T> = (transaction: StoreTransaction) => T

/** The process that has made an attempt, as the one that commits sees it. Both reject when that process has ended. */
export interface AttemptOwner<T> {
  /** {@link Committer.validated}, where the committing process would take too long. */
  readonly validate: () => Promise<CommitRecord | 'stale'>
  /** {@link Committer.attemptAt}, for a stale attempt; `stale` when the evaluation fails. Absent: a stale attempt is not committed. */
  readonly evaluateAt?: (time: Micros) => Promise<Attempt<T> | 'stale'>
}

/** How an attempt is to be committed. */
export interface CommitTerms<T> {
  /** The time of the commit, or a later one. It is announced on the timeline until the commit has an outcome. */
  readonly notBefore: Micros
  /** A transaction that writes nothing gets a later time than this. */
  readonly seen: Micros
  /** Evaluates a stale attempt once more, where no other commit comes between. Absent: a stale attempt is not committed. */
  readonly again?: TransactionWork<T>
  /** Present when another process has made the attempt. */
  readonly owner?: AttemptOwner<T>
}

export interface Commits {
  /** Commits an attempt durably; `stale` when others have written what it read. Rejects with `StoreUnavailableError`. */
  commit<T>(attempt: Attempt<T>, terms: CommitTerms<T>): Promise<TransactionOutcome<T> | 'stale'>
  /** Commits nothing but a time, so that readers no longer wait for commits that were announced before it. */
  passTime(): Promise<void>
}

// The messages between the process that owns the commit log and a worker. Attempts and outcomes travel many at a time: those
// of one turn of the event loop share a frame.

import type { Micros } from '../../values/value.ts'
import type { AttemptHead } from './attempt.ts'
import type { CommitRecord } from './last-commit.ts'

/** An attempt in a frame. Its body is in the frame's, after those of the attempts before it. */
export interface SentAttempt {
  /** Drawn by the worker; names the attempt in all further messages. */
  readonly id: number
  readonly notBefore: Micros
  readonly seen: Micros
  /** Whether the worker evaluates the transaction once more when the attempt is stale. */
  readonly mayEvaluate: boolean
  readonly head: AttemptHead
  readonly bodyBytes: number
}

/** Why an attempt was not committed, or what is not known of it. */
export interface CommitFailure {
  readonly id: number
  readonly reason: string
  /** `bug`: an invariant of the committing process is broken. */
  readonly outcome: 'not committed' | 'unknown' | 'bug'
}

/** From a worker. */
export type ToCommitter =
  | { readonly kind: 'attempts'; readonly attempts: readonly SentAttempt[] }
  /** The newest commit after which the attempt would come out the same; absent: the worker could not tell. */
  | { readonly kind: 'validated'; readonly id: number; readonly since?: CommitRecord | 'stale' }
  /** The attempt of the second evaluation, whose body is the frame's; absent: the evaluation has failed. */
  | { readonly kind: 'evaluated'; readonly id: number; readonly head?: AttemptHead }
  | { readonly kind: 'pass time'; readonly id: number }
  /** From now on the worker hears of all commits: it has listeners. */
  | { readonly kind: 'watch' }

/** From the process that owns the commit log. */
export type FromCommitter =
  /** Commits have become durable, and these attempts have an outcome. */
  | {
      readonly kind: 'outcomes'
      /** Ids and times of commits, in turns. */
      readonly committed: readonly number[]
      readonly stale: readonly number[]
      readonly failed: readonly CommitFailure[]
    }
  /** What the attempt has read is to be compared with the newest state. */
  | { readonly kind: 'validate'; readonly id: number }
  /** The transaction is to be evaluated once more on the newest state, for a commit at that time. */
  | { readonly kind: 'evaluate'; readonly id: number; readonly time: Micros }

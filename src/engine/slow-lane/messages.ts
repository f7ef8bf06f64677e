// The messages between the service and a slow-lane process.

import type { AttemptHead } from '../../storage/store/attempt.ts'
import type { IdStretch } from '../../storage/store/ids.ts'
import type { CommitRecord } from '../../storage/store/last-commit.ts'
import type { Micros } from '../../values/value.ts'
import type { QueryRequest, QueryResponse } from '../engine-contract.ts'

/**
 * The form of a job's body. `text`: the decoded text of a query, in UTF-8. `as it came`: the bytes that the client
 * sent. `none`: the request has no body.
 */
export type BodyForm = 'text' | 'as it came' | 'none'

/** Messages from the service. The body of a `job` message is the body of its request. */
export type ToLane<Setup = unknown> =
  | { readonly kind: 'setup'; readonly setup: Setup }
  | {
      readonly kind: 'job'
      readonly request: Omit<QueryRequest, 'body' | 'longBody'>
      readonly form: BodyForm
      readonly snapshotTime: Micros
      /** The sequence number of the newest durable record in the commit log; 0 if there is no commit log. */
      readonly logSequence: number
      /** The time of day in the service when it sends the message. `lead`: see `LaneJob`. */
      readonly now: Micros
      readonly lead: number
    }
  /** Asks the process to validate the read set of the last job against the state up to the record `logSequence`. */
  | { readonly kind: 'validate'; readonly logSequence: number }
  /**
   * Asks the process to evaluate the last job again, on the state up to the record `logSequence`, for a commit at
   * `time`.
   */
  | { readonly kind: 'evaluate'; readonly logSequence: number; readonly time: Micros }
  /**
   * `committed`: the attempt was committed at `time`, and the process must send the response. `drop`: the attempt was
   * not committed.
   */
  | { readonly kind: 'committed'; readonly time: Micros }
  | { readonly kind: 'drop' }
  | { readonly kind: 'ids'; readonly stretch: IdStretch | undefined }

/** Messages from a slow-lane process. If the body of a response is long, it is sent as the body of the message. */
export type FromLane =
  /** The process has opened the data and accepts jobs. */
  | { readonly kind: 'ready' }
  /**
   * The memory of earlier queries is not freed, so the service must replace the process. Sent before the response to
   * the last query. `ranOutOfMemory`: the last query failed because of a lack of memory.
   */
  | { readonly kind: 'exhausted'; readonly ranOutOfMemory: boolean }
  | { readonly kind: 'response'; readonly response: QueryResponse }
  /**
   * The attempt of a writing query: its writes and its read set. The process then waits for messages about this
   * attempt. `response` has no body yet; the body of the message is the packed attempt.
   */
  | { readonly kind: 'attempt'; readonly response: QueryResponse; readonly head: AttemptHead }
  /** The reply to `validate`. `since`: the newest commit for which the attempt is valid. */
  | { readonly kind: 'validated'; readonly since: CommitRecord | 'stale' }
  /**
   * The reply to `evaluate`. The body of the message is the packed new attempt. If `head` is undefined, the evaluation
   * has failed.
   */
  | { readonly kind: 'evaluated'; readonly head?: AttemptHead }
  /** Requests a range of ids, because only the service can reserve ids. `held`: the previous range. */
  | { readonly kind: 'ids requested'; readonly held: IdStretch | undefined }

// The messages between the service and a slow-lane process.

import type { AttemptHead } from '../../storage/store/attempt.ts'
import type { IdStretch } from '../../storage/store/ids.ts'
import type { CommitRecord } from '../../storage/store/last-commit.ts'
import type { Micros } from '../../values/value.ts'
import type { QueryRequest, QueryResponse } from '../engine-contract.ts'

/** The form of a job's body: the text of a query in UTF-8, the bytes that the client sent, or no body. */
export type BodyForm = 'text' | 'as it came' | 'none'

/** Messages from the service. The body of a `job` message is the body of its request. */
export type ToLane<Setup = unknown> =
  | { readonly kind: 'setup'; readonly setup: Setup }
  | {
      readonly kind: 'job'
      readonly request: Omit<QueryRequest, 'body' | 'longBody'>
      readonly form: BodyForm
      readonly snapshotTime: Micros
      /** The sequence number of the newest durable record in the commit log; 0 where there is none. */
      readonly logSequence: number
      /** The time of day of the service, and the lead of the job: see `LaneJob`. */
      readonly now: Micros
      readonly lead: number
    }
  /** Validate the read set of the last job against the state up to the record `logSequence`. */
  | { readonly kind: 'validate'; readonly logSequence: number }
  /** Evaluate the last job once more, on the state up to the record `logSequence`, for a commit at `time`. */
  | { readonly kind: 'evaluate'; readonly logSequence: number; readonly time: Micros }
  /** `committed`: complete the response for this commit time. `drop`: the attempt was not committed. */
  | { readonly kind: 'committed'; readonly time: Micros }
  | { readonly kind: 'drop' }
  | { readonly kind: 'ids'; readonly stretch: IdStretch | undefined }

/** Messages from a slow-lane process. A long body of a response is the body of its message. */
export type FromLane =
  /** The process has opened the data and accepts jobs. */
  | { readonly kind: 'ready' }
  /**
   * The memory of earlier queries was not freed, so the service must replace the process. Sent before the response of
   * the last query. `ranOutOfMemory`: this query failed because of a lack of memory.
   */
  | { readonly kind: 'exhausted'; readonly ranOutOfMemory: boolean }
  | { readonly kind: 'response'; readonly response: QueryResponse }
  /**
   * The query writes. The process waits for further messages about the attempt. The response has no body yet; the body
   * of the message is the body of the attempt.
   */
  | { readonly kind: 'attempt'; readonly response: QueryResponse; readonly head: AttemptHead }
  /** The newest commit for which the attempt is valid. */
  | { readonly kind: 'validated'; readonly since: CommitRecord | 'stale' }
  /** The new attempt, whose body is the body of the message. Without an attempt, the evaluation has failed. */
  | { readonly kind: 'evaluated'; readonly head?: AttemptHead }
  /** Requests a range of ids, which only the service can reserve. `held`: the previous range. */
  | { readonly kind: 'ids requested'; readonly held: IdStretch | undefined }

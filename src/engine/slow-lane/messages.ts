// The messages between the service and a slow-lane process.

import type { AttemptHead } from '../../storage/store/attempt.ts'
import type { IdRange } from '../../storage/store/ids.ts'
import type { CommitRecord } from '../../storage/store/last-commit.ts'
import type { Micros } from '../../values/value.ts'
import type { QueryRequest, QueryResponse } from '../engine-contract.ts'

/**
 * How a job's body is sent. `text`: the decoded text of a query, in UTF-8. `as it came`: the bytes that the client
 * sent. `none`: no body.
 */
export type BodyForm = 'text' | 'as it came' | 'none'

export type ToLane<Setup = unknown> =
  | { readonly kind: 'setup'; readonly setup: Setup }
  | {
      readonly kind: 'job'
      readonly request: Omit<QueryRequest, 'body' | 'longBody'>
      readonly form: BodyForm
      readonly snapshotTime: Micros
      /** The sequence number of the newest durable record in the commit log; 0 without a log. */
      readonly logSequence: number
      /** Time of day in the service when it sends the message. `commitLeadMicros`: see `LaneJob`. */
      readonly now: Micros
      readonly commitLeadMicros: number
    }
  /** Asks for a validation of the last job's read set against the state up to the record `logSequence`. */
  | { readonly kind: 'validate'; readonly logSequence: number }
  /**
   * Asks for another evaluation of the last job, on the state up to the record `logSequence`, for a commit at `time`.
   */
  | { readonly kind: 'evaluate'; readonly logSequence: number; readonly time: Micros }
  /**
   * `committed`: the attempt was committed at `time`, and the process must send the response. `drop`: it was not
   * committed.
   */
  | { readonly kind: 'committed'; readonly time: Micros }
  | { readonly kind: 'drop' }
  | { readonly kind: 'ids'; readonly range: IdRange | undefined }

/** A long body of a response is sent as the body of the message. */
export type FromLane =
  /** The process has opened the data and accepts jobs. */
  | { readonly kind: 'ready' }
  /**
   * The service must replace the process, because the memory of earlier queries is not freed. Sent before the response
   * to the last query. `ranOutOfMemory`: the last query failed because of a lack of memory.
   */
  | { readonly kind: 'exhausted'; readonly ranOutOfMemory: boolean }
  | { readonly kind: 'response'; readonly response: QueryResponse }
  /**
   * The writes and the read set of a writing query, packed in the body of the message. The process then waits for
   * messages about this attempt. `response` has no body yet.
   */
  | { readonly kind: 'attempt'; readonly response: QueryResponse; readonly head: AttemptHead }
  /** `since`: the newest commit for which the attempt is valid. */
  | { readonly kind: 'validated'; readonly since: CommitRecord | 'stale' }
  /** The body of the message is the packed new attempt; without `head`, the evaluation has failed. */
  | { readonly kind: 'evaluated'; readonly head?: AttemptHead }
  /** Only the service can reserve ids. `held`: the previous range. */
  | { readonly kind: 'ids requested'; readonly held: IdRange | undefined }

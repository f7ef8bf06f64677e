// The messages between the service and a slow-lane process.

import type { StoreUnavailableError } from '../../storage/store/contract.ts'
import type { IdStretch } from '../../storage/store/ids.ts'
import type { Micros } from '../../values/value.ts'
import type { QueryRequest, QueryResponse } from '../contract.ts'
import type { KeptFacts } from '../slow-lane.ts'

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
      /**
       * The time of day of the service, and the lead: microseconds from fixing a commit time that cannot be changed
       * later to the commit.
       */
      readonly now: Micros
      readonly lead: number
    }
  /**
   * `commit`: commit the pending writes of the last job at an announced time. `drop`: discard them. `takesTurn`: if
   * the attempt is stale, the query is evaluated again under the writer's lock.
   */
  | { readonly kind: 'commit'; readonly time: Micros; readonly takesTurn?: boolean }
  | { readonly kind: 'drop' }
  | { readonly kind: 'ids'; readonly stretch: IdStretch | undefined }

/** Messages from a slow-lane process. A long body of a response is the body of its message. */
export type FromLane =
  /** The process has opened the data and accepts jobs. */
  | { readonly kind: 'ready' }
  /**
   * The memory of earlier queries was not freed, so the service must replace the process. Sent before the response of
   * the last query. `lacked`: this query failed because of a lack of memory.
   */
  | { readonly kind: 'spent'; readonly lacked: boolean }
  | { readonly kind: 'response'; readonly response: QueryResponse }
  /** The query has pending writes: the process waits for `commit` or `drop`. The response has no body yet. */
  | { readonly kind: 'kept'; readonly response: QueryResponse; readonly facts: KeptFacts }
  /** The writes are committed at this time. The body of the message is the body of the response. */
  | { readonly kind: 'committed'; readonly time: Micros }
  /** Other transactions have changed the read set: nothing was written. */
  | { readonly kind: 'stale' }
  /** The commit failed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly outcome: StoreUnavailableError['outcome'] }
  /** Requests a range of ids, which only the service can reserve. `held`: the previous range. */
  | { readonly kind: 'ids wanted'; readonly held: IdStretch | undefined }

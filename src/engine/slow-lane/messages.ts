// What the service and a process of the slow lane say to one another.

import type { StoreUnavailableError } from '../../storage/store/contract.ts'
import type { IdStretch } from '../../storage/store/ids.ts'
import type { Micros } from '../../values/value.ts'
import type { QueryRequest, QueryResponse } from '../contract.ts'
import type { KeptFacts } from '../slow-lane.ts'

/** What the body of a job's frame is: the text of a query in UTF-8, the bytes that the client has sent, or no query at all. */
export type BodyForm = 'text' | 'as it came' | 'none'

/** From the service. The body of a job's frame is that of its request. */
export type ToLane<Setup = unknown> =
  | { readonly kind: 'setup'; readonly setup: Setup }
  | {
      readonly kind: 'job'
      readonly request: Omit<QueryRequest, 'body' | 'longBody'>
      readonly form: BodyForm
      readonly snapshotTime: Micros
      /** When an attempt commits that holds that moment: so much later than it is known, from `now` on. */
      readonly now: Micros
      readonly lead: number
    }
  /**
   * What the last job wants to write is to be committed at a time that is announced, or to be forgotten. `takesTurn`: when it
   * is stale, the query is evaluated once more under the writer's lock.
   */
  | { readonly kind: 'commit'; readonly time: Micros; readonly takesTurn?: boolean }
  | { readonly kind: 'drop' }
  | { readonly kind: 'ids'; readonly stretch: IdStretch | undefined }

/** From a process. The body of a response's frame is that of the response, when it is long. */
export type FromLane =
  /** The data is open: jobs can come. */
  | { readonly kind: 'ready' }
  /**
   * The memory of earlier queries has not come back, so the service replaces the process. The message comes before the response of
   * the last query; `lacked`: that query has failed for want of memory.
   */
  | { readonly kind: 'spent'; readonly lacked: boolean }
  | { readonly kind: 'response'; readonly response: QueryResponse }
  /** The query writes: the process waits for `commit` or `drop`. The response has no body yet. */
  | { readonly kind: 'kept'; readonly response: QueryResponse; readonly facts: KeptFacts }
  /** It is committed, at this time. The body of the frame is that of the response. */
  | { readonly kind: 'committed'; readonly time: Micros }
  /** Others have written what it read: nothing was written. */
  | { readonly kind: 'stale' }
  /** It could not be committed. */
  | { readonly kind: 'refused'; readonly reason: string; readonly outcome: StoreUnavailableError['outcome'] }
  /** Ids are drawn from stretches that only the service reserves; `held` was the last one. */
  | { readonly kind: 'ids wanted'; readonly held: IdStretch | undefined }

// What the service and a process of the slow lane say to one another.

import type { QueryRequest, QueryResponse } from '../engine/contract.ts'
import type { IdStretch } from '../store/ids.ts'
import type { Micros } from '../values/value.ts'

/** From the service. The body of a job's frame is that of its request. */
export type ToLane<Setup = unknown> =
  | { readonly kind: 'setup'; readonly setup: Setup }
  | {
      readonly kind: 'job'
      readonly request: Omit<QueryRequest, 'body'>
      readonly hasBody: boolean
      readonly snapshotTime: Micros
    }
  | { readonly kind: 'ids'; readonly stretch: IdStretch | undefined }

/** From a process. The body of a response's frame is that of the response, when it is long. */
export type FromLane =
  /** The data is open: jobs can come. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'response'; readonly response: QueryResponse }
  /** Ids are drawn from stretches that only the service reserves: here nothing is ever committed. */
  | { readonly kind: 'ids wanted' }

// Streams live in the layer above the engine, which is handed in.

import type { Session } from '../model/session.ts'
import type { StreamOrder } from '../model/streaming.ts'
import type { EventStream, QueryResponse } from './contract.ts'

/** What it takes to open a stream. */
export interface StreamOpening {
  readonly order: StreamOrder
  /** Of the query: says who asks, and on which snapshot the stream begins. */
  readonly session: Session
  /** Runs a request of the language for a page of the stream, as the caller that has opened it, with the rights of the moment. */
  readonly nextPage: (body: string) => QueryResponse | Promise<QueryResponse>
}

/** Opens streams. Called within the transaction of the opening's session. */
export interface StreamOpener {
  open(opening: StreamOpening): EventStream
  /** Ends all open streams and refuses further ones. */
  end(): void
}

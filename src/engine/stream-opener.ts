// The interface for opening streams. A layer above the engine implements it.

import type { Session } from '../model/session.ts'
import type { StreamOrder } from '../model/streaming.ts'
import type { EventStream, QueryResponse } from './contract.ts'

/** The parameters of a new stream. */
export interface StreamOpening {
  readonly order: StreamOrder
  /** The session of the query, with the caller and the snapshot at which the stream begins. */
  readonly session: Session
  /** Runs a request for a page of the stream as the caller that opened it, with this caller's current rights. */
  readonly nextPage: (body: string) => QueryResponse | Promise<QueryResponse>
}

/** Opens streams. Must be called within the transaction of the opening's session. */
export interface StreamOpener {
  open(opening: StreamOpening): EventStream
  /** Ends all open streams and rejects new ones. */
  end(): void
}

// The parts of an engine: the lower layers, and callbacks of the higher layers. Streams are opened by such a
// callback.

import type { MemoryBudget } from '../base/admission/memory-budget.ts'
import type { RateLimit } from '../base/admission/rate-limit.ts'
import type { Timers } from '../base/timers.ts'
import type { Identifier } from '../model/auth/credential.ts'
import type { Languages } from '../model/language.ts'
import type { Session, SessionHost } from '../model/session.ts'
import type { StreamOrder } from '../model/streaming.ts'
import type { Store } from '../storage/store/store.ts'
import type { EventStream, QueryRequest, QueryResponse } from './engine-contract.ts'
import type { OperationLimits } from './operation-limits.ts'
import type { SlowLane } from './slow-lane-contract.ts'

/** The process that commits for this process. */
export interface Committer {
  /**
   * Runs a writing query in the committing process. Rejects with `StoreUnavailableError` when the process has exited.
   */
  query(request: QueryRequest): Promise<QueryResponse>
}

export interface EngineOptions {
  readonly store: Store
  /** Finds the caller of a credential. */
  readonly identifier: Pick<Identifier, 'identify'>
  readonly host: SessionHost
  /** The languages of requests. */
  readonly languages: Languages
  /** Without it, databases have no rate limits. */
  readonly rateLimits?: OperationLimits
  /** Limits the look-ups of unknown secrets for each client address, in a store that several machines share. */
  readonly unknownSecrets?: RateLimit<string>
  readonly streams: StreamOpener
  readonly timers: Timers
  /** Evaluates long queries. Without it, all queries are evaluated in this process. */
  readonly slowLane?: SlowLane | undefined
  /** Limits the memory of running queries. */
  readonly memory?: MemoryBudget
  /** Runs queries that write. Without it, this process commits, or {@link neverCommits}. */
  readonly committer?: Committer | undefined
  /** This engine belongs to the slow lane and leaves commits to the service. */
  readonly neverCommits?: boolean
  /** Called at each check of the clock. Cancels the evaluation by throwing a RequestError. */
  readonly onCheck?: () => void
  /** Called with unexpected errors, such as broken invariants. */
  readonly onInternalError: (error: unknown) => void
}

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

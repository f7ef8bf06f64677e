// The objects of the lower layers, and the callbacks into the higher layers, that an engine needs.

import type { FairTurns } from '../base/admission/fair-turns.ts'
import type { MemoryBudget } from '../base/admission/memory-budget.ts'
import type { RateLimit } from '../base/admission/rate-limit.ts'
import type { Ticket } from '../base/admission/ticket.ts'
import type { Timers } from '../base/timers.ts'
import type { Identifier } from '../model/auth/credential.ts'
import type { Languages } from '../model/language.ts'
import type { Session, SessionHost } from '../model/session.ts'
import type { StreamOrder } from '../model/streaming.ts'
import type { Store } from '../storage/store/store.ts'
import type { EventStream, QueryRequest, QueryResponse, ResponseOrPromise } from './engine-contract.ts'
import type { OperationLimits } from './operation-limits.ts'
import type { SlowLane } from './slow-lane-contract.ts'

export interface EngineOptions {
  readonly store: Store
  readonly identifier: Pick<Identifier, 'identify'>
  readonly host: SessionHost
  readonly languages: Languages
  readonly rateLimits: OperationLimits
  /**
   * Limits the requests with an unknown secret per client address, because each of them makes this machine fetch the
   * newest commits. Undefined if only one machine uses the store.
   */
  readonly unknownSecrets?: RateLimit<string>
  readonly streams: StreamOpener
  readonly timers: Timers
  /** Undefined: this process also evaluates long queries. */
  readonly slowLane?: SlowLane | undefined
  /** Undefined: a process that runs one request at a time. */
  readonly turns?: FairTurns | undefined
  /** Memory of waiting queries (query-memory.ts). */
  readonly memory: MemoryBudget
  /**
   * Runs a writing query in the process that commits. Rejects with `StoreUnavailableError` when that process has
   * exited. Undefined: this process commits, or {@link neverCommits} is true.
   */
  readonly forward?: ((request: QueryRequest, ticket: Ticket) => Promise<QueryResponse>) | undefined
  /** This engine runs in a process of the slow lane, and the service commits the writes of its queries. */
  readonly neverCommits?: boolean
  /** Called repeatedly during an evaluation. Throws a RequestError to cancel it. */
  readonly onCheck?: () => void
  /** Called with errors that are no result of a query, such as broken invariants. */
  readonly onInternalError: (error: unknown) => void
}

export interface StreamOpening {
  /** Address of the client. */
  readonly address: string | undefined
  readonly order: StreamOrder
  /** The session that has opened the stream. The stream begins at the snapshot of this session. */
  readonly session: Session
  /** Reads a page of the stream with the current rights of the caller that opened it. */
  readonly nextPage: (body: string) => ResponseOrPromise
}

export interface StreamOpener {
  /** The transaction of `opening.session` must still be running. */
  open(opening: StreamOpening): EventStream
  /** Ends all open streams and rejects new ones. */
  end(): void
}

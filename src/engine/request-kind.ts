// The interface of each kind of request. `request-run.ts` runs all kinds with the same steps.

import type { RequestError } from '../base/request-errors.ts'
import type { RenderedResponse } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import type { RequestTime } from './request-time.ts'

/** Runs in the transaction of a request, possibly several times; only its last result is used. */
export type Task = (session: Session) => RenderedResponse

/** The task, the callbacks and the time budget of a request. The engine creates one for each request. */
export interface RequestKind {
  /**
   * Work before the first evaluation. Called at most once, when the request has its turn. Of the other members, only
   * `budget` and `isCharged` are read earlier.
   */
  prepare?(): void
  readonly task: Task
  readonly budget: RequestTime
  /** The first evaluation is already in a writing transaction; a worker forwards the request instead. */
  readonly mustWrite?: boolean
  /** A worker forwards the request to the process that commits if the request has to wait for a password check. */
  readonly isForwardable?: boolean
  /** The costs are charged to the database. */
  readonly isCharged?: boolean
  /** Called if the credential is rejected. The client gets the returned error, or `unauthorized` if undefined. */
  publicFault?(): RequestError | undefined
  /** Called when the request moves to the slow lane. `task` is not called afterwards. */
  onMove?(): void
  /** Called after the slow lane has evaluated the request of `queue` (see `queueOf`) in `ms` milliseconds. */
  onEvaluatedInSlowLane?(queue: string, ms: number): void
}

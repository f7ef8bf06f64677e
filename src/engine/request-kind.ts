// The interface that each kind of request implements. `request-run.ts` runs the requests of all kinds with the same
// steps.

import type { RequestError } from '../base/request-errors.ts'
import type { RenderedResponse } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import type { RequestTime } from './request-time.ts'

/**
 * The work of a request in its transaction. The task may run several times; only the result of its last run is used.
 */
export type Task = (session: Session) => RenderedResponse

export interface RequestKind {
  /** {@link Task} */
  task(session: Session): RenderedResponse
  readonly budget: RequestTime
  /** True: the request certainly needs a writing transaction. */
  readonly mustWrite?: boolean
  /** True: a worker can forward the request to the process that commits. */
  readonly isForwardable?: boolean
  /** True: the costs are charged to the database. */
  readonly isCharged?: boolean
  /**
   * Called if the credential is rejected. If the result is an error, the client gets this error and not `unauthorized`.
   */
  faultForAnybody?(): RequestError | undefined
  /** Called when the request moves to the slow lane. `task` is not called afterwards. */
  onMove?(): void
  /** Called after the slow lane has evaluated the request. `ms`: the milliseconds of the evaluation. */
  onEvaluatedThere?(queue: string, ms: number): void
}

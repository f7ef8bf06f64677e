// The differences between kinds of requests. The steps from the credential to the response are the same for all kinds.

import type { RequestError } from '../base/request-errors.ts'
import type { RenderedResponse } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import type { RequestTime } from './request-time.ts'

/** The work of a request in its transaction. It may run several times; the last run counts. */
export type Task = (session: Session) => RenderedResponse

export interface RequestKind {
  /** {@link Task} */
  task(session: Session): RenderedResponse
  readonly budget: RequestTime
  /** True: the request certainly needs a writing transaction. */
  readonly mustWrite?: boolean
  /** True: the process that commits can run the request in place of a worker. */
  readonly isForwardable?: boolean
  /** True: the costs count against the rate limits of the database. */
  readonly isCharged?: boolean
  /** Returns the error to report instead of a rejected credential. */
  faultForAnybody?(): RequestError | undefined
  /** Called when the request moves to the slow lane. `task` is not called afterwards. */
  onMove?(): void
  /** Called after the slow lane has evaluated the request, with its queue and the milliseconds of the evaluation. */
  onEvaluatedThere?(queue: string, ms: number): void
}

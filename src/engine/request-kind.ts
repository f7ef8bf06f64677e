// What one kind of request differs by from the others: the way from its credential to its response is the same for all.

import type { RequestError } from '../base/errors.ts'
import type { Rendered } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import type { TimeBudget } from './time-budget.ts'

/** What a request asks of its transaction. It may be called several times; the last one counts. */
export type Task = (session: Session) => Rendered

export interface RequestKind {
  /** {@link Task} */
  task(session: Session): Rendered
  readonly budget: TimeBudget
  /** Sure to need a writing transaction. */
  readonly mustWrite?: boolean
  /** Its costs count against the limits of its database. */
  readonly isCharged?: boolean
  /** What is told instead of a refused credential. */
  faultForAnybody?(): RequestError | undefined
  /** Called when the request moves to the slow lane: `task` is not called any more. */
  onMove?(): void
  /** Called when the slow lane has evaluated it as one of that queue, in so many milliseconds. */
  onEvaluatedThere?(queue: string, ms: number): void
}

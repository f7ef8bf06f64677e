// The interpreter of a session: whatever is evaluated there, by a query or without one, has its time, its ids and its costs.

import type { Session } from '../../model/session.ts'
import type { World } from '../call.ts'
import { Interpreter, type InterpreterOptions } from './interpreter.ts'

/** What differs from one evaluation of a session to another. */
type Varying = Pick<InterpreterOptions, 'told' | 'hints'>

/** An interpreter over a world of the session. */
export function interpreterOf(session: Session, world: World, varying: Varying = {}): Interpreter {
  return new Interpreter({
    world,
    now: session.transaction.snapshotTime,
    newId: () => session.newId(),
    compute: units => session.compute(units),
    ...varying,
  })
}

// Creates interpreters for a session. All evaluations of a session share its time, its ids and its costs.

import type { Session } from '../../model/session.ts'
import type { World } from '../call.ts'
import { Interpreter, type InterpreterOptions } from './interpreter.ts'

/** Options that differ between the evaluations of a session. */
type EvaluationOptions = Pick<InterpreterOptions, 'logLines' | 'hints'>

/** Creates an interpreter over a world of the session. */
export function interpreterOf(session: Session, world: World, varying: EvaluationOptions = {}): Interpreter {
  return new Interpreter({
    world,
    now: session.transaction.snapshotTime,
    newId: () => session.newId(),
    compute: units => session.compute(units),
    ...varying,
  })
}

// Creates calls outside of a query, so that the schema endpoints can read and write definitions as queries do.

import type { Session } from '../../../model/session.ts'
import { Call } from '../../call.ts'
import { interpreterOf } from '../../evaluate/session-interpreter.ts'
import { Source, type Span } from '../../syntax/source.ts'
import { DataWorld } from '../../world/data-world.ts'

/** The world of a session, with calls in it. */
interface ServiceCall {
  readonly world: DataWorld
  readonly call: Call
  /** A call whose errors have a position in a schema file. */
  readonly callAt: (span: Span) => Call
}

/** The world and the calls for a request to the schema endpoints. */
export function serviceCall(session: Session): ServiceCall {
  const world = new DataWorld(session)
  const interpreter = interpreterOf(session, world)
  return {
    world,
    call: new Call(interpreter, undefined, new Source('*schema*', ''), undefined),
    callAt: span => new Call(interpreter, undefined, span.source, span),
  }
}

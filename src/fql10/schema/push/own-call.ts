// A call that no query makes: by it definitions are written and shown as a query would.

import type { Session } from '../../../model/session.ts'
import { Call } from '../../call.ts'
import { interpreterOf } from '../../evaluate/session-interpreter.ts'
import { Source, type Span } from '../../syntax/source.ts'
import { DataWorld } from '../../world/data-world.ts'

/** The world of a session, and calls in it. */
interface OwnCall {
  readonly world: DataWorld
  readonly call: Call
  /** A call whose errors are drawn at a place of a schema file. */
  readonly callAt: (span: Span) => Call
}

/** What requests about schema files write and read definitions with. */
export function ownCall(session: Session): OwnCall {
  const world = new DataWorld(session)
  const interpreter = interpreterOf(session, world)
  return {
    world,
    call: new Call(interpreter, undefined, new Source('*schema*', ''), undefined),
    callAt: span => new Call(interpreter, undefined, span.source, span),
  }
}

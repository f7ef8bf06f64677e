// A call that no query makes: by it definitions are written and shown as a query would.

import type { Session } from '../../model/session.ts'
import { Call } from '../call.ts'
import { Interpreter } from '../evaluate/interpreter.ts'
import { Source } from '../syntax/source.ts'
import { DataWorld } from '../world/data-world.ts'

/** The world of a session, and a call in it. */
export interface OwnCall {
  readonly world: DataWorld
  readonly call: Call
}

/** What requests about schema files write and read definitions with. */
export function ownCall(session: Session): OwnCall {
  const world = new DataWorld(session)
  const interpreter = new Interpreter({
    world,
    now: session.transaction.snapshotTime,
    newId: () => session.newId(),
    compute: units => session.compute(units),
    placeholders: [],
    told: [],
  })
  return { world, call: new Call(interpreter, undefined, new Source('*schema*', ''), undefined) }
}

// The data as it was right before and right after a transaction, with the rights that the caller has now. Documents that
// may not be read are not there. Predicates of roles have to see that moment, too: for them there is a transaction that looks
// back. Built-in roles decide by the collection alone, so one world serves all moments.

import type { Session } from '../../model/session.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import type { Micros, Ref } from '../../values/value.ts'
import { Call } from '../call.ts'
import { interpreterOf } from '../evaluate/session-interpreter.ts'
import { renderTagged } from '../formats/result.ts'
import { Source } from '../syntax/source.ts'
import type { Doc, Value } from '../value.ts'
import { DataWorld } from '../world/data-world.ts'

/** What has been used so far. */
export interface Spent {
  readonly readOps: number
  readonly computeUnits: number
  readonly bytesRead: number
  /** On a clock that is never set. */
  readonly micros: number
}

const limit = { effect: 'read', place: 'Writes are disallowed in stream subscriptions.' } as const

/** The call of a session that sources are evaluated with; `world` is one of it. */
export function callOf(session: Session, world: DataWorld): Call {
  const interpreter = interpreterOf(session, world)
  return new Call(interpreter, undefined, new Source('*query*', ''), undefined).as({ limit })
}

/** The moments that one page of events looks at. */
export class Moments {
  readonly #session: Session
  readonly #world: DataWorld
  readonly #call: Call
  /** Whether rights depend on what a document was at the moment. */
  readonly looksBack: boolean
  readonly #past = new Map<Micros, { readonly session: Session; readonly moment: Moment }>()
  /** The one that was asked for last, where one world serves all. */
  #latest: Moment | undefined

  /** `world` and `call` are those of `session`. */
  constructor(session: Session, world: DataWorld, call: Call) {
    this.#session = session
    this.#world = world
    this.#call = call
    const { authority } = session
    this.looksBack = authority.kind !== 'builtin' || authority.role === 'client'
  }

  /** The data with all commits up to `time`. */
  at(time: Micros): Moment {
    if (this.looksBack) return this.#pastAt(time)
    if (this.#latest?.time !== time) {
      this.#latest = new Moment(this.#world, this.#call.asOf(time), time)
    }
    return this.#latest
  }

  spent(): Spent {
    const { byteReadOps, computeUnits, host, transaction } = this.#session
    let [readOps, units] = [byteReadOps, computeUnits]
    for (const { session } of this.#past.values()) {
      readOps += session.byteReadOps
      units += session.computeUnits
    }
    return { readOps, computeUnits: units, bytesRead: transaction.counters.readBytes, micros: host.now() }
  }

  /** Nothing more is asked: all costs are those of the session. */
  finish(): void {
    for (const [time, { session }] of this.#past) {
      this.#session.countCostsOf(session)
      this.#past.delete(time)
    }
  }

  #pastAt(time: Micros): Moment {
    const known = this.#past.get(time)
    if (known !== undefined) return known.moment
    // A transaction takes two moments; what is further back is not asked for again.
    for (const [other, { session }] of this.#past) {
      if (this.#past.size < 2) break
      this.#session.countCostsOf(session)
      this.#past.delete(other)
    }
    const limit = { effectLimit: 'read', effectPlace: 'stream requests' } as const
    const session = this.#session.over(this.#session.transaction.asOf(time), limit)
    const world = new DataWorld(session)
    const moment = new Moment(world, callOf(session, world), time)
    this.#past.set(time, { session, moment })
    return moment
  }
}

/** One moment of the data. */
export class Moment {
  /** As which functions are called: they read as of the moment, and may not write. */
  readonly call: Call
  readonly time: Micros
  readonly #world: DataWorld

  constructor(world: DataWorld, call: Call, time: Micros) {
    this.#world = world
    this.call = call
    this.time = time
  }

  /** A document; undefined when it is not there, or may not be read. */
  find(ref: Ref): Doc | undefined {
    return this.#world.seen(ref, this.call)
  }

  /** A value as tagged JSON. */
  render(value: Value): string {
    return renderTagged(value, () => formatTime(timeFromMicros(this.time)), this.call)
  }
}

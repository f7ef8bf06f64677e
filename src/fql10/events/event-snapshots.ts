// Reads data as of the times before and after a transaction, with the current rights of the caller. Documents that the
// caller may not read are treated as absent.
//
// There are two cases. For built-in roles other than `client`, the rights depend only on the collection. For these
// roles, one `DataWorld` (the data access of a session) serves all times. For all other roles, each time has its own
// transaction, which reads as of this time. The reason: the predicates of roles must read as of the same time as the
// documents.

import type { Session } from '../../model/session.ts'
import { formatMicros } from '../../values/time.ts'
import type { Micros, Ref } from '../../values/value.ts'
import { Call } from '../call.ts'
import { Interpreter } from '../evaluate/interpreter.ts'
import { renderTagged } from '../formats/result.ts'
import { Source } from '../syntax/source.ts'
import type { Doc, Value } from '../value.ts'
import { DataWorld } from '../world/data-world.ts'

/** The costs of a session so far. */
export interface CostCounters {
  readonly readOps: number
  readonly computeUnits: number
  readonly bytesRead: number
  /** Microseconds of a monotonic clock. */
  readonly micros: number
}

// The hosted service inserted this whole sentence into its error message, too.
const limit = { effect: 'read', place: 'Writes are disallowed in stream subscriptions.' } as const

/** The functions of an event source are evaluated in this call. `world` must belong to `session`. */
export function callOf(session: Session, world: DataWorld): Call {
  const interpreter = new Interpreter(session, world)
  return new Call(interpreter, undefined, new Source('*query*', ''), undefined).as({ limit })
}

export class EventSnapshots {
  readonly #session: Session
  readonly #world: DataWorld
  readonly #call: Call
  /** True if the caller's rights may depend on the content of documents. */
  readonly dependsOnState: boolean
  readonly #past = new Map<Micros, { readonly session: Session; readonly snapshot: EventSnapshot }>()
  /** Used only if one `DataWorld` serves all times. */
  #latest: EventSnapshot | undefined

  /** `world` and `call` belong to `session`. */
  constructor(session: Session, world: DataWorld, call: Call) {
    this.#session = session
    this.#world = world
    this.#call = call
    const { authority } = session
    this.dependsOnState = authority.kind !== 'builtin' || authority.role === 'client'
  }

  /** The data with all commits up to `time`. */
  at(time: Micros): EventSnapshot {
    if (this.dependsOnState) return this.#pastAt(time)
    if (this.#latest?.time !== time) {
      this.#latest = new EventSnapshot(this.#world, this.#call.asOf(time), time)
    }
    return this.#latest
  }

  spent(): CostCounters {
    const { byteReadOps, computeUnits, host, transaction } = this.#session
    let [readOps, units] = [byteReadOps, computeUnits]
    for (const { session } of this.#past.values()) {
      readOps += session.byteReadOps
      units += session.computeUnits
    }
    return { readOps, computeUnits: units, bytesRead: transaction.counters.readBytes, micros: host.now() }
  }

  /** Adds the costs of all snapshots to the session, and discards the snapshots. */
  finish(): void {
    for (const [time, { session }] of this.#past) {
      this.#session.countCostsOf(session)
      this.#past.delete(time)
    }
  }

  #pastAt(time: Micros): EventSnapshot {
    const known = this.#past.get(time)
    if (known !== undefined) return known.snapshot
    // Each change needs two snapshots: as of the times before and after its transaction. Older ones are not needed again.
    for (const [other, { session }] of this.#past) {
      if (this.#past.size < 2) break
      this.#session.countCostsOf(session)
      this.#past.delete(other)
    }
    const effects = { effectLimit: 'read', effectPlace: 'stream requests' } as const
    const session = this.#session.withTransaction(this.#session.transaction.asOf(time), effects)
    const world = new DataWorld(session)
    const snapshot = new EventSnapshot(world, callOf(session, world), time)
    this.#past.set(time, { session, snapshot })
    return snapshot
  }
}

export class EventSnapshot {
  /** The call for the functions of an event source, which read as of this time and cannot write. */
  readonly call: Call
  readonly time: Micros
  readonly #world: DataWorld

  constructor(world: DataWorld, call: Call, time: Micros) {
    this.#world = world
    this.call = call
    this.time = time
  }

  /** Returns undefined if the document does not exist or the caller may not read it. */
  find(ref: Ref): Doc | undefined {
    return this.#world.documents.readAsOf(ref, this.call)
  }

  render(value: Value): string {
    return renderTagged(value, () => formatMicros(this.time), this.call)
  }
}

// Limits the time for which bindings of one database may block the service's process in work that cannot move to the
// slow lane: builds, imports and the removal of documents. Afterwards the database pauses for a multiple of their
// duration; builds and documents of other databases continue meanwhile.

import { Allowances } from '../../base/allowance.ts'
import { systemClock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { DatabaseId } from '../../values/value.ts'

/** Number of databases whose pauses are remembered. */
const databasesMax = 10_000

/** The pauses of databases. */
export class BindingShare {
  /** Milliseconds of pause that each database still has. */
  readonly #rests: Allowances<DatabaseId>

  constructor(elapsedMs: () => number = systemClock.elapsedMs) {
    this.#rests = new Allowances({ max: 0, perSecond: 1000 }, databasesMax, elapsedMs)
  }

  /** Milliseconds until the bindings of a database may be computed again; 0: now. */
  restMs(database: DatabaseId): number {
    return this.#rests.waitMs(database)
  }

  /** Adds the duration of bindings of a database, in microseconds. Concurrent durations add up. */
  spent(database: DatabaseId, micros: number): void {
    const restMs = (micros / 1000) * limits.bindingRestFactor
    if (restMs >= limits.bindingRestMsMin) this.#rests.take(database, restMs)
  }
}

// What share of the process that serves all the bindings of one database may take where they cannot move to the
// slow lane: in builds, in imports and when documents are removed. After them the database rests for a multiple of what
// they took; builds and documents of others go on meanwhile.

import { Allowances } from '../../base/allowance.ts'
import { systemClock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { DatabaseId } from '../../values/value.ts'

/** Databases whose rests are remembered. */
const databasesMax = 10_000

/** Who rests, and for how long. */
export class BindingShare {
  /** Milliseconds of rest that each database owes. */
  readonly #rests: Allowances<DatabaseId>

  constructor(elapsedMs: () => number = systemClock.elapsedMs) {
    this.#rests = new Allowances({ max: 0, perSecond: 1000 }, databasesMax, elapsedMs)
  }

  /** Milliseconds until the bindings of a database may be computed again; 0: now. */
  restMs(database: DatabaseId): number {
    return this.#rests.waitMs(database)
  }

  /** Bindings of a database took so long, in microseconds. What several do at the same time adds up. */
  spent(database: DatabaseId, micros: number): void {
    const restMs = (micros / 1000) * limits.bindingRestFactor
    if (restMs >= limits.bindingRestMsMin) this.#rests.take(database, restMs)
  }
}

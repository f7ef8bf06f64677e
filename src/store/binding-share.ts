// What share of the process that serves everybody the bindings of one database may take where nobody moves them to the
// slow lane: in builds, in imports and when documents are removed. After them the database rests for a multiple of what
// they took; builds and documents of others go on meanwhile.

import { systemClock } from '../base/clock.ts'
import { limits } from '../limits.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { BindingBudget } from './binding-budget.ts'

/** What a store knows of the bindings of its documents. */
export interface BindingCosts {
  readonly bindings: BindingBudget
  readonly bindingShare: BindingShare
}

/** Who rests, and until when. */
export class BindingShare {
  readonly #elapsedMs: () => number
  /** Until when each database rests, by {@link #elapsedMs}. */
  readonly #until = new Map<DatabaseId, number>()

  constructor(elapsedMs: () => number = systemClock.elapsedMs) {
    this.#elapsedMs = elapsedMs
  }

  /** Milliseconds until the bindings of a database may be computed again; 0: now. */
  restMs(database: DatabaseId): number {
    const until = this.#until.get(database)
    if (until === undefined) return 0
    const left = until - this.#elapsedMs()
    if (left > 0) return left
    this.#until.delete(database)
    return 0
  }

  /** Bindings of a database took so long, in microseconds. What several do at the same time adds up. */
  spent(database: DatabaseId, micros: Micros): void {
    const restMs = (micros / 1000) * limits.bindingRestFactor
    if (restMs < limits.bindingRestMsMin) return
    this.#until.set(database, this.#elapsedMs() + this.restMs(database) + restMs)
  }
}

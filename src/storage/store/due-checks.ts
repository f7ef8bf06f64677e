// Schedules when to check which collection for expired data: at the time of its first mark, which is known once it has
// been read. Later writes expire later than all data that existed by then, so the check of a collection without marks
// also determines the time of its next check.

import type { CollectionPlace } from './contract.ts'
import type { DueMark } from './due-order.ts'

/** A collection that is checked when the removal time reaches this time, in microseconds. */
export interface DueCheck extends CollectionPlace {
  readonly at: number
  /** Marks that were read but not processed yet. */
  readonly marks: readonly DueMark[]
}

const noMarks: readonly DueMark[] = []

/** The next check of each collection. */
export class CheckSchedule {
  readonly #checks = new Map<string, DueCheck>()
  /** No check is due earlier, except perhaps those that are ready. */
  #earliest = Number.POSITIVE_INFINITY
  #ready: DueCheck[] = []

  /**
   * Schedules the next check of a collection, replacing any other; 0: at once; infinity: not before it is scheduled
   * again.
   */
  plan({ collection, database }: CollectionPlace, at: number, marks: readonly DueMark[] = noMarks): void {
    const check = { database, collection, at, marks }
    if (at === Number.POSITIVE_INFINITY) this.#checks.delete(nameOf(check))
    else this.#checks.set(nameOf(check), check)
    // Each new collection is checked once, which must not cost a pass over all collections.
    if (at === 0) this.#ready.push(check)
    else this.#earliest = Math.min(this.#earliest, at)
  }

  /** A due check, if any, of those that `isWanted` allows. Schedule the collection again before the next call. */
  next(now: number, isWanted: (check: DueCheck) => boolean): DueCheck | undefined {
    if (this.#ready.length === 0 && this.#earliest <= now) this.#collect(now)
    for (let check = this.#ready.pop(); check !== undefined; check = this.#ready.pop()) {
      if (this.#checks.get(nameOf(check)) !== check) continue
      if (isWanted(check)) return check
      this.#earliest = Math.min(this.#earliest, check.at)
    }
    return undefined
  }

  #collect(now: number): void {
    this.#earliest = Number.POSITIVE_INFINITY
    for (const check of this.#checks.values()) {
      if (check.at <= now) this.#ready.push(check)
      this.#earliest = Math.min(this.#earliest, check.at)
    }
  }
}

function nameOf({ collection, database }: CollectionPlace): string {
  return `${database}/${collection}`
}

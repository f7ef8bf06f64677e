// Schedules when each collection is checked for expired data. A new collection is checked at once, to find its first
// due mark; the next check is at the time of that mark. Data written after a check expires later than any data that
// existed at the check. So a check that finds no mark can also determine the time of the next check.

import type { CollectionPlace } from './contract.ts'
import type { DueMark } from './due-order.ts'

/** A collection that is checked when the removal time reaches `at`, in microseconds. */
export interface DueCheck extends CollectionPlace {
  readonly at: number
  /** Marks that were read but not processed yet. */
  readonly marks: readonly DueMark[]
}

const noMarks: readonly DueMark[] = []

/** The next check of each collection. */
export class CheckSchedule {
  readonly #checks = new Map<string, DueCheck>()
  /** No check outside of `#ready` is due before this time. */
  #earliest = Number.POSITIVE_INFINITY
  #ready: DueCheck[] = []

  /**
   * Schedules the next check of a collection, and replaces the previous schedule. `at` 0 means at once; infinity means no
   * check until the next call.
   */
  plan({ collection, database }: CollectionPlace, at: number, marks: readonly DueMark[] = noMarks): void {
    const check = { database, collection, at, marks }
    if (at === Number.POSITIVE_INFINITY) this.#checks.delete(nameOf(check))
    else this.#checks.set(nameOf(check), check)
    // Added directly to the ready checks, because each new collection is checked at once, and {@link #collect} scans
    // all collections.
    if (at === 0) this.#ready.push(check)
    else this.#earliest = Math.min(this.#earliest, at)
  }

  /** Returns a due check that `isWanted` accepts, if any. Schedule its collection again before the next call. */
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

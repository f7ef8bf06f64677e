// Schedules when to check which collection for expired data: at the time of its first mark, which is known once it has
// been read. Later writes expire later than all data that existed by then, so the check of a collection without marks
// also determines the time of its next check.

import type { CollectionPlace } from './contract.ts'
import type { DueMark } from './due-order.ts'

/** A collection that is checked when the removal time reaches this time, in microseconds. */
export interface DueLook extends CollectionPlace {
  readonly at: number
  /** Marks that were read but not processed yet. */
  readonly marks: readonly DueMark[]
}

const noMarks: readonly DueMark[] = []

export class DueLooks {
  readonly #looks = new Map<string, DueLook>()
  /** No check is due earlier, except perhaps those that are ready. */
  #earliest = Number.POSITIVE_INFINITY
  #ready: DueLook[] = []

  /**
   * Schedules the next check of a collection, replacing any other; 0: at once; infinity: not before it is scheduled
   * again.
   */
  plan({ collection, database }: CollectionPlace, at: number, marks: readonly DueMark[] = noMarks): void {
    const look = { database, collection, at, marks }
    if (at === Number.POSITIVE_INFINITY) this.#looks.delete(nameOf(look))
    else this.#looks.set(nameOf(look), look)
    // Each new collection is checked once, which must not cost a pass over all collections.
    if (at === 0) this.#ready.push(look)
    else this.#earliest = Math.min(this.#earliest, at)
  }

  /** A due check, if any, of those that `isWanted` allows. Schedule the collection again before the next call. */
  next(now: number, isWanted: (look: DueLook) => boolean): DueLook | undefined {
    if (this.#ready.length === 0 && this.#earliest <= now) this.#collect(now)
    for (let look = this.#ready.pop(); look !== undefined; look = this.#ready.pop()) {
      if (this.#looks.get(nameOf(look)) !== look) continue
      if (isWanted(look)) return look
      this.#earliest = Math.min(this.#earliest, look.at)
    }
    return undefined
  }

  #collect(now: number): void {
    this.#earliest = Number.POSITIVE_INFINITY
    for (const look of this.#looks.values()) {
      if (look.at <= now) this.#ready.push(look)
      this.#earliest = Math.min(this.#earliest, look.at)
    }
  }
}

function nameOf({ collection, database }: CollectionPlace): string {
  return `${database}/${collection}`
}

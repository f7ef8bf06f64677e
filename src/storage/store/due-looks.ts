// When to look at which collection for what has fallen out of its history: at the time of its first mark, which is known
// once it has been read. What is written later falls out later than anything that could have been written by then, so an
// empty order, too, says how long it need not be looked at.

import type { CollectionPlace } from './contract.ts'
import type { DueMark } from './due-order.ts'

/** A collection that is looked at when the time of removal has come so far, in microseconds. */
export interface DueLook extends CollectionPlace {
  readonly at: number
  /** Marks that were read and not followed yet. */
  readonly marks: readonly DueMark[]
}

const noMarks: readonly DueMark[] = []

export class DueLooks {
  readonly #looks = new Map<string, DueLook>()
  /** No look is earlier, but perhaps those that are ready. */
  #earliest = Number.POSITIVE_INFINITY
  #ready: DueLook[] = []

  /** Plans the next look at a collection, instead of any other; 0: at once; infinity: none until it is planned again. */
  plan({ collection, database }: CollectionPlace, at: number, marks: readonly DueMark[] = noMarks): void {
    const look = { database, collection, at, marks }
    if (at === Number.POSITIVE_INFINITY) this.#looks.delete(nameOf(look))
    else this.#looks.set(nameOf(look), look)
    // Each new collection is looked at once: that must not take a pass over all collections.
    if (at === 0) this.#ready.push(look)
    else this.#earliest = Math.min(this.#earliest, at)
  }

  /** A look whose time has come, if there is one, of those that `isWanted` allows. Plan it again before the next call. */
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

// What was handed to connections and has not been read by their clients. It counts against a bound that all share
// (fair-budget.ts). Nearly all that is short goes out within its turn of the event loop: it counts only if it has not.

import type { Eviction, FairBudget, Share } from './fair-budget.ts'

/** Something short that was handed to a connection. */
export interface Sending {
  /** Asked in the turn after: has to count what has not gone out. */
  countUnsent(): void
}

export class Unread {
  readonly #budget: FairBudget
  /** What was handed over in this turn. */
  #fresh: Sending[] = []

  /** `budget` bounds the bytes. */
  constructor(budget: FairBudget) {
    this.#budget = budget
  }

  /** Counts what has not gone out of something in the next turn. */
  add(sending: Sending): void {
    if (this.#fresh.push(sending) === 1) setImmediate(this.#count)
  }

  /** Counts so many bytes for a group of readers, until the share is closed or `evict` was called. */
  count(group: string, bytes: number, evict: (reason: Eviction) => void): Share {
    const share = this.#budget.open(group, evict)
    share.grow(bytes)
    return share
  }

  readonly #count = () => {
    const fresh = this.#fresh
    this.#fresh = []
    for (const sending of fresh) sending.countUnsent()
  }
}

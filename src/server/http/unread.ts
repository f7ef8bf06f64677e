// Counts bytes that were written to connections but not yet read by the clients, against a limit that all clients share
// (fair-budget.ts). Short responses nearly always leave within their turn of the event loop; they count only if they do
// not.

import type { Eviction, FairBudget, Share } from './fair-budget.ts'

/** A short response or event that was written to a connection. */
export interface UnsentBytes {
  /** Called in the next turn: counts the bytes that have not been flushed. */
  countUnsent(): void
}

export class Unread {
  readonly #budget: FairBudget
  /** Written in this turn. */
  #fresh: UnsentBytes[] = []

  /** `budget` limits the bytes. */
  constructor(budget: FairBudget) {
    this.#budget = budget
  }

  /** Has `written` count its unsent bytes in the next turn. */
  add(written: UnsentBytes): void {
    if (this.#fresh.push(written) === 1) setImmediate(this.#count)
  }

  /** Counts bytes for a group of readers, until the share is closed or evicted. */
  count(group: string, bytes: number, evict: (reason: Eviction) => void): Share {
    const share = this.#budget.open(group, evict)
    share.grow(bytes)
    return share
  }

  readonly #count = () => {
    const fresh = this.#fresh
    this.#fresh = []
    for (const written of fresh) written.countUnsent()
  }
}

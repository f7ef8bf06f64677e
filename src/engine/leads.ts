// Chooses how far in the future the commit time of a slow-lane query is set. This matters if the query writes its
// commit time to a place that cannot be changed later, such as an index over `ts`: it must be evaluated and sent to the
// committing process before that time. If the time is too far ahead, the client waits longer than necessary. So the
// lead follows the time that recent queries of the same database needed.

import { GenerationCache } from '../base/generation-cache.ts'

/** The number of databases to remember. */
const queuesMax = 10_000
/** The minimal lead, in microseconds: a process may be kept from running for that long. */
const leadMin = 50_000
/** The maximal lead of a first try. A query that misses it is tried again with the lead that it needed. */
const firstLeadMax = 500_000

export class Leads {
  readonly #needed = new GenerationCache<string, number>(queuesMax)

  /** Returns the lead for the first try of a query, in whole microseconds. */
  first(queue: string): number {
    return Math.min(firstLeadMax, leadFor(this.#needed.get(queue) ?? 0))
  }

  /** Records how long it took from fixing the commit time until the attempt arrived. */
  note(queue: string, needed: number): void {
    const before = this.#needed.get(queue) ?? 0
    this.#needed.set(queue, Math.max(needed, before / 2))
  }
}

/** Returns a lead with half as much again as was needed, in whole microseconds. */
export function leadFor(needed: number): number {
  return Math.max(leadMin, Math.ceil(1.5 * needed))
}

// Chooses the lead of a slow-lane query: how far in the future its commit time is set. The lead matters if the commit
// time is part of values that cannot be changed later, such as the entries of an index over `ts`. Such a query must be
// evaluated and sent to the committing process before its commit time. If the commit time is too far in the future, the
// client waits longer than necessary. So the lead follows the time that recent queries of the same database needed.

import { GenerationCache } from '../base/generation-cache.ts'

/** The number of databases to remember. */
const queuesMax = 10_000
/** The minimal lead, in microseconds. A process may have to wait this long for a CPU. */
const leadMin = 50_000
/** The maximal lead of a first try. A query that misses its commit time is retried with the lead that it needed. */
const firstLeadMax = 500_000

export class Leads {
  readonly #needed = new GenerationCache<string, number>(queuesMax)

  /** Returns the lead for the first try of a query, in whole microseconds. */
  first(queue: string): number {
    return Math.min(firstLeadMax, leadFor(this.#needed.get(queue) ?? 0))
  }

  /** Records the microseconds from fixing the commit time until the attempt arrived. */
  note(queue: string, needed: number): void {
    const before = this.#needed.get(queue) ?? 0
    this.#needed.set(queue, Math.max(needed, before / 2))
  }
}

/** Returns a lead 50 % longer than the needed time, in whole microseconds. */
export function leadFor(needed: number): number {
  return Math.max(leadMin, Math.ceil(1.5 * needed))
}

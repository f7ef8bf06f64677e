// How far ahead the moment is set at which a query of the slow lane commits that holds the time of its commit in places
// that cannot be given another, such as the values of an index over `ts`. It has to be evaluated and handed over by then;
// set further ahead than that, its client waits for nothing. So what was needed lately says how far, for each database.

import { GenerationCache } from '../base/generation-cache.ts'

/** Databases of which it is remembered; of a forgotten one nothing is known. */
const queuesMax = 10_000
/** What is set at least, in microseconds: a process may be kept from working for that long. */
const leadMin = 50_000
/** What a first try is set at most; one that comes too late is tried again with what it needed. */
const firstLeadMax = 500_000

export class Leads {
  readonly #needed = new GenerationCache<string, number>(queuesMax)

  /** For the first try of a query; whole microseconds. */
  first(queue: string): number {
    return Math.min(firstLeadMax, leadFor(this.#needed.get(queue) ?? 0))
  }

  /** `needed` is how long it took from the moment at which the time had to be certain until the attempt was here. */
  note(queue: string, needed: number): void {
    const before = this.#needed.get(queue) ?? 0
    this.#needed.set(queue, Math.max(needed, before / 2))
  }
}

/** With what took so long before: half as much more, in whole microseconds. */
export function leadFor(needed: number): number {
  return Math.max(leadMin, Math.ceil(1.5 * needed))
}

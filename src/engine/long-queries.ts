// Queries that took too long for the process that serves all others when they were asked last: the same one, asked again,
// goes to the slow lane at once. Applications ask the same things: a report, a count of everything, a page that is polled.

import { GenerationCache } from '../base/generation-cache.ts'
import type { QueryRequest } from './contract.ts'

/** Characters of the queries that are remembered. */
const charactersMax = 4_000_000

export class LongQueries {
  readonly #msOf: (queue: string) => number
  /** The length of each, which is what it weighs. */
  readonly #lengths = new GenerationCache<string, number>(charactersMax, length => length)

  /** `msOf`: how long an evaluation of a queue may take now that is not long, in milliseconds. */
  constructor(msOf: (queue: string) => number) {
    this.#msOf = msOf
  }

  /** Whether this caller's query took long the last time. */
  has(request: QueryRequest): boolean {
    return this.#lengths.size > 0 && this.#lengths.get(keyOf(request)) !== undefined
  }

  /** It has turned out to take long. */
  add(request: QueryRequest): void {
    const key = keyOf(request)
    this.#lengths.set(key, key.length)
  }

  /**
   * The slow lane has evaluated it in `ms` milliseconds: one that was short there may be tried here again. What was just
   * short enough would hold the process for nearly as long as anything may, or come back.
   */
  evaluated(request: QueryRequest, queue: string, ms: number): void {
    if (ms < this.#msOf(queue) / 2) this.#lengths.delete(keyOf(request))
  }
}

/** What takes long in one database is short in another. */
function keyOf({ authorization, body }: QueryRequest): string {
  return `${authorization} ${body}`
}

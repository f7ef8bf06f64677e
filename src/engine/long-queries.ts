// Remembers queries that took too long in the main process at their last evaluation. If the same query arrives again,
// it goes to the slow lane at once. Applications repeat such queries: reports, counts, polled pages.

import { GenerationCache } from '../base/generation-cache.ts'
import type { QueryRequest } from './engine-contract.ts'

/** Maximal total length of the remembered queries, in characters. */
const charactersMax = 4_000_000

export class LongQueries {
  readonly #msOf: (queue: string) => number
  /** The length of each query, which is its weight in the cache. */
  readonly #lengths = new GenerationCache<string, number>(charactersMax, length => length)

  /** `msOf` returns how many milliseconds an evaluation of a queue may take now. */
  constructor(msOf: (queue: string) => number) {
    this.#msOf = msOf
  }

  /** Returns whether this caller's query took long the last time. */
  has(request: QueryRequest): boolean {
    return this.#lengths.size > 0 && this.#lengths.get(keyOf(request)) !== undefined
  }

  /** Records that a query took long. */
  add(request: QueryRequest): void {
    const key = keyOf(request)
    this.#lengths.set(key, key.length)
  }

  /**
   * Forgets a query that took only `ms` milliseconds in the slow lane, so that it is tried in the main process again.
   * The query must have taken less than half of the allowed time. Otherwise it would block the main process for nearly
   * the maximum time, or return to the slow lane.
   */
  evaluated(request: QueryRequest, queue: string, ms: number): void {
    if (ms < this.#msOf(queue) / 2) this.#lengths.delete(keyOf(request))
  }
}

/** The key includes the credential, because a query that is long in one database may be short in another. */
function keyOf({ authorization, body }: QueryRequest): string {
  return `${authorization} ${body}`
}

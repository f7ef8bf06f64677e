// Remembers queries whose last evaluation took too long for the main process, because applications repeat long queries,
// for example reports. If a remembered query arrives again, it moves at once to the slow lane, the processes for long
// queries.

import { GenerationCache } from '../base/generation-cache.ts'
import type { QueryRequest } from './engine-contract.ts'

/** Maximum number of characters in all remembered queries together. */
const charactersMax = 4_000_000

export class LongQueries {
  readonly #msOf: (queue: string) => number
  /** The length of each query in characters, used as the weight in the cache. */
  readonly #lengths = new GenerationCache<string, number>(charactersMax, length => length)

  /**
   * `msOf`: returns how many milliseconds a query of a queue may take in the main process. Each database has a queue.
   */
  constructor(msOf: (queue: string) => number) {
    this.#msOf = msOf
  }

  /** Returns whether the last evaluation of this query with this credential took long. */
  has(request: QueryRequest): boolean {
    return this.#lengths.size > 0 && this.#lengths.get(keyOf(request)) !== undefined
  }

  /** Records that a query took long. */
  add(request: QueryRequest): void {
    const key = keyOf(request)
    this.#lengths.set(key, key.length)
  }

  /**
   * Forgets a query if the slow lane needed less than half of the time that the main process allows. The main process
   * then evaluates the query next time. Because of the factor of two, this evaluation will probably not exceed the
   * allowed time. `ms`: the milliseconds of the evaluation.
   */
  evaluated(request: QueryRequest, queue: string, ms: number): void {
    if (ms < this.#msOf(queue) / 2) this.#lengths.delete(keyOf(request))
  }
}

/**
 * Returns the key of a query. The key includes the credential, because the same query may be long in one database and
 * short in another database.
 */
function keyOf({ authorization, body }: QueryRequest): string {
  return `${authorization} ${body}`
}

// Remembers queries whose last evaluation took too long for the main process, because applications repeat long queries
// such as reports. A remembered query moves at once to the slow lane, the processes for long queries.

import { GenerationCache } from '../base/generation-cache.ts'
import type { QueryRequest } from './engine-contract.ts'

/** Maximum number of characters of all remembered queries together. */
const charactersMax = 4_000_000

const lengthSlots = 4096

export class LongQueries {
  readonly #msOf: (queue: string) => number
  /** Lengths in characters, as the weight in the cache. */
  readonly #lengths = new GenerationCache<string, number>(charactersMax, length => length)
  /**
   * True for the length of each query that was ever remembered, modulo {@link lengthSlots}. Most other queries have
   * other lengths, so their texts need not be joined, hashed and looked up.
   */
  readonly #hasLength = new Array<boolean>(lengthSlots).fill(false)

  /** `msOf`: milliseconds that a query of a queue may take in the main process. Each database has a queue. */
  constructor(msOf: (queue: string) => number) {
    this.#msOf = msOf
  }

  /** True if the last evaluation of this query with this credential took long. */
  has(request: QueryRequest): boolean {
    return this.#hasLength[lengthOf(request)] === true && this.#lengths.get(keyOf(request)) !== undefined
  }

  add(request: QueryRequest): void {
    const key = keyOf(request)
    this.#lengths.set(key, key.length)
    this.#hasLength[lengthOf(request)] = true
  }

  /**
   * Forgets a query that took the slow lane less than half of the time that the main process allows: with this margin,
   * its next evaluation in the main process will probably be in time. `ms`: the milliseconds of the evaluation.
   */
  evaluated(request: QueryRequest, queue: string, ms: number): void {
    if (ms < this.#msOf(queue) / 2) this.#lengths.delete(keyOf(request))
  }
}

function lengthOf({ body = '' }: QueryRequest): number {
  return body.length % lengthSlots
}

/** Includes the credential, because the same query may be long in one database and short in another. */
function keyOf({ authorization, body }: QueryRequest): string {
  return `${authorization} ${body}`
}

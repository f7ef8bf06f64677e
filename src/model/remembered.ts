// A bounded cache of results that depend only on the schema of a database and on the key of the cache entry.

import { GenerationCache } from '../base/generation-cache.ts'
import type { Session } from './session.ts'

interface Weighted<T> {
  readonly value: T
  readonly units: number
}

/**
 * The results of a database under one name: the most recently used results, until the schema changes. Their memory
 * counts in the cache of schemas.
 */
export class Remembered<T> {
  readonly #results: GenerationCache<string, Weighted<T>>
  readonly #unitsMax: number
  readonly #bytesPerUnit: number
  #counted = 0

  private constructor(unitsMax: number, bytesPerUnit: number) {
    this.#results = new GenerationCache(unitsMax, ({ units }) => units)
    this.#unitsMax = unitsMax
    this.#bytesPerUnit = bytesPerUnit
  }

  /**
   * Returns the results under `name` in the session's database, with a total weight of at most `unitsMax` units. A unit
   * takes about `bytes` bytes of memory.
   */
  static of<T>(
    name: string,
    unitsMax: number,
    bytes: number,
    { database, transaction }: Session,
  ): Remembered<T> {
    return transaction.catalogue.derived(database, name, () => new Remembered<T>(unitsMax, bytes))
  }

  get(key: string): T | undefined {
    return this.#results.get(key)?.value
  }

  /**
   * `units` is the weight of the result. The cache of schemas counts at most `unitsMax` units in total, because further
   * results replace earlier results.
   */
  set(key: string, value: T, units: number, { database, transaction }: Session): void {
    this.#results.set(key, { value, units })
    const more = Math.min(units, this.#unitsMax - this.#counted)
    this.#counted += more
    transaction.catalogue.countDerived(database, more * this.#bytesPerUnit)
  }
}

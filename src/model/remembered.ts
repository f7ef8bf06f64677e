// Results that depend on a database's schema alone, remembered with bounded memory.

import { GenerationCache } from '../base/generation-cache.ts'
import type { Session } from './session.ts'

interface Weighted<T> {
  readonly value: T
  readonly units: number
}

/**
 * Kept for a database until its schema changes, the most recently used ones first. Their memory counts in the cache of
 * schemas.
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
   * The results with a name of the session's database, with a total weight of at most `unitsMax`. A unit takes about
   * `bytes` bytes of memory.
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

  /** The memory counts in the cache of schemas until the maximum is counted. */
  set(key: string, value: T, units: number, { database, transaction }: Session): void {
    this.#results.set(key, { value, units })
    const more = Math.min(units, this.#unitsMax - this.#counted)
    this.#counted += more
    transaction.catalogue.countDerived(database, more * this.#bytesPerUnit)
  }
}

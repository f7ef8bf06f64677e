// A bounded cache with two generations of entries. An entry survives if it is used once per generation. A hit on a
// recent entry is one map lookup, and an empty cache uses no memory. By contrast, the package `lru-cache` allocates
// memory for `max` entries in its constructor, which took half of the time of opening an engine. So only caches that
// load their entries, or whose entries expire, use `lru-cache`.

/**
 * Holds a total weight of at most `weightMax`. A full younger generation replaces the older one, so a cache that has
 * been full keeps about half of `weightMax` or more.
 */
export class GenerationCache<K, V> {
  readonly #generationMax: number
  readonly #weigh: ((value: V) => number) | undefined
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  /** Includes the weight of replaced values. */
  #youngWeight = 0

  /** By default, every entry weighs 1. A value that weighs more than half of `weightMax` is not stored. */
  constructor(weightMax: number, weigh?: (value: V) => number) {
    this.#generationMax = Math.max(1, Math.floor(weightMax / 2))
    this.#weigh = weigh
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: K): V | undefined {
    const recent = this.#young.get(key)
    if (recent !== undefined) return recent
    const aged = this.#old.get(key)
    if (aged !== undefined) this.set(key, aged)
    return aged
  }

  set(key: K, value: V): void {
    this.#old.delete(key)
    if (this.#weigh !== undefined) {
      const weight = this.#weigh(value)
      if (weight > this.#generationMax) {
        this.#young.delete(key)
        return
      }
      this.#youngWeight += weight
      if (this.#youngWeight > this.#generationMax) this.#age(weight)
      this.#young.set(key, value)
      return
    }
    this.#young.set(key, value)
    if (this.#young.size >= this.#generationMax) this.#age(0)
  }

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  #age(weight: number): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#youngWeight = weight
  }
}

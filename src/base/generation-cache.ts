// A bounded map for what every request looks up: two generations instead of a list of uses (as in `lru-cache`, which
// serves everywhere else), so a hit on a recent entry is one map look-up and nothing moves. An entry survives as long
// as it is used once per generation.

/** Holds the most recently used entries, whose weights together are at most a bound, and about half of it at least. */
export class GenerationCache<K, V> {
  readonly #generationMax: number
  readonly #weigh: ((value: V) => number) | undefined
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  /** What has been put into the young generation; a replaced value counts as well. */
  #youngWeight = 0

  /** Without `weigh` every entry weighs 1. One that weighs more than half of `weightMax` is not held. */
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

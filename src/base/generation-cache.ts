// A bounded map for hot paths: two generations instead of a list of uses, so a hit on a recent entry is one map
// look-up and nothing moves. An entry survives as long as it is used once per generation.

/** Holds between `entriesMax` / 2 and `entriesMax` of the most recently used entries. */
export class GenerationCache<K, V> {
  readonly #generationMax: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(entriesMax: number) {
    this.#generationMax = Math.max(1, Math.floor(entriesMax / 2))
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
    this.#young.set(key, value)
    if (this.#young.size < this.#generationMax) return
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}

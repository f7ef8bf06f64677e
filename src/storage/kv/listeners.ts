// The listeners that hear of commits. Shared by the engines.

export class Listeners {
  readonly #listeners = new Set<{ readonly call: () => void }>()

  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** Adds `call`; returns the way to take it out again. The same function may be added twice. */
  add(call: () => void): () => void {
    const listener = { call }
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  notify(): void {
    for (const listener of [...this.#listeners]) listener.call()
  }
}

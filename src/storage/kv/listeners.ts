// The listeners for commits, shared by the engines.

export class Listeners {
  readonly #listeners = new Set<{ readonly call: () => void }>()

  get isEmpty(): boolean {
    return this.#listeners.size === 0
  }

  /** Adds `call`; returns a function that removes it. The same function may be added twice. */
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

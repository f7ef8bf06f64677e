// The names of the variables in scope while a query is parsed. Lookup does not scan all names.

export class BoundNames {
  readonly #names: string[] = []
  readonly #places = new Map<string, number[]>()

  get size(): number {
    return this.#names.length
  }

  push(name: string): void {
    const places = this.#places.get(name)
    if (places) places.push(this.#names.length)
    else this.#places.set(name, [this.#names.length])
    this.#names.push(name)
  }

  /** The index of the latest binding of a name; -1 when it is not bound. */
  newest(name: string): number {
    return this.#places.get(name)?.at(-1) ?? -1
  }

  /** Removes all names but the first `size`. */
  cut(size: number): void {
    while (this.#names.length > size) this.#places.get(this.#names.pop() as string)?.pop()
  }
}

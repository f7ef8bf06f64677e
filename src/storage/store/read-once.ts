// Only data that is read a second time within a short period is cached, so that a scan of a large collection leaves
// nothing in the cache.

/** Remembers, in a table of fixed size, the marks of recently read data. */
export class ReadOnce {
  readonly #marks: Int32Array

  /** `marksMax`: the size of the table; a power of two. */
  constructor(marksMax: number) {
    this.#marks = new Int32Array(marksMax)
  }

  /** Records that data with this mark, a 32-bit integer, is read; returns true when it was recorded before. */
  isAgain(mark: number): boolean {
    const slot = mark & (this.#marks.length - 1)
    if (this.#marks[slot] === mark) return true
    this.#marks[slot] = mark
    return false
  }
}

// Only what is read a second time within a while is worth the memory of a cache: a walk over a large collection leaves
// nothing behind in it.

/** Remembers, in a table of fixed size, the marks of what has been read lately. */
export class ReadOnce {
  readonly #marks: Int32Array

  /** `marksMax`: how many are remembered at most; a power of two. */
  constructor(marksMax: number) {
    this.#marks = new Int32Array(marksMax)
  }

  /** Notes that something with this mark, a 32-bit integer, is read; true when that was so before. */
  isAgain(mark: number): boolean {
    const slot = mark & (this.#marks.length - 1)
    if (this.#marks[slot] === mark) return true
    this.#marks[slot] = mark
    return false
  }
}

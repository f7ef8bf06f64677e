// Recognizes data that is read a second time within a short period. Only such data is cached, so a scan of a large
// collection does not fill the cache.

/** Remembers, in a table of fixed size, the marks of recently read data. */
export class ReadOnce {
  readonly #marks: Int32Array

  /** `marksMax`: the size of the table; a power of two. */
  constructor(marksMax: number) {
    this.#marks = new Int32Array(marksMax)
  }

  /** Records a read of the data with this mark, a 32-bit integer. Returns true when an earlier read was recorded. */
  isAgain(mark: number): boolean {
    const slot = mark & (this.#marks.length - 1)
    if (this.#marks[slot] === mark) return true
    this.#marks[slot] = mark
    return false
  }
}

// One bound on what all work of a kind holds in memory together, by estimates that its parts make of themselves.

/** Gives back what was held; harmless when called again. */
export type Release = () => void

export class MemoryBound {
  readonly #max: number
  readonly #refusal: () => Error
  #held = 0

  /** `max`: bytes. `refusal` makes the error for what would pass it. */
  constructor(max: number, refusal: () => Error) {
    this.#max = max
    this.#refusal = refusal
  }

  /** Bytes held at the moment. */
  get held(): number {
    return this.#held
  }

  /** Holds so many bytes. Throws the refusal when there is no room; a single holder always has some. */
  hold(bytes: number): Release {
    if (this.#held > 0 && this.#held + bytes > this.#max) throw this.#refusal()
    this.#held += bytes
    let isHeld = true
    return () => {
      if (isHeld) this.#held -= bytes
      isHeld = false
    }
  }
}

// Limits the total memory of all work of a kind, by the estimates of its parts.

/** Releases held memory; a second call has no effect. */
type Release = () => void

export class MemoryBound {
  readonly #max: number
  readonly #refusal: () => Error
  #held = 0

  /** `max`: bytes. `refusal` makes the error of a reservation that exceeds it. */
  constructor(max: number, refusal: () => Error) {
    this.#max = max
    this.#refusal = refusal
  }

  /** Bytes reserved at the moment. */
  get held(): number {
    return this.#held
  }

  /**
   * Reserves bytes. Throws the error of `refusal` when there is no room. When nothing else is reserved, every size is
   * accepted.
   */
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

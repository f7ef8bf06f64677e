// The clock of a node: the database's time of day, carried on by the node's own steady clock between two looks at it.
// So the nodes share one clock, however wrong their own are set.

import { epoch, type Micros, micros } from '../../base/micros.ts'

/** Microseconds of time of day, from looks at the database's clock. Never steps back. */
export class RecordClock {
  readonly #elapsedMs: () => number
  #offset: number | undefined
  #latest = epoch

  /** `elapsedMs`: a steady clock in milliseconds. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /** Takes note of what the database's clock showed a moment ago, in microseconds. */
  learn(time: Micros): void {
    this.#offset = time - this.#elapsedMs() * 1000
  }

  /** Microseconds since the Unix epoch; what was known last while nothing has been learned yet. */
  now(): Micros {
    const extrapolated =
      this.#offset === undefined ? epoch : micros(Math.floor(this.#offset + this.#elapsedMs() * 1000))
    this.#latest = Math.max(this.#latest, extrapolated)
    return this.#latest
  }
}

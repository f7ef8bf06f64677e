// The clock of a node: the database's time of day, carried on by the node's own steady clock between two readings of it.
// So the nodes share one clock, however wrong their own are set.

import { epoch, type Micros, micros } from '../../../base/micros.ts'

/** Microseconds by which two clocks move apart in a millisecond at most; those of machines keep ten times better pace. */
const driftMax = 1
/** Microseconds: what shows so much less than it should has been set back. Less may be due to the way of an answer. */
const stepMin = 1_000_000

/** Microseconds of time of day, from readings of the database's clock. Never steps back. */
export class RecordClock {
  readonly #elapsedMs: () => number
  #offset: number | undefined
  #learnedMs = 0
  #latest = epoch

  /** `elapsedMs`: a steady clock in milliseconds. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /**
   * Takes note of what the database's clock showed a moment ago, in microseconds. Answers of a busy machine come late, so
   * of several the one that shows the latest time is the truest.
   */
  learn(time: Micros): void {
    const nowMs = this.#elapsedMs()
    const offset = time - nowMs * 1000
    const known = (this.#offset ?? offset) - (nowMs - this.#learnedMs) * driftMax
    this.#offset = known - offset > stepMin ? offset : Math.max(offset, known)
    this.#learnedMs = nowMs
  }

  /** Microseconds since the Unix epoch; what was known last while nothing has been learned yet. */
  now(): Micros {
    const extrapolated =
      this.#offset === undefined ? epoch : micros(Math.floor(this.#offset + this.#elapsedMs() * 1000))
    this.#latest = Math.max(this.#latest, extrapolated)
    return this.#latest
  }
}

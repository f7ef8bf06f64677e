// The clock of a node: the database's time of day, advanced by the node's monotonic clock between two readings. So all
// nodes share one clock, even if their own clocks are wrong.

import { epoch, type Micros, micros } from '../../../base/micros.ts'

/** Assumed maximum drift between two clocks, in microseconds for each millisecond. Real clocks drift ten times less. */
const driftMax = 1
/**
 * In microseconds: if the clock shows a time that is earlier by this amount, the clock was set back. Smaller
 * differences may come from the delay of a response.
 */
const stepMin = 1_000_000

/** Microseconds of the time of day, from readings of the database's clock. Never goes back. */
export class RecordClock {
  readonly #elapsedMs: () => number
  #offset: number | undefined
  #learnedMs = 0
  #latest = epoch

  /** `elapsedMs`: a monotonic clock in milliseconds. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /**
   * Records a reading of the database's clock, in microseconds. Responses of a busy machine arrive late, so of several
   * readings the latest time is the most accurate.
   */
  learn(time: Micros): void {
    const nowMs = this.#elapsedMs()
    const offset = time - nowMs * 1000
    const known = (this.#offset ?? offset) - (nowMs - this.#learnedMs) * driftMax
    this.#offset = known - offset > stepMin ? offset : Math.max(offset, known)
    this.#learnedMs = nowMs
  }

  /** Microseconds since the Unix epoch; without a reading, the last known time. */
  now(): Micros {
    const extrapolated =
      this.#offset === undefined ? epoch : micros(Math.floor(this.#offset + this.#elapsedMs() * 1000))
    this.#latest = Math.max(this.#latest, extrapolated)
    return this.#latest
  }
}

// How long an evaluation may hold the process that serves everybody. One that is dropped for taking too long has
// wasted that time; whoever lets that happen over and over gets less of it each time, so that it stays a small share.

import { Allowances } from '../base/allowance.ts'
import type { Clock } from '../base/clock.ts'
import { limits } from '../limits.ts'
import type { Hold } from './slow-lane.ts'

/** Queues whose waste is remembered; a forgotten one has wasted nothing. */
const queuesMax = 10_000

/** Milliseconds that may be wasted without consequence, and are forgiven. */
const wasteRate = { max: limits.wastedMsFree, perSecond: limits.forgivenMsPerSecond }

export class Patience {
  readonly #ms: number
  readonly #clock: Clock
  /** What each queue may still waste. */
  readonly #wastes: Allowances<string>

  /** `ms`: what an evaluation may take of a queue that has wasted little. */
  constructor(ms: number, clock: Clock) {
    this.#ms = ms
    this.#clock = clock
    this.#wastes = new Allowances(wasteRate, queuesMax, () => clock.elapsedMs())
  }

  /** The share of an evaluation that begins now. */
  hold(queue: string): Hold {
    const startMs = this.#clock.elapsedMs()
    const endMs = startMs + (this.#wastes.left(queue) < 0 ? Math.min(this.#ms, limits.impatientMs) : this.#ms)
    return {
      isOver: () => this.#clock.elapsedMs() >= endMs,
      wasted: () => {
        this.#wastes.take(queue, this.#clock.elapsedMs() - startMs)
      },
    }
  }
}

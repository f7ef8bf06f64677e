// Limits how long an evaluation may block the process that serves all clients. CPU time and waits for the disk count.
// Waits for a CPU that other programs use do not count, because a slow-lane process would wait for a CPU, too. A queue
// whose evaluations block the process again and again, including cancelled evaluations, gets less time: its queries
// move to the slow lane earlier, so the queue's share of the process stays small. An evaluation of few steps counts as
// short even if it took long, because garbage collection for other requests took the time.

import { RateLimit } from '../base/admission/rate-limit.ts'
import { type Clock, starvedMs, systemClock } from '../base/clock.ts'
import { stepsPerCheck, stepsSoFar } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import type { ProcessShare } from './slow-lane.ts'

/** The number of queues to remember. A forgotten queue starts without debts. */
const queuesMax = 10_000

/**
 * The milliseconds for which a queue may block the process, or waste its time, without consequence, and the rate at
 * which they are restored.
 */
const rate = { max: limits.blockingMsFree, perSecond: limits.blockingMsPerSecond }

/** Milliseconds for which a measurement of the thread's starvation (waits for a CPU) is used for new evaluations. */
const starvedAgeMs = 5

export class ProcessShares {
  readonly #ms: number
  readonly #clock: Clock
  readonly #starvedMs: () => number
  readonly #isCrowded: (queue: string) => boolean
  #lastStarvedMs = 0
  #measuredMs = Number.NEGATIVE_INFINITY
  /** The time for which each queue may still block the process. */
  readonly #holdings: RateLimit<string>
  /** The time of the process that each queue may still waste. */
  readonly #wastes: RateLimit<string>

  /**
   * `ms`: the time limit for an evaluation of a queue that has blocked the process little. `starvedMs`: returns how
   * long this thread has waited for a CPU so far. `isCrowded`: returns whether so many queries of a queue wait for the
   * slow lane that short queries should stay in this process.
   */
  constructor(ms: number, clock: Clock, starvedMs: () => number, isCrowded: (queue: string) => boolean) {
    this.#ms = ms
    this.#clock = clock
    this.#starvedMs = starvedMs
    this.#isCrowded = isCrowded
    this.#holdings = new RateLimit(rate, queuesMax, () => clock.elapsedMs())
    this.#wastes = new RateLimit(rate, queuesMax, () => clock.elapsedMs())
  }

  /** Returns the share of work that begins now. */
  share(queue: string): ProcessShare {
    const startMs = this.#clock.elapsedMs()
    const startSteps = stepsSoFar()
    let owner = queue
    let ms = this.msOf(queue)
    const before = this.#starvedBefore(startMs)
    const heldMs = () => {
      const passedMs = this.#clock.elapsedMs() - startMs
      return Math.max(0, passedMs - Math.max(0, this.#starvedMs() - before))
    }
    let endMs = startMs + ms
    return {
      isOver: () => {
        if (this.#clock.elapsedMs() < endMs) return false
        // A share of 0 milliseconds is over at once.
        if (ms > 0 && stepsSoFar() - startSteps < stepsPerCheck) return false
        // The starvation is measured only now, because a measurement takes as long as a short query.
        const leftMs = ms - heldMs()
        endMs = this.#clock.elapsedMs() + leftMs
        return leftMs <= 0
      },
      countFor: other => {
        owner = other
        ms = this.msOf(other)
        endMs = startMs + ms
      },
      wasted: () => {
        // If the limit was lower than usual, a cancelled query was not necessarily long.
        if (ms === this.#ms) this.#wastes.take(owner, heldMs())
      },
      ended: () => {
        if (this.#clock.elapsedMs() - startMs < limits.impatientMs) return
        if (stepsSoFar() - startSteps < stepsPerCheck) return
        const held = heldMs()
        if (held >= limits.impatientMs) this.#holdings.take(owner, held)
      },
    }
  }

  /** Returns how many milliseconds an evaluation of a queue may take now. */
  msOf(queue: string): number {
    const isImpatient =
      this.#wastes.left(queue) < 0 || (this.#holdings.left(queue) < 0 && !this.#isCrowded(queue))
    return isImpatient ? Math.min(this.#ms, limits.impatientMs) : this.#ms
  }

  /**
   * Returns how long the thread had waited for a CPU. Many short queries share one recent measurement.
   */
  #starvedBefore(nowMs: number): number {
    if (nowMs - this.#measuredMs > starvedAgeMs) {
      this.#lastStarvedMs = this.#starvedMs()
      this.#measuredMs = nowMs
    }
    return this.#lastStarvedMs
  }
}

/** Returns the time limit of work that cannot move to the slow lane. */
export function fixedShare(): ProcessShare {
  return new ProcessShares(limits.unmovableMs, systemClock, starvedMs, () => false).share('')
}

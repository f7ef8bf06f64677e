// How long an evaluation may hold the process that serves all clients. Its own work and its waits for the disk count; waits
// for a processor that other programs use do not, because the slow lane would meet them, too. A queue whose evaluations hold
// the process again and again, dropped ones as well, gets less: its queries go to the slow lane earlier, and what it takes from
// the others stays a small share. What has taken few steps is short, whatever its time: the runtime has collected the garbage
// of others meanwhile.

import { Allowances } from '../base/allowance.ts'
import { type Clock, starvedMs, systemClock } from '../base/clock.ts'
import { stepsPerCheck, stepsSoFar } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import type { ProcessShare } from './slow-lane.ts'

/** Queues whose holding is remembered; a forgotten one has held nothing. */
const queuesMax = 10_000

/** Milliseconds for which a queue may hold the process, or waste its time, without consequence, and that are forgiven. */
const rate = { max: limits.heldMsFree, perSecond: limits.forgivenMsPerSecond }

/** How old the knowledge may be of how long the thread has starved before an evaluation, in milliseconds. */
const starvedAgeMs = 5

export class ProcessShares {
  readonly #ms: number
  readonly #clock: Clock
  readonly #starvedMs: () => number
  readonly #isCrowded: (queue: string) => boolean
  #lastStarvedMs = 0
  #askedMs = Number.NEGATIVE_INFINITY
  /** For how long each queue may still hold the process. */
  readonly #holdings: Allowances<string>
  /** How much of its time each queue may still waste. */
  readonly #wastes: Allowances<string>

  /**
   * `ms`: what an evaluation may take of a queue that has held the process little. `starvedMs`: how long this thread has
   * waited for a processor so far. `isCrowded`: whether so much of a queue waits for the slow lane that what is short is better kept here.
   */
  constructor(ms: number, clock: Clock, starvedMs: () => number, isCrowded: (queue: string) => boolean) {
    this.#ms = ms
    this.#clock = clock
    this.#starvedMs = starvedMs
    this.#isCrowded = isCrowded
    this.#holdings = new Allowances(rate, queuesMax, () => clock.elapsedMs())
    this.#wastes = new Allowances(rate, queuesMax, () => clock.elapsedMs())
  }

  /** The share of work that begins now. */
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
        // Where no time is given, nothing is short.
        if (ms > 0 && stepsSoFar() - startSteps < stepsPerCheck) return false
        // Asked only now: it takes as long as a short query.
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
        // With less than usual it was not known whether it is long.
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

  /** How long an evaluation of that queue may take now, in milliseconds. */
  msOf(queue: string): number {
    const isImpatient =
      this.#wastes.left(queue) < 0 || (this.#holdings.left(queue) < 0 && !this.#isCrowded(queue))
    return isImpatient ? Math.min(this.#ms, limits.impatientMs) : this.#ms
  }

  /** How long the thread had starved a moment ago: it is not asked for each of many short queries. */
  #starvedBefore(nowMs: number): number {
    if (nowMs - this.#askedMs > starvedAgeMs) {
      this.#lastStarvedMs = this.#starvedMs()
      this.#askedMs = nowMs
    }
    return this.#lastStarvedMs
  }
}

/** The share of what cannot move to the slow lane. */
export function fixedShare(): ProcessShare {
  return new ProcessShares(limits.unmovableMs, systemClock, starvedMs, () => false).share('')
}

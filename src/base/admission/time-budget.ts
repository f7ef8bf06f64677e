// Time budgets limit how long synchronous work may block the thread that serves all clients. CPU time and waits for the
// disk are counted. Waits for a busy CPU are not counted, because the processes of the slow lane (for long queries)
// would also wait for a CPU. Work with few steps (src/base/effort.ts) is treated as short even if it took long: garbage
// collection for other requests took the time. An owner whose work repeatedly blocks the thread overdraws its budget,
// and gets less time for each piece of work.

import { type Clock, starvedMs, systemClock, threadMicros } from '../clock.ts'
import { stepsPerCheck, stepsSoFar, withAddedWatch } from '../effort.ts'
import { RateLimit } from './rate-limit.ts'

export const timeBudgetLimits = {
  /** Milliseconds for which evaluations of one database may block the process in a burst; own limit. */
  blockingMsFree: 80,
  /** Milliseconds per second for which evaluations of one database may block the process on average; own limit. */
  blockingMsPerSecond: 20,
  /**
   * Milliseconds after which a query moves to the slow lane if its database has exceeded the limits for blocking; own
   * limit.
   */
  impatientMs: 3,
} as const

/** A forgotten owner gets its complete budget again. */
const ownersMax = 10_000

/** How long a measurement of the thread's starvation (waits for a CPU) is reused, in milliseconds. */
const starvedAgeMs = 5

interface TimeBudgetOptions {
  readonly ms: number
  readonly clock?: Clock
  /** Milliseconds that this thread has waited for a CPU so far. */
  readonly starvedMs?: () => number
  /**
   * Returns whether short work should stay in this process, because the owner's queue for the slow lane is at least
   * half full.
   */
  readonly isCrowded?: (owner: string) => boolean
}

export class TimeBudget {
  readonly ms: number
  readonly clock: Clock
  readonly starvedMs: () => number
  readonly #isCrowded: (owner: string) => boolean
  readonly #usedTime: RateLimit<string>
  #lastStarvedMs = 0
  #measuredMs = Number.NEGATIVE_INFINITY

  constructor(options: TimeBudgetOptions) {
    this.ms = options.ms
    this.clock = options.clock ?? systemClock
    this.starvedMs = options.starvedMs ?? starvedMs
    this.#isCrowded = options.isCrowded ?? (() => false)
    const rate = { max: timeBudgetLimits.blockingMsFree, perSecond: timeBudgetLimits.blockingMsPerSecond }
    this.#usedTime = new RateLimit(rate, ownersMax, () => this.clock.elapsedMs())
  }

  begin(owner: string): TimedWork {
    return new TimedWork(this, owner)
  }

  /**
   * The time limit for work of the owner. Shorter for an owner that has overdrawn its budget; a crowded owner
   * (`isCrowded`) must have overdrawn it by more than `blockingMsFree`.
   */
  msOf(owner: string): number {
    const leftMin = this.#isCrowded(owner) ? -timeBudgetLimits.blockingMsFree : 0
    const isLimited = this.#usedTime.left(owner) < leftMin
    return isLimited ? Math.min(this.ms, timeBudgetLimits.impatientMs) : this.ms
  }

  /** Called by {@link TimedWork}. */
  count(owner: string, usedMs: number, isCancelled: boolean): void {
    if (usedMs < timeBudgetLimits.impatientMs) return
    // If all work of a crowded owner counted, its later work would move sooner to the slow lane, which would reject it.
    if (isCancelled || !this.#isCrowded(owner)) this.#usedTime.take(owner, usedMs)
  }

  /**
   * Called by {@link TimedWork}. The approximate milliseconds that the thread had waited for a CPU; reuses a recent
   * measurement.
   */
  starvedBefore(nowMs: number): number {
    if (nowMs - this.#measuredMs > starvedAgeMs) {
      this.#lastStarvedMs = this.starvedMs()
      this.#measuredMs = nowMs
    }
    return this.#lastStarvedMs
  }
}

/** The parsing of a query, and an evaluation that directly follows. */
export class TimedWork {
  readonly #budget: TimeBudget
  readonly #startMs: number
  readonly #startSteps = stepsSoFar()
  readonly #starvedBeforeMs: number
  #owner: string
  #ms: number
  /** The earliest time at which the work can have used its complete time, on the monotonic clock. */
  #endMs: number
  #isCancelled = false

  constructor(budget: TimeBudget, owner: string) {
    this.#budget = budget
    this.#startMs = budget.clock.elapsedMs()
    this.#starvedBeforeMs = budget.starvedBefore(this.#startMs)
    this.#owner = owner
    this.#ms = budget.msOf(owner)
    this.#endMs = this.#startMs + this.#ms
  }

  isOver(): boolean {
    const { clock } = this.#budget
    if (clock.elapsedMs() < this.#endMs) return false
    // With a time limit of 0 milliseconds, the work is over immediately.
    if (this.#ms > 0 && stepsSoFar() - this.#startSteps < stepsPerCheck) return false
    // The starvation is measured only now, because a measurement takes as long as a short query.
    const remainingMs = this.#ms - this.#usedMs()
    this.#endMs = clock.elapsedMs() + remainingMs
    return remainingMs <= 0
  }

  /** Charges the complete work to `owner`, and applies the owner's time limit. */
  countFor(owner: string): void {
    this.#owner = owner
    this.#ms = this.#budget.msOf(owner)
    this.#endMs = this.#startMs + this.#ms
  }

  /** Must be called when the work is cancelled, before {@link end}. */
  cancel(): void {
    this.#isCancelled = true
  }

  /** Must be called when the work has finished or was cancelled. */
  end(): void {
    // Work with a shortened time limit is not counted, so that the budget of its owner recovers.
    if (this.#ms < this.#budget.ms) return
    if (this.#budget.clock.elapsedMs() - this.#startMs < timeBudgetLimits.impatientMs) return
    if (stepsSoFar() - this.#startSteps < stepsPerCheck) return
    this.#budget.count(this.#owner, this.#usedMs(), this.#isCancelled)
  }

  #usedMs(): number {
    const passedMs = this.#budget.clock.elapsedMs() - this.#startMs
    return Math.max(0, passedMs - Math.max(0, this.#budget.starvedMs() - this.#starvedBeforeMs))
  }
}

/**
 * Limits the CPU time of all code that belongs to one item, such as a document. Elapsed time would reject items because
 * the machine is busy.
 */
export class CpuBudget {
  readonly #rejection: () => Error
  readonly #clock: () => number
  /** The remaining microseconds of the current item; infinite if there is no item. */
  #remaining = Number.POSITIVE_INFINITY
  /** Microseconds of all calls of {@link within}. */
  #spent: number = 0

  /** `rejection` creates the error for code that exceeds the limit. `clock`: CPU time of this thread in microseconds. */
  constructor(rejection: () => Error, clock: () => number = threadMicros) {
    this.#rejection = rejection
    this.#clock = clock
  }

  /** All code of one item may together take `milliseconds` of CPU time. */
  perItem<T>(milliseconds: number, work: () => T): T {
    const outer = this.#remaining
    this.#remaining = milliseconds * 1000
    try {
      return work()
    } finally {
      this.#remaining = outer
    }
  }

  /** Runs code of the current item, whose limit grows by `freeMicros`. Throws the error of `rejection` at the limit. */
  within<T>(code: () => T, freeMicros = 0): T {
    this.#remaining += freeMicros
    const started = this.#clock()
    const check = () => {
      if (this.#clock() - started > this.#remaining) throw this.#rejection()
    }
    try {
      return withAddedWatch({ check, beforeLongCall: check }, code)
    } finally {
      const taken = this.#clock() - started
      this.#remaining -= taken
      this.#spent += taken
    }
  }

  /** Calls `report` with the CPU time that calls of {@link within} took during `work`, even if it throws. */
  counted<T>(work: () => T, report: (micros: number) => void): T {
    const before = this.#spent
    try {
      return work()
    } finally {
      report(this.#spent - before)
    }
  }
}

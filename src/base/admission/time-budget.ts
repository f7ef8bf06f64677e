// Time budgets limit how long synchronous work may block the thread that serves all clients.
//
// `TimeBudget` has a budget for each owner, such as a database. CPU time and waits for the disk are counted. Waits for
// a busy CPU are not counted, because the processes of the slow lane (for long queries) would also wait for a CPU. Work
// with few steps (src/base/effort.ts) is treated as short even if it took long. In such a case, garbage collection for
// other requests took the time. An owner whose work repeatedly blocks the thread overdraws its budget, and gets less
// time for each piece of work.
//
// `CpuBudget` limits the CPU time of all code that belongs to one item, such as a document.

import { type Clock, starvedMs, systemClock, threadMicros } from '../clock.ts'
import { alsoWatched, stepsPerCheck, stepsSoFar } from '../effort.ts'
import { RateLimit } from './rate-limit.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
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

/** Maximum number of owners whose budgets are remembered. A forgotten owner gets its complete budget again. */
const ownersMax = 10_000

/** Milliseconds for which a measurement of the thread's starvation (waits for a CPU) is reused for new work. */
const starvedAgeMs = 5

interface TimeBudgetOptions {
  /** Milliseconds that a piece of work may take. */
  readonly ms: number
  readonly clock?: Clock
  /** Returns the milliseconds that this thread has waited for a CPU so far. */
  readonly starvedMs?: () => number
  /**
   * Returns whether short work of an owner should stay in this process, because the owner's queue for the slow lane is
   * at least half full. Absent: never.
   */
  readonly isCrowded?: (owner: string) => boolean
}

/** The time for which owners may block this thread. */
export class TimeBudget {
  readonly ms: number
  readonly clock: Clock
  readonly starvedMs: () => number
  readonly #isCrowded: (owner: string) => boolean
  /** Milliseconds for which each owner may still block the thread. */
  readonly #held: RateLimit<string>
  #lastStarvedMs = 0
  #measuredMs = Number.NEGATIVE_INFINITY

  constructor(options: TimeBudgetOptions) {
    this.ms = options.ms
    this.clock = options.clock ?? systemClock
    this.starvedMs = options.starvedMs ?? starvedMs
    this.#isCrowded = options.isCrowded ?? (() => false)
    const rate = { max: timeBudgetLimits.blockingMsFree, perSecond: timeBudgetLimits.blockingMsPerSecond }
    this.#held = new RateLimit(rate, ownersMax, () => this.clock.elapsedMs())
  }

  /** Begins a piece of work of an owner. */
  begin(owner: string): TimedWork {
    return new TimedWork(this, owner)
  }

  /**
   * Milliseconds that a piece of work of an owner may take now. An owner that has overdrawn its budget gets a shorter
   * time. For a crowded owner (`isCrowded`), this rule applies only if cancelled work has overdrawn the budget by more
   * than `blockingMsFree`.
   */
  msOf(owner: string): number {
    const leftMin = this.#isCrowded(owner) ? -timeBudgetLimits.blockingMsFree : 0
    const isLimited = this.#held.left(owner) < leftMin
    return isLimited ? Math.min(this.ms, timeBudgetLimits.impatientMs) : this.ms
  }

  /** For {@link TimedWork}: counts work that has finished or was cancelled. */
  count(owner: string, heldMs: number, isCancelled: boolean): void {
    if (heldMs < timeBudgetLimits.impatientMs) return
    // Finished work of a crowded owner does not use the budget. Otherwise the owner's later work would move to the slow
    // lane sooner, and the slow lane would reject it.
    if (isCancelled || !this.#isCrowded(owner)) this.#held.take(owner, heldMs)
  }

  /**
   * For {@link TimedWork}: the approximate milliseconds that the thread had waited for a CPU before `nowMs`. A recent
   * measurement is used again.
   */
  starvedBefore(nowMs: number): number {
    if (nowMs - this.#measuredMs > starvedAgeMs) {
      this.#lastStarvedMs = this.starvedMs()
      this.#measuredMs = nowMs
    }
    return this.#lastStarvedMs
  }
}

/** A piece of work: the parsing of a query, and an evaluation that directly follows. */
export class TimedWork {
  readonly #budget: TimeBudget
  readonly #startMs: number
  readonly #startSteps = stepsSoFar()
  readonly #starvedBeforeMs: number
  #owner: string
  #ms: number
  /** The earliest time at which the work can have used its complete time, in milliseconds of the monotonic clock. */
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

  /** Returns whether the work has used its complete time. */
  isOver(): boolean {
    const { clock } = this.#budget
    if (clock.elapsedMs() < this.#endMs) return false
    // With a time limit of 0 milliseconds, the work is over immediately.
    if (this.#ms > 0 && stepsSoFar() - this.#startSteps < stepsPerCheck) return false
    // The starvation is measured only now, because a measurement takes as long as a short query.
    const leftMs = this.#ms - this.#heldMs()
    this.#endMs = clock.elapsedMs() + leftMs
    return leftMs <= 0
  }

  /** Charges the complete work to `owner`, and applies the time limit of `owner`. */
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
    // Work that had a shortened time limit is not counted, so that the budget of its owner recovers.
    if (this.#ms < this.#budget.ms) return
    if (this.#budget.clock.elapsedMs() - this.#startMs < timeBudgetLimits.impatientMs) return
    if (stepsSoFar() - this.#startSteps < stepsPerCheck) return
    this.#budget.count(this.#owner, this.#heldMs(), this.#isCancelled)
  }

  #heldMs(): number {
    const passedMs = this.#budget.clock.elapsedMs() - this.#startMs
    return Math.max(0, passedMs - Math.max(0, this.#budget.starvedMs() - this.#starvedBeforeMs))
  }
}

/**
 * Limits the CPU time of code that belongs to one item. CPU time is measured instead of elapsed time, so that no item
 * is rejected because the machine is busy.
 */
export class CpuBudget {
  readonly #refusal: () => Error
  readonly #clock: () => number
  /** The remaining microseconds of the current item; infinite if there is no item. */
  #left = Number.POSITIVE_INFINITY
  /** Microseconds of CPU time that all calls of {@link within} have taken since the process began. */
  #spent: number = 0

  /**
   * `refusal` creates the error that is thrown when code exceeds the limit. `clock`: the CPU time of this thread in
   * microseconds.
   */
  constructor(refusal: () => Error, clock: () => number = threadMicros) {
    this.#refusal = refusal
    this.#clock = clock
  }

  /** Runs work on one item. All code that belongs to the item may together take `milliseconds` of CPU time. */
  perItem<T>(milliseconds: number, work: () => T): T {
    const outer = this.#left
    this.#left = milliseconds * 1000
    try {
      return work()
    } finally {
      this.#left = outer
    }
  }

  /**
   * Runs code that belongs to the current item, and adds `freeMicros` to the item's limit. Throws the error of
   * `refusal` when all code of the item together exceeds the limit.
   */
  within<T>(code: () => T, freeMicros = 0): T {
    this.#left += freeMicros
    const started = this.#clock()
    const check = () => {
      if (this.#clock() - started > this.#left) throw this.#refusal()
    }
    try {
      return alsoWatched({ check, beforeLongCall: check }, code)
    } finally {
      const taken = this.#clock() - started
      this.#left -= taken
      this.#spent += taken
    }
  }

  /**
   * Runs synchronous work. Then calls `report` with the microseconds of CPU time that calls of {@link within} took
   * during this work, even if the work throws.
   */
  counted<T>(work: () => T, report: (micros: number) => void): T {
    const before = this.#spent
    try {
      return work()
    } finally {
      report(this.#spent - before)
    }
  }
}

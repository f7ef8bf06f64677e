// How often somebody has failed of late. Behind an interface, so that the failures can be counted over processes and
// machines without a change to what slows guessing down.

import type { Clock } from '../base/clock.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import { limits } from '../limits.ts'

/** Failures by key. Nothing here waits: what counts over processes keeps a local view and tells the others later. */
export interface FailureCounts {
  /** The failures of late, fewer as time passes; 0 when there are none. */
  of(key: string): number
  failed(key: string): void
  /** Forgets the failures. */
  passed(key: string): void
}

/** More failures than these change nothing any more, so that they fade in bounded time. */
const failuresMax = limits.passwordFreeFailures + 10

interface Count {
  readonly failures: number
  /** When `failures` was true: milliseconds of {@link Clock.elapsedMs}. */
  readonly countedAt: number
}

/** The failures that this process has seen. */
export class LocalFailureCounts implements FailureCounts {
  readonly #clock: Clock
  readonly #counts = new GenerationCache<string, Count>(limits.passwordGuessersMax)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(key: string): number {
    const count = this.#counts.get(key)
    if (count === undefined) return 0
    const age = this.#clock.elapsedMs() - count.countedAt
    return count.failures * 0.5 ** (age / limits.passwordFailureHalfLifeMs)
  }

  failed(key: string): void {
    const failures = Math.min(failuresMax, this.of(key) + 1)
    this.#counts.set(key, { failures, countedAt: this.#clock.elapsedMs() })
  }

  passed(key: string): void {
    this.#counts.delete(key)
  }
}

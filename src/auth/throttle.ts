// Slows down guessing at passwords without a lock that others could turn. Failures are counted for one guesser (a
// credential at an address) at one identity: after a few free ones that guesser's checks of that identity stand in a
// line and start with a pause between them that doubles with each failure up to a bound. Nobody else stands in that
// line. Who shares credential and address with a guesser does, so the pauses shrink as the line grows: it is served
// in order, and nobody waits in it longer than a bound. The failures fade with time and with a success.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Cancel, Timers } from '../base/timers.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import { type FailureCounts, LocalFailureCounts } from './failure-counts.ts'

/** The first pause, in milliseconds. */
const firstPauseMs = 100

interface Waiter {
  /** When it has waited long enough for the failures of others, whatever the pauses. */
  readonly latest: number
  readonly start: () => void
  readonly refuse: () => void
}

/** The checks of one key. Times are milliseconds of {@link Clock.elapsedMs}. */
interface Line {
  readonly key: string
  /** When its latest check began. */
  startedAt: number
  running: number
  readonly waiting: Waiter[]
  alarm: Cancel | undefined
}

export interface ThrottleOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Absent: the failures that this process has seen count. */
  readonly failures?: FailureCounts
}

export class FailureThrottle {
  readonly #options: ThrottleOptions
  readonly #failures: FailureCounts
  readonly #lines = new LRUCache<string, Line>({ max: limits.passwordGuessersMax })

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#failures = options.failures ?? new LocalFailureCounts(options.clock)
  }

  /**
   * Runs `check` when it is the turn of one of the key's checks; its result false counts as a failure. Rejects with
   * `too many requests` one of the waiting, chosen at random, when there are too many of them.
   */
  async run(key: string, check: () => Promise<boolean>): Promise<boolean> {
    const line = this.#line(key)
    if (line.waiting.length === 0 && this.#isFree(line)) this.#begin(line)
    else await this.#turn(line)
    try {
      const passed = await check()
      if (passed) this.#failures.passed(key)
      else this.#failures.failed(key)
      return passed
    } finally {
      line.running--
      this.#serve(line)
    }
  }

  #line(key: string): Line {
    const known = this.#lines.get(key)
    if (known) return known
    const line: Line = { key, startedAt: 0, running: 0, waiting: [], alarm: undefined }
    this.#lines.set(key, line)
    return line
  }

  /** Checks under way count as failures until they are known, or guesses sent side by side would all be free. */
  #isFree(line: Line): boolean {
    return this.#failures.of(line.key) + line.running < limits.passwordFreeFailures
  }

  #begin(line: Line): void {
    line.running++
    line.startedAt = this.#options.clock.elapsedMs()
  }

  #turn(line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new RequestError('too many requests', 'Too many pending requests'))
      const { waiting } = line
      const latest = this.#options.clock.elapsedMs() + limits.passwordLineWaitMs
      waiting.push({ latest, start: resolve, refuse })
      if (waiting.length > limits.passwordLineMax)
        waiting.splice(this.#options.random.below(waiting.length), 1)[0]?.refuse()
      this.#serve(line)
    })
  }

  /** Starts whoever in line may start now, and sets the alarm for the next. */
  #serve(line: Line): void {
    line.alarm?.()
    line.alarm = undefined
    const { clock, timers } = this.#options
    for (let [next] = line.waiting; next !== undefined; [next] = line.waiting) {
      const due = this.#isFree(line) ? 0 : Math.min(next.latest, line.startedAt + this.#pause(line))
      const rest = due - clock.elapsedMs()
      if (rest > 0) {
        line.alarm = timers.after(rest, () => this.#serve(line))
        return
      }
      this.#begin(line)
      line.waiting.shift()
      next.start()
    }
  }

  /** Milliseconds from the beginning of one check to that of the next. */
  #pause({ key, running, waiting }: Line): number {
    const steps = this.#failures.of(key) + running - limits.passwordFreeFailures
    const growing = firstPauseMs * 2 ** Math.max(0, steps)
    return Math.min(growing, limits.passwordPauseMaxMs, limits.passwordLineWaitMs / waiting.length)
  }
}

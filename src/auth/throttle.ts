// Slows down guessing at one identity's password without locking its owner out: after a few free failures its
// checks stand in line, one at a time, with a pause that doubles with each failure up to a bound. Whoever is in
// line is served in random order and nobody is refused for the failures of others, unless a flood overfills the
// line: then a random one of those waiting has to try again. The failures fade with time and with a success.

import type { Clock } from '../base/clock.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import type { Random } from '../base/random.ts'
import type { Cancel, Timers } from '../base/timers.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'

/** The first pause, in milliseconds. */
const firstDelayMs = 100

/** More failures than these change nothing any more, so that they fade in bounded time. */
const failuresMax = limits.passwordFreeFailures + 10

interface Waiter {
  readonly start: () => void
  readonly refuse: () => void
}

/** What is known of one identity. Times are milliseconds of {@link Clock.elapsedMs}. */
interface Record {
  failures: number
  /** When `failures` was true. */
  countedAt: number
  /** When its latest check ended. */
  endedAt: number
  running: number
  readonly line: Waiter[]
  alarm: Cancel | undefined
}

export interface ThrottleOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
}

export class FailureThrottle {
  readonly #options: ThrottleOptions
  readonly #records = new GenerationCache<string, Record>(limits.passwordIdentitiesMax)

  constructor(options: ThrottleOptions) {
    this.#options = options
  }

  /** Runs `check` when it is the turn of one of this identity's checks. Its answer false counts as a failure. */
  async run(identity: string, check: () => Promise<boolean>): Promise<boolean> {
    const record = this.#record(identity)
    if (this.#startsAtOnce(record)) record.running++
    else await this.#turn(record)
    let passed: boolean | undefined
    try {
      passed = await check()
      return passed
    } finally {
      this.#ended(record, passed)
    }
  }

  #record(identity: string): Record {
    const known = this.#records.get(identity)
    if (known) return known
    const now = this.#options.clock.elapsedMs()
    const record: Record = {
      failures: 0,
      countedAt: now,
      endedAt: now,
      running: 0,
      line: [],
      alarm: undefined,
    }
    this.#records.set(identity, record)
    return record
  }

  /** Checks under way count as failures until they are known, or guesses sent side by side would all be free. */
  #startsAtOnce(record: Record): boolean {
    return record.line.length === 0 && this.#failures(record) + record.running < limits.passwordFreeFailures
  }

  #failures(record: Record): number {
    const age = this.#options.clock.elapsedMs() - record.countedAt
    return record.failures * 0.5 ** (age / limits.passwordFailureHalfLifeMs)
  }

  #turn(record: Record): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new RequestError('too many requests', 'Too many pending requests'))
      record.line.push({ start: resolve, refuse })
      if (record.line.length > limits.passwordLineMax) this.#takeOne(record)?.refuse()
      this.#serve(record)
    })
  }

  #takeOne(record: Record): Waiter | undefined {
    const { line } = record
    if (line.length === 0) return undefined
    return line.splice(this.#options.random.below(line.length), 1)[0]
  }

  #ended(record: Record, passed: boolean | undefined): void {
    record.running--
    const now = this.#options.clock.elapsedMs()
    record.endedAt = now
    if (passed === true) record.failures = 0
    else if (passed === false) record.failures = Math.min(failuresMax, this.#failures(record) + 1)
    if (passed !== undefined) record.countedAt = now
    this.#serve(record)
  }

  /** Starts whoever in line may start now, and sets the alarm for the next. */
  #serve(record: Record): void {
    record.alarm?.()
    record.alarm = undefined
    while (record.line.length > 0) {
      const failures = this.#failures(record)
      const free = failures + record.running < limits.passwordFreeFailures
      if (!free && record.running > 0) return
      const rest = free ? 0 : record.endedAt + delayAfter(failures) - this.#options.clock.elapsedMs()
      if (rest > 0) {
        record.alarm = this.#options.timers.after(rest, () => this.#serve(record))
        return
      }
      record.running++
      this.#takeOne(record)?.start()
    }
  }
}

function delayAfter(failures: number): number {
  const steps = failures - limits.passwordFreeFailures
  return Math.min(limits.passwordDelayMaxMs, firstDelayMs * 2 ** Math.max(0, steps))
}

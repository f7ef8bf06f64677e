// Slows down password guessing without locking out users, because an attacker could provoke a lockout. Failures are
// counted per guesser (a credential at an address) and identity. After a few free failures, the checks of that guesser
// for that identity are queued. The pause between them doubles with each failure up to a limit. Callers are affected
// only if they share credential and address with a guesser. For these callers, the queue is served in order, the pauses
// shrink as the queue grows, and the waiting time is limited. Failures decay with time, and a success resets them.

import type { Clock } from '../../base/clock.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import type { NoticeBoard } from '../../base/notices.ts'
import type { Random } from '../../base/random.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import { tooManyChecks } from './bcrypt.ts'
import { FailureCounts } from './failure-counts.ts'

/** The first pause, in milliseconds. */
const firstPauseMs = 100

interface Waiter {
  /** The time at which the check starts regardless of the pauses. */
  readonly latest: number
  readonly start: () => void
  readonly refuse: () => void
}

/** The checks of one key. Times are milliseconds of {@link Clock.elapsedMs}. */
interface Queue {
  readonly key: string
  /** The start of the latest check. */
  startedAt: number
  running: number
  readonly waiting: Waiter[]
  alarm: Cancel | undefined
}

export interface ThrottleOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Exchanges failures with other processes; absent when there is only one process. */
  readonly notices?: NoticeBoard | undefined
}

export class FailureThrottle {
  readonly #options: ThrottleOptions
  readonly #failures: FailureCounts
  readonly #queues = new GenerationCache<string, Queue>(limits.passwordGuessersMax)

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#failures = new FailureCounts(options.clock, options.notices)
  }

  /**
   * Runs `check` when the key has its turn. A result of false counts as a failure. When too many checks of the key are
   * waiting, a random one of them rejects with `too many requests`.
   */
  async run(key: string, check: () => Promise<boolean>): Promise<boolean> {
    const queue = this.#queueOf(key)
    if (queue.waiting.length === 0 && this.#isFree(queue)) this.#begin(queue)
    else await this.#turn(queue)
    try {
      const passed = await check()
      if (passed) this.#failures.passed(key)
      else this.#failures.failed(key)
      return passed
    } finally {
      queue.running--
      this.#serve(queue)
    }
  }

  #queueOf(key: string): Queue {
    const known = this.#queues.get(key)
    if (known) return known
    const queue: Queue = { key, startedAt: 0, running: 0, waiting: [], alarm: undefined }
    this.#queues.set(key, queue)
    return queue
  }

  /** Running checks count as failures until they finish. Otherwise concurrent guesses would all be free. */
  #isFree(queue: Queue): boolean {
    return this.#failures.of(queue.key) + queue.running < limits.passwordFreeFailures
  }

  #begin(queue: Queue): void {
    queue.running++
    queue.startedAt = this.#options.clock.elapsedMs()
  }

  #turn(queue: Queue): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(tooManyChecks())
      const { waiting } = queue
      const latest = this.#options.clock.elapsedMs() + limits.passwordQueueWaitMs
      waiting.push({ latest, start: resolve, refuse })
      if (waiting.length > limits.passwordQueueMax)
        waiting.splice(this.#options.random.below(waiting.length), 1)[0]?.refuse()
      this.#serve(queue)
    })
  }

  /** Starts the waiting checks that may start now, and sets the timer for the next one. */
  #serve(queue: Queue): void {
    queue.alarm?.()
    queue.alarm = undefined
    const { clock, timers } = this.#options
    for (let [next] = queue.waiting; next !== undefined; [next] = queue.waiting) {
      const due = this.#isFree(queue) ? 0 : Math.min(next.latest, queue.startedAt + this.#pause(queue))
      const rest = due - clock.elapsedMs()
      if (rest > 0) {
        queue.alarm = timers.after(rest, () => this.#serve(queue))
        return
      }
      this.#begin(queue)
      queue.waiting.shift()
      next.start()
    }
  }

  /** Milliseconds between the starts of two checks. */
  #pause({ key, running, waiting }: Queue): number {
    const steps = this.#failures.of(key) + running - limits.passwordFreeFailures
    const growing = firstPauseMs * 2 ** Math.max(0, steps)
    return Math.min(growing, limits.passwordPauseMaxMs, limits.passwordQueueWaitMs / waiting.length)
  }
}

// Slows down guessing at passwords without locking anybody out, which others could provoke. Failures are counted for
// one guesser (a credential at an address) at one identity: after a few free ones that guesser's checks of that
// identity stand in a queue and start with a pause between them that doubles with each failure up to a bound. No
// other caller stands in that queue. Who shares credential and address with a guesser does, so the pauses shrink as the queue
// grows: it is served in order, and no caller waits in it longer than a bound. The failures fade with time and with a
// success.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import type { NoticeBoard } from '../base/notices.ts'
import type { Random } from '../base/random.ts'
import type { Cancel, Timers } from '../base/timers.ts'
import { limits } from '../limits.ts'
import { tooManyChecks } from './bcrypt.ts'
import { FailureCounts } from './failure-counts.ts'

/** The first pause, in milliseconds. */
const firstPauseMs = 100

interface Waiter {
  /** When it has waited long enough for the failures of others, whatever the pauses. */
  readonly latest: number
  readonly start: () => void
  readonly refuse: () => void
}

/** The checks of one key. Times are milliseconds of {@link Clock.elapsedMs}. */
interface Queue {
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
  /** By which processes tell each other of failures; absent: there is one. */
  readonly notices?: NoticeBoard | undefined
}

export class FailureThrottle {
  readonly #options: ThrottleOptions
  readonly #failures: FailureCounts
  readonly #queues = new LRUCache<string, Queue>({ max: limits.passwordGuessersMax })

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#failures = new FailureCounts(options.clock, options.notices)
  }

  /**
   * Runs `check` when it is the turn of one of the key's checks; its result false counts as a failure. Rejects with
   * `too many requests` one of the waiting, chosen at random, when there are too many of them.
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

  /** Checks under way count as failures until they are known, or guesses sent side by side would all be free. */
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

  /** Starts those in the queue that may start now, and sets the alarm for the next. */
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

  /** Milliseconds from the beginning of one check to that of the next. */
  #pause({ key, running, waiting }: Queue): number {
    const steps = this.#failures.of(key) + running - limits.passwordFreeFailures
    const growing = firstPauseMs * 2 ** Math.max(0, steps)
    return Math.min(growing, limits.passwordPauseMaxMs, limits.passwordQueueWaitMs / waiting.length)
  }
}

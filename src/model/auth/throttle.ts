// Slows down password guessing without locking out users, because an attacker could provoke a lockout. Failures are
// counted per guesser (a credential at an address) and identity. After a few free failures, the checks of that guesser
// for that identity are queued. The pause between them doubles with each failure up to a limit. Callers are affected
// only if they share credential and address with a guesser. For these callers, the queue is served in order, the pauses
// shrink as the queue grows, and the waiting time is limited. Failures decay with time, and a success resets them.

import type { Clock } from '../../base/clock.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import type { NoticeBoard, NoticeTopic } from '../../base/notices.ts'
import type { Memo } from '../../base/pending.ts'
import type { Random } from '../../base/random.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { Transaction } from '../../storage/store/store-contract.ts'
import { Ref } from '../../values/value.ts'
import type { Caller } from './access-contract.ts'
import { tooManyChecks } from './bcrypt.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
export const throttleLimits = {
  /** Failed password checks without a pause, of one client (a credential at an address) for one identity; own limit. */
  passwordFreeFailures: 5,
  /** Longest pause between password checks after failures, in milliseconds; own limit. */
  passwordPauseMaxMs: 2000,
  /** Milliseconds after which half of the failed password checks of a client are forgotten; own limit. */
  passwordFailureHalfLifeMs: 300_000,
  /** Password checks of one client that wait for the end of its pause; own limit. */
  passwordQueueMax: 1000,
  /** Maximum milliseconds for which pauses delay a password check; own limit. */
  passwordQueueWaitMs: 5000,
  /** Clients whose failed password checks are remembered; own limit. */
  passwordGuessersMax: 100_000,
} as const

// Failed logins are counted per guesser, and guessers take turns for password checks.

/** A request to check or hash a password. */
export interface PasswordRequest {
  readonly transaction: Transaction
  readonly memo: Memo
  readonly caller: Caller
  /** The origin of the request: an IPv4 address, or the 64-bit network of an IPv6 address; undefined when unknown. */
  readonly address: string | undefined
}

/** A name for a credential at an address. Guessers are distinguished by this name only. */
export function guesserOf({ address, caller: { credential, database } }: PasswordRequest): string {
  const who =
    credential instanceof Ref ? refName(credential) : credential === undefined ? 'root' : 'third party'
  return `${who} in ${database} at ${address ?? 'nowhere'}`
}

/** A name for a document. */
export function refName({ collection, database, id }: Ref): string {
  return `${database}/${collection}/${id}`
}

// Counts the recent failures of guessers, from this process and from the notices of other processes. Counting never
// waits; other processes are notified later.

/** The maximum of a count. Higher counts would have no effect but take longer to decay. */
const failuresMax = throttleLimits.passwordFreeFailures + 10

interface Count {
  readonly failures: number
  /** The time of `failures`: milliseconds of {@link Clock.elapsedMs}. */
  readonly countedAt: number
}

/** Maximum number of keys in one notice. Further failures count only in the process that has seen them. */
const newsMax = 4096

/**
 * The changes of a key since the last notice: whether a login has succeeded, and the failures after the last success.
 */
interface News {
  readonly hasPassed: boolean
  readonly failures: number
}

/** The wire form of {@link News}, with the key. */
type NewsEntry = readonly [key: string, hasPassed: boolean, failures: number]

/** The failures of each key. A key names a guesser and an identity. */
export class FailureCounts implements NoticeTopic {
  readonly #clock: Clock
  readonly #counts = new GenerationCache<string, Count>(throttleLimits.passwordGuessersMax)
  #news = new Map<string, News>()

  /** `notices`: the exchange with other processes; absent when there is only one process. */
  constructor(clock: Clock, notices?: NoticeBoard) {
    this.#clock = clock
    notices?.join('failures', this)
  }

  /** The number of recent failures, which decays with time; 0 when there are none. */
  of(key: string): number {
    const count = this.#counts.get(key)
    if (count === undefined) return 0
    const age = this.#clock.elapsedMs() - count.countedAt
    return count.failures * 0.5 ** (age / throttleLimits.passwordFailureHalfLifeMs)
  }

  failed(key: string): void {
    this.#count(key)
    const { hasPassed = false, failures = 0 } = this.#news.get(key) ?? {}
    this.#note(key, { hasPassed, failures: failures + 1 })
  }

  /** Resets the failures of a key. */
  passed(key: string): void {
    // Most keys have no failures, so there is no news to record.
    if (this.of(key) > 0) this.#note(key, { hasPassed: true, failures: 0 })
    this.#counts.delete(key)
  }

  collect(): readonly NewsEntry[] | undefined {
    if (this.#news.size === 0) return undefined
    const news = Array.from(
      this.#news,
      ([key, { hasPassed, failures }]): NewsEntry => [key, hasPassed, failures],
    )
    this.#news = new Map()
    return news
  }

  receive(news: unknown): void {
    for (const [key, hasPassed, failures] of news as readonly NewsEntry[]) {
      if (hasPassed) this.#counts.delete(key)
      for (let count = 0; count < Math.min(failures, failuresMax); count++) this.#count(key)
    }
  }

  #count(key: string): void {
    const failures = Math.min(failuresMax, this.of(key) + 1)
    this.#counts.set(key, { failures, countedAt: this.#clock.elapsedMs() })
  }

  #note(key: string, news: News): void {
    if (this.#news.size < newsMax || this.#news.has(key)) this.#news.set(key, news)
  }
}

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
  readonly #queues = new GenerationCache<string, Queue>(throttleLimits.passwordGuessersMax)

  constructor(options: ThrottleOptions) {
    this.#options = options
    this.#failures = new FailureCounts(options.clock, options.notices)
  }

  /**
   * Runs `check` when the key has its turn. A result of false counts as a failure. When too many checks of the key are
   * waiting, a randomly chosen one of them rejects with `too many requests`.
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
    return this.#failures.of(queue.key) + queue.running < throttleLimits.passwordFreeFailures
  }

  #begin(queue: Queue): void {
    queue.running++
    queue.startedAt = this.#options.clock.elapsedMs()
  }

  #turn(queue: Queue): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(tooManyChecks())
      const { waiting } = queue
      const latest = this.#options.clock.elapsedMs() + throttleLimits.passwordQueueWaitMs
      waiting.push({ latest, start: resolve, refuse })
      if (waiting.length > throttleLimits.passwordQueueMax)
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
    const steps = this.#failures.of(key) + running - throttleLimits.passwordFreeFailures
    const growing = firstPauseMs * 2 ** Math.max(0, steps)
    return Math.min(
      growing,
      throttleLimits.passwordPauseMaxMs,
      throttleLimits.passwordQueueWaitMs / waiting.length,
    )
  }
}

// Slows down password guessing. Users are never locked out, because an attacker could provoke a lockout. A client is a
// credential at an address. A user is the document whose password is checked. Recent failures are counted for each
// pair of a client and a user, including failures that other processes report asynchronously. After some failures, the
// password checks of the pair are queued. The pause between two checks doubles with each failure, up to a limit. Users
// who share the credential and the address of an attacker are delayed, too. To limit their delay, the queue is served in
// order, and the pauses become shorter as the queue grows. The number of failures decreases with time, and is reset by a
// success.

import type { Clock } from '../../base/clock.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import type { NoticeBoard, NoticeTopic } from '../../base/notices.ts'
import type { Memo } from '../../base/pending.ts'
import type { Random } from '../../base/random.ts'
import type { Cancel, Timers } from '../../base/timers.ts'
import type { Transaction } from '../../storage/store/store-contract.ts'
import { Ref, refKey } from '../../values/value.ts'
import type { Caller } from './access-contract.ts'
import { tooManyChecks } from './bcrypt.ts'

export const throttleLimits = {
  /**
   * Maximum number of failed password checks without a pause, for each pair of a client (a credential at an address)
   * and a user; own limit.
   */
  passwordFreeFailures: 5,
  /** Longest pause between password checks after failures, in milliseconds; own limit. */
  passwordPauseMaxMs: 2000,
  /** Milliseconds in which the counted number of failed password checks decreases by half; own limit. */
  passwordFailureHalfLifeMs: 300_000,
  /** Maximum number of password checks of one client for one user that wait for the end of a pause; own limit. */
  passwordQueueMax: 1000,
  /** Maximum total milliseconds of the pauses that delay a password check; own limit. */
  passwordQueueWaitMs: 5000,
  /** Maximum number of pairs of client and user whose failed password checks are counted; own limit. */
  passwordGuessersMax: 100_000,
} as const

export interface PasswordRequest {
  readonly transaction: Transaction
  readonly memo: Memo
  readonly caller: Caller
  /** An IPv4 address, or the 64-bit network of an IPv6 address. Undefined if the address is unknown. */
  readonly address: string | undefined
}

/** Names the client by its credential and its address. */
export function clientKeyOf({ address, caller: { credential, database } }: PasswordRequest): string {
  const client =
    credential instanceof Ref ? refKey(credential) : credential === undefined ? 'root' : 'third party'
  return `${client} in ${database} at ${address ?? 'nowhere'}`
}

/** A higher count would not cause longer pauses, but would need more time to decrease. */
const failuresMax = throttleLimits.passwordFreeFailures + 10

interface Count {
  readonly failures: number
  /** The time at which `failures` was computed, in milliseconds of {@link Clock.elapsedMs}. */
  readonly countedAt: number
}

/**
 * Maximum number of keys (pairs of client and user) in a notice to other processes. Failures of further keys are
 * counted only in this process.
 */
const noticeKeysMax = 4096

/**
 * The checks of a key since the previous notice. `hasPassed`: a check has succeeded. `failures` counts those after the
 * last success.
 */
interface FailureNotice {
  readonly hasPassed: boolean
  readonly failures: number
}

/** A {@link FailureNotice} with its key, in the format of notices. */
type FailureNoticeEntry = readonly [key: string, hasPassed: boolean, failures: number]

/** A key contains the names of a client and a user. */
export class FailureCounts implements NoticeTopic {
  readonly #clock: Clock
  readonly #counts = new GenerationCache<string, Count>(throttleLimits.passwordGuessersMax)
  /** The notices for the next call of {@link collect}. */
  #unsent = new Map<string, FailureNotice>()

  /** `notices` is absent if there is only one process. */
  constructor(clock: Clock, notices?: NoticeBoard) {
    this.#clock = clock
    notices?.join('failures', this)
  }

  /** The number decreases with time. */
  of(key: string): number {
    const count = this.#counts.get(key)
    if (count === undefined) return 0
    const age = this.#clock.elapsedMs() - count.countedAt
    return count.failures * 0.5 ** (age / throttleLimits.passwordFailureHalfLifeMs)
  }

  failed(key: string): void {
    this.#count(key)
    const { hasPassed = false, failures = 0 } = this.#unsent.get(key) ?? {}
    this.#note(key, { hasPassed, failures: failures + 1 })
  }

  passed(key: string): void {
    // Most keys have no failures, so other processes need no notice.
    if (this.of(key) > 0) this.#note(key, { hasPassed: true, failures: 0 })
    this.#counts.delete(key)
  }

  collect(): readonly FailureNoticeEntry[] | undefined {
    if (this.#unsent.size === 0) return undefined
    const entries = Array.from(
      this.#unsent,
      ([key, { hasPassed, failures }]): FailureNoticeEntry => [key, hasPassed, failures],
    )
    this.#unsent = new Map()
    return entries
  }

  receive(entries: unknown): void {
    for (const [key, hasPassed, failures] of entries as readonly FailureNoticeEntry[]) {
      if (hasPassed) this.#counts.delete(key)
      for (let count = 0; count < Math.min(failures, failuresMax); count++) this.#count(key)
    }
  }

  #count(key: string): void {
    const failures = Math.min(failuresMax, this.of(key) + 1)
    this.#counts.set(key, { failures, countedAt: this.#clock.elapsedMs() })
  }

  #note(key: string, notice: FailureNotice): void {
    if (this.#unsent.size < noticeKeysMax || this.#unsent.has(key)) this.#unsent.set(key, notice)
  }
}

/** The first pause, in milliseconds. */
const firstPauseMs = 100

interface Waiter {
  /** The latest start time of the check. */
  readonly latest: number
  readonly start: () => void
  readonly reject: () => void
}

/** The running and waiting checks of a key. Times are milliseconds of {@link Clock.elapsedMs}. */
interface Queue {
  readonly key: string
  /** The start time of the most recent check. */
  startedAt: number
  running: number
  readonly waiting: Waiter[]
  /** Cancels the timer for the start of the next waiting check. */
  cancelTimer: Cancel | undefined
}

export interface ThrottleOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Undefined if there is only one process. */
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
   * Runs `check` after the earlier checks of `key` have begun and the pause is over. A `check` that resolves to false
   * is a failure. If too many checks of the key are waiting, one of them, chosen at random, rejects with `too many
   * requests`.
   */
  async run(key: string, check: () => Promise<boolean>): Promise<boolean> {
    const queue = this.#queueOf(key)
    if (queue.waiting.length === 0 && this.#isFree(queue)) this.#begin(queue)
    else await this.#waitForTurn(queue)
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
    const queue: Queue = { key, startedAt: 0, running: 0, waiting: [], cancelTimer: undefined }
    this.#queues.set(key, queue)
    return queue
  }

  /**
   * Returns whether a check may start without a pause. Running checks count as failures, so concurrent guesses also
   * cause pauses.
   */
  #isFree(queue: Queue): boolean {
    return this.#failures.of(queue.key) + queue.running < throttleLimits.passwordFreeFailures
  }

  #begin(queue: Queue): void {
    queue.running++
    queue.startedAt = this.#options.clock.elapsedMs()
  }

  #waitForTurn(queue: Queue): Promise<void> {
    return new Promise((resolve, reject) => {
      const rejectCheck = () => reject(tooManyChecks())
      const { waiting } = queue
      const latest = this.#options.clock.elapsedMs() + throttleLimits.passwordQueueWaitMs
      waiting.push({ latest, start: resolve, reject: rejectCheck })
      if (waiting.length > throttleLimits.passwordQueueMax)
        waiting.splice(this.#options.random.below(waiting.length), 1)[0]?.reject()
      this.#serve(queue)
    })
  }

  #serve(queue: Queue): void {
    queue.cancelTimer?.()
    queue.cancelTimer = undefined
    const { clock, timers } = this.#options
    for (let [next] = queue.waiting; next !== undefined; [next] = queue.waiting) {
      const startMs = this.#isFree(queue) ? 0 : Math.min(next.latest, queue.startedAt + this.#pause(queue))
      const rest = startMs - clock.elapsedMs()
      if (rest > 0) {
        queue.cancelTimer = timers.after(rest, () => this.#serve(queue))
        return
      }
      this.#begin(queue)
      queue.waiting.shift()
      next.start()
    }
  }

  /** The milliseconds between the starts of two checks. */
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

// The time of a request: its deadline, and the part of the time budget that its evaluations may use.

import { TimeBudget, type TimedWork } from '../base/admission/time-budget.ts'
import type { Watch } from '../base/effort.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { within } from '../base/timers.ts'
import { timedOut } from '../model/session.ts'
import type { DatabaseId } from '../values/value.ts'
import type { QueryRequest } from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { queueOf, type SlowLane, TooLong } from './slow-lane-contract.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const requestTimeLimits = {
  /**
   * Milliseconds that a stream's expression may block the process, because a stream cannot move to the slow lane; own
   * limit.
   */
  unmovableMs: 50,
} as const

/**
 * The treatment of a long evaluation. `goes on`: it continues until its deadline. `moves`: it moves to the slow lane, if
 * there is one. `fails`: it fails, because another process cannot produce its result.
 */
type LongAction = 'goes on' | 'moves' | 'fails'

export class RequestTime {
  /**
   * The start time. Like the deadline, it uses the monotonic clock of {@link EngineOptions.host}, because the time of
   * day may be changed during the request.
   */
  readonly started: number
  /** Evaluation stops at this time. */
  readonly deadline: number
  /** Cancels an evaluation that takes too long. */
  readonly watch: Watch
  readonly #options: EngineOptions
  readonly #authorization: string
  readonly #failsWhenLong: boolean
  /** The slow lane to which a long evaluation moves. */
  readonly #slowLane: SlowLane | undefined
  /** The current work, if it may hold this process for a limited time. Undefined: until its deadline. */
  #work: TimedWork | undefined

  /** Starts the time of the request. */
  constructor(options: EngineOptions, request: QueryRequest, whenLong: LongAction) {
    this.#options = options
    this.#authorization = request.authorization ?? ''
    this.started = options.host.now()
    this.deadline = this.started + request.timeoutMs * 1000
    this.#failsWhenLong = whenLong === 'fails'
    this.#slowLane = whenLong === 'moves' ? options.slowLane : undefined
    this.watch = {
      check: () => {
        this.requireInTime()
        options.onCheck?.()
        if (this.#work?.isOver()) this.#leave()
      },
      beforeLongCall: () => {
        if (this.#work) this.#leave()
      },
    }
  }

  /** Throws `time out` after the deadline. */
  requireInTime(): void {
    if (this.#options.host.now() > this.deadline) throw timedOut()
  }

  get mayMove(): boolean {
    return this.#slowLane !== undefined
  }

  /** True when the current evaluation has used its whole time in this process. */
  get isUsedUp(): boolean {
    return this.#work?.isOver() === true
  }

  /**
   * Begins a piece of work; {@link countFor} assigns it to a database later. If the previous piece of work has neither
   * ended nor waited, that piece continues, because the process has served no other request in between.
   */
  begin(): void {
    if (this.#work) return
    if (this.#failsWhenLong) this.#work = new TimeBudget({ ms: requestTimeLimits.unmovableMs }).begin('')
    else this.#work = this.#slowLane?.time.begin(queueOf(undefined, this.#authorization))
  }

  /** Ends the current work: it has finished, was cancelled, or has to wait. */
  end(): void {
    this.#work?.end()
    this.#work = undefined
  }

  /** Counts the current work for a database. */
  countFor(database: DatabaseId): void {
    this.#work?.countFor(queueOf(database, ''))
  }

  elapsedMs(): number {
    return Math.max(0, Math.round((this.#options.host.now() - this.started) / 1000))
  }

  leftMs(): number {
    return Math.max(0, (this.deadline - this.#options.host.now()) / 1000)
  }

  /** Waits for a promise. Rejects with `time out` if the promise is still pending at the deadline. */
  async wait(promise: Promise<void>): Promise<void> {
    this.end()
    const late = () => new RequestError('time out', msg`Read timed out.`)
    await within(promise, this.leftMs(), this.#options.timers, late)
  }

  /** Cancels the current evaluation, which takes too long for this process. */
  #leave(): never {
    if (this.#failsWhenLong) throw timedOut()
    this.#work?.cancel()
    throw new TooLong()
  }
}

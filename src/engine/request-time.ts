// The deadline of a request, and the time for which its evaluations may block this process.

import type { Ticket } from '../base/admission/ticket.ts'
import { TimeBudget, type TimedWork } from '../base/admission/time-budget.ts'
import type { Watch } from '../base/effort.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { within } from '../base/timers.ts'
import { timeoutError } from '../model/session.ts'
import type { QueryRequest } from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { queueOf, type SlowLane, SlowLaneNeeded } from './slow-lane-contract.ts'

const requestTimeLimits = {
  /**
   * Maximum number of milliseconds for which a stream's expression may block the process; own limit. A stream cannot
   * move to the slow lane.
   */
  unmovableMs: 50,
} as const

/**
 * The reaction to a long evaluation. `goes on`: until its deadline. `moves`: to the slow lane (processes for long
 * queries), if there is one. `fails`: no other process can produce the result.
 */
type LongAction = 'goes on' | 'moves' | 'fails'

export class RequestTime {
  /**
   * Microseconds of the monotonic clock of {@link EngineOptions.host}, because the time of day may be changed during
   * the request.
   */
  readonly started: number
  readonly deadline: number
  /** Cancels an evaluation that takes too long. */
  readonly watch: Watch
  /** The request in the budgets of the service. */
  readonly ticket: Ticket
  readonly #options: EngineOptions
  readonly #authorization: string
  readonly #failsWhenLong: boolean
  /** Undefined if the evaluation may not move. */
  readonly #slowLane: SlowLane | undefined
  /**
   * The current work, if it may block the process only for a limited time. Undefined if no work has begun, or if the
   * work may block the process until the deadline.
   */
  #work: TimedWork | undefined

  constructor(options: EngineOptions, request: QueryRequest, whenLong: LongAction, ticket: Ticket) {
    this.ticket = ticket
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
        if (this.#work?.isOver()) this.#moveToSlowLane()
      },
      beforeLongCall: () => {
        if (this.#work) this.#moveToSlowLane()
      },
    }
  }

  /** Throws `time out` after the deadline. */
  requireInTime(): void {
    if (this.#options.host.now() > this.deadline) throw timeoutError()
  }

  get mayMove(): boolean {
    return this.#slowLane !== undefined
  }

  /** The current evaluation may not use more time in this process. */
  get isUsedUp(): boolean {
    return this.#work?.isOver() === true
  }

  /**
   * Begins to measure the time of the work; {@link countFor} later assigns it to a database. A running measurement
   * continues, because the process has served no other request meanwhile.
   */
  begin(): void {
    if (this.#work) return
    if (this.#failsWhenLong) this.#work = new TimeBudget({ ms: requestTimeLimits.unmovableMs }).begin('')
    else this.#work = this.#slowLane?.time.begin(queueOf(undefined, this.#authorization))
  }

  /** Called when the work has finished, was cancelled, or has to wait. */
  end(): void {
    this.#work?.end()
    this.#work = undefined
  }

  /** `queue`: that of a database. */
  countFor(queue: string): void {
    this.#work?.countFor(queue)
  }

  elapsedMs(): number {
    return Math.max(0, Math.round((this.#options.host.now() - this.started) / 1000))
  }

  remainingMs(): number {
    return Math.max(0, (this.deadline - this.#options.host.now()) / 1000)
  }

  /**
   * Rejects with `time out` if the promise is still pending at the deadline, and with the error of the ticket if the
   * request should stop.
   */
  async wait(promise: Promise<void>): Promise<void> {
    this.end()
    const late = () => new RequestError('time out', msg`Read timed out.`)
    await this.ticket.wait(within(promise, this.remainingMs(), this.#options.timers, late))
  }

  /** Cancels the current evaluation, which takes too long for this process. */
  #moveToSlowLane(): never {
    if (this.#failsWhenLong) throw timeoutError()
    this.#work?.cancel()
    throw new SlowLaneNeeded()
  }
}

// How long a request may take, and how long its evaluation may hold the process that serves all others.

import type { Watch } from '../base/effort.ts'
import { RequestError } from '../base/errors.ts'
import { msg } from '../base/message.ts'
import { within } from '../base/timers.ts'
import { timedOut } from '../model/session.ts'
import type { DatabaseId } from '../values/value.ts'
import type { QueryRequest } from './contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { fixedShare } from './process-shares.ts'
import { type ProcessShare, queueOf, type SlowLane, TooLong } from './slow-lane.ts'

/**
 * What happens to an evaluation that takes long: it goes on until its deadline, moves to the slow lane (where there is
 * one), or fails, because what it makes cannot come from another process.
 */
type WhenLong = 'goes on' | 'moves' | 'fails'

export class TimeBudget {
  /** By the clock of {@link EngineOptions.host}, like the deadline: the time of day may be set meanwhile. */
  readonly started: number
  /** Past it evaluation gives up. */
  readonly deadline: number
  /** Ends an evaluation in time. */
  readonly watch: Watch
  readonly #options: EngineOptions
  readonly #authorization: string
  readonly #failsWhenLong: boolean
  /** Where to an evaluation moves that takes long. */
  readonly #slowLane: SlowLane | undefined
  /** How long the work under way may hold this process; undefined: until its deadline. */
  #share: ProcessShare | undefined

  /** The request begins now. */
  constructor(options: EngineOptions, request: QueryRequest, whenLong: WhenLong) {
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
        if (this.#share?.isOver()) this.#leave()
      },
      beforeLongCall: () => {
        if (this.#share) this.#leave()
      },
    }
  }

  /** Throws `time out` past the deadline. */
  requireInTime(): void {
    if (this.#options.host.now() > this.deadline) throw timedOut()
  }

  get mayMove(): boolean {
    return this.#slowLane !== undefined
  }

  /** Whether the evaluation under way has held this process for as long as it may. */
  get isUsedUp(): boolean {
    return this.#share?.isOver() === true
  }

  /**
   * Work begins now; whose it is will be known later. What was begun and has neither ended nor waited since goes on: the
   * process has served no other work in between.
   */
  begin(): void {
    if (this.#share) return
    if (this.#failsWhenLong) this.#share = fixedShare()
    else this.#share = this.#slowLane?.share(queueOf(undefined, this.#authorization))
  }

  /** The work under way is through, given up, or has to wait. */
  end(): void {
    this.#share?.ended()
    this.#share = undefined
  }

  /** The work under way counts for a database. */
  countFor(database: DatabaseId): void {
    this.#share?.countFor(queueOf(database, ''))
  }

  elapsedMs(): number {
    return Math.max(0, Math.round((this.#options.host.now() - this.started) / 1000))
  }

  leftMs(): number {
    return Math.max(0, (this.deadline - this.#options.host.now()) / 1000)
  }

  /** Resolves with the promise. Rejects with `time out` when the deadline comes first. */
  async wait(promise: Promise<void>): Promise<void> {
    this.end()
    const late = () => new RequestError('time out', msg`Read timed out.`)
    await within(promise, this.leftMs(), this.#options.timers, late)
  }

  /** Gives the evaluation under way up: it takes too long for this process. */
  #leave(): never {
    if (this.#failsWhenLong) throw timedOut()
    this.#share?.wasted()
    throw new TooLong()
  }
}

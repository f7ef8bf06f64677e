// Reads the change log as it grows, once for all streams of a process, and hands out one transaction after the other.
// Commits of other processes on the same data directory arrive the same way.

import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { epoch } from '../../base/micros.ts'
import { Memo, Pending } from '../../base/pending.ts'
import type { Timers } from '../../base/timers.ts'
import type { CommittedTransaction, Transaction } from '../../storage/store/contract.ts'
import type { Store } from '../../storage/store/store.ts'
import type { Micros } from '../../values/value.ts'

/** What handling a transaction may wait for. */
export interface Waiting {
  /** Remembered as long as the same transaction is tried again. */
  readonly memo: Memo
  /** False: waiting has failed and is not tried again. */
  readonly mayWait: boolean
  /** Others want their turn: what takes longer has to throw {@link TurnOver}. */
  readonly isTurnOver: () => boolean
}

/** Thrown while a transaction is handled: it is tried again in the next turn of the event loop. */
export class TurnOver {}

/** A transaction that has been handled, but for telling of it. */
export interface Handled {
  /** How many events came of it. */
  readonly events: number
  /** Tells as many as a turn allows; returns whether there are more. Nothing else is handled before. */
  readonly handOut: () => boolean
}

interface TailerOptions {
  readonly store: Pick<Store, 'changes' | 'read' | 'watch'>
  readonly timers: Pick<Timers, 'after'>
  readonly clock: Pick<Clock, 'elapsedMs'>
  /**
   * Handles one transaction. May throw Pending, or {@link TurnOver} when that has led it further: it is called again for
   * the same transaction when the result is there, or at the next turn.
   */
  readonly handle: (committed: CommittedTransaction, transaction: Transaction, waiting: Waiting) => Handled
  /** Told of bugs; the tailer has stopped. */
  readonly onFailure: (error: unknown) => void
}

/** What is remembered of the transaction that is being tried. */
type Trying = Pick<Waiting, 'memo' | 'mayWait'>

const patient = (): Trying => ({ memo: new Memo(), mayWait: true })

export class Tailer {
  readonly #options: TailerOptions
  #position: Micros = epoch
  #waiting = patient()
  /** What has been read of the log and not been handled: a large transaction takes several turns, and is decoded once. */
  #ahead: readonly CommittedTransaction[] = []
  /** Of a transaction that not all have been told of yet. */
  #handOut: Handled['handOut'] | undefined
  /** Ends the watch; undefined while nothing is read. */
  #unwatch: (() => void) | undefined
  /** Runs or has been asked to. */
  #isBusy = false
  /** Which start is in force: what an earlier one left behind does nothing. */
  #run = 0

  constructor(options: TailerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#unwatch !== undefined
  }

  /** Begins with the transaction after `position`. */
  start(position: Micros): void {
    this.#position = position
    this.#ahead = []
    this.#waiting = patient()
    this.#handOut = undefined
    this.#isBusy = false
    this.#run++
    this.#unwatch = this.#options.store.watch(() => this.#schedule())
    // Whatever was committed before the watch began has not been announced.
    this.#schedule()
  }

  stop(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#run++
  }

  #schedule(): void {
    if (this.#isBusy) return
    this.#isBusy = true
    const run = this.#run
    setImmediate(() => {
      if (run === this.#run) this.#turn()
    })
  }

  /** Handles some transactions, then lets others have the event loop. */
  #turn(): void {
    this.#isBusy = false
    try {
      if (this.#hasMoreToTell()) {
        this.#schedule()
        return
      }
      if (!this.isRunning) return
      const more = this.#options.store.read(transaction => this.#readOn(transaction)).result
      if (more) this.#schedule()
    } catch (error) {
      if (error instanceof Pending) this.#settle(error)
      else if (error instanceof TurnOver) this.#schedule()
      else this.#fail(error)
    }
  }

  /** Whether there may be more to read. */
  #readOn(transaction: Transaction): boolean {
    const { clock, handle, store } = this.#options
    const { streamEventsPerTurn, streamTransactionsPerTurn } = limits
    if (this.#ahead.length === 0)
      this.#ahead = store.changes(this.#position, streamTransactionsPerTurn, streamEventsPerTurn)
    const hasRead = this.#ahead.length > 0
    const run = this.#run
    const endMs = clock.elapsedMs() + limits.streamTurnMs
    const isTurnOver = () => clock.elapsedMs() >= endMs
    let events = 0
    for (let next = this.#ahead[0]; next !== undefined; next = this.#ahead[0]) {
      this.#waiting.memo.begin()
      const handled = handle(next, transaction, { ...this.#waiting, isTurnOver })
      this.#position = next.time
      this.#ahead = this.#ahead.slice(1)
      this.#waiting = patient()
      this.#handOut = handled.handOut
      const hasMore = this.#hasMoreToTell()
      if (run !== this.#run) return false
      events += handled.events
      if (hasMore || events >= streamEventsPerTurn || isTurnOver()) return true
    }
    return hasRead
  }

  /** Tells a share of what there is to tell, and whether that was not all. */
  #hasMoreToTell(): boolean {
    const run = this.#run
    const hasMore = this.#handOut?.() ?? false
    if (run !== this.#run) return false
    if (!hasMore) this.#handOut = undefined
    return hasMore
  }

  #settle(pending: Pending): void {
    this.#isBusy = true
    const run = this.#run
    const { timers } = this.#options
    let settled = false
    const goOn = (mayWait: boolean) => {
      cancel()
      if (run !== this.#run || settled) return
      settled = true
      this.#waiting = { memo: this.#waiting.memo, mayWait }
      this.#turn()
    }
    const cancel = timers.after(limits.streamBatchMs, () => goOn(false))
    this.#waiting.memo.resolve(pending).then(
      () => goOn(true),
      () => goOn(false),
    )
  }

  #fail(error: unknown): void {
    this.stop()
    this.#options.onFailure(error)
  }
}

// Follows the change log for all streams of a process, one committed transaction at a time. The change log also
// contains the commits of other processes that use the same data directory.

import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { epoch } from '../../base/micros.ts'
import { Memo, Pending } from '../../base/pending.ts'
import type { Timers } from '../../base/timers.ts'
import type { Store } from '../../storage/store/store.ts'
import type { CommittedTransaction, Transaction } from '../../storage/store/store-contract.ts'
import type { Micros } from '../../values/value.ts'

const tailerLimits = {
  /** Maximum number of transactions that are handled in one turn of the event loop; own limit. */
  streamTransactionsPerTurn: 64,
  /**
   * Number of events after which a turn of the event loop ends: for each transaction, the events of the stream that gets
   * most. Also the number of changes of documents after which a read of the change log ends; own limit.
   */
  streamEventsPerTurn: 1024,
} as const

/** Defines when the handler of a transaction may wait, and when it must stop. */
export interface WaitOptions {
  /** Results of waits in earlier tries of the same transaction. */
  readonly memo: Memo
  /** False if a wait in an earlier try failed or took too long. The handler must then not wait again. */
  readonly mayWait: boolean
  /** True if other work should run now. The handler must then throw {@link TurnOver} if its work is not finished. */
  readonly isTurnOver: () => boolean
}

/** Thrown by the handler of a transaction to continue in the next turn of the event loop. */
export class TurnOver {}

/** A transaction whose events are not sent yet. */
export interface TransactionEvents {
  /** The largest number of events that one stream gets. */
  readonly events: number
  /**
   * Sends as many events as a turn allows. Returns whether events remain. The tailer handles the next transaction only
   * after all events are sent.
   */
  readonly handOut: () => boolean
}

interface TailerOptions {
  readonly store: Pick<Store, 'changes' | 'read' | 'watch'>
  readonly timers: Pick<Timers, 'after'>
  readonly clock: Pick<Clock, 'elapsedMs'>
  /**
   * Handles one transaction. After `Pending`, the tailer waits for the result and repeats the call; after {@link
   * TurnOver}, it repeats the call in the next turn of the event loop. A call must make progress before it throws
   * {@link TurnOver}.
   */
  readonly handle: (
    committed: CommittedTransaction,
    transaction: Transaction,
    waiting: WaitOptions,
  ) => TransactionEvents
  /** Called after the tailer has stopped. */
  readonly onFailure: (error: unknown) => void
}

/** Options for the next try of the current transaction. */
type Try = Pick<WaitOptions, 'memo' | 'mayWait'>

const firstTry = (): Try => ({ memo: new Memo(), mayWait: true })

export class Tailer {
  readonly #options: TailerOptions
  /** Time of the last handled transaction. */
  #handledTo: Micros = epoch
  #nextTry = firstTry()
  /**
   * Transactions that are read but not handled. Cached, so that a large transaction is decoded only once, even if
   * handling it takes several turns.
   */
  #ahead: readonly CommittedTransaction[] = []
  /** Sends the remaining events of the last handled transaction. */
  #handOut: TransactionEvents['handOut'] | undefined
  /** Undefined while the tailer is stopped. */
  #unwatch: (() => void) | undefined
  /** True while a turn is scheduled, or while the tailer waits for the result of a {@link Pending}. */
  #isScheduled = false
  /** Incremented at each start and stop. A callback does nothing if the number has changed since its creation. */
  #run = 0

  constructor(options: TailerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#unwatch !== undefined
  }

  /** Begins with the first transaction after `after`. */
  start(after: Micros): void {
    this.#handledTo = after
    this.#ahead = []
    this.#nextTry = firstTry()
    this.#handOut = undefined
    this.#isScheduled = false
    this.#run++
    this.#unwatch = this.#options.store.watch(() => this.#schedule())
    // The watch reports no commits from before its start, so the first turn must not wait for a report.
    this.#schedule()
  }

  stop(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#run++
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const run = this.#run
    setImmediate(() => {
      if (run === this.#run) this.#turn()
    })
  }

  /** Handles some transactions, then lets other work run. */
  #turn(): void {
    this.#isScheduled = false
    try {
      if (this.#sendMore()) {
        this.#schedule()
        return
      }
      if (!this.isRunning) return
      const more = this.#options.store.read(transaction => this.#readOn(transaction)).result
      if (more) this.#schedule()
    } catch (error) {
      if (error instanceof Pending) this.#waitFor(error)
      else if (error instanceof TurnOver) this.#schedule()
      else this.#fail(error)
    }
  }

  /** Returns whether another turn is needed, because there may be further transactions or events. */
  #readOn(transaction: Transaction): boolean {
    const { clock, handle, store } = this.#options
    const { streamEventsPerTurn, streamTransactionsPerTurn } = tailerLimits
    if (this.#ahead.length === 0)
      this.#ahead = store.changes(this.#handledTo, streamTransactionsPerTurn, streamEventsPerTurn)
    const hasRead = this.#ahead.length > 0
    const run = this.#run
    const endMs = clock.elapsedMs() + limits.streamTurnMs
    const isTurnOver = () => clock.elapsedMs() >= endMs
    let events = 0
    for (let next = this.#ahead[0]; next !== undefined; next = this.#ahead[0]) {
      this.#nextTry.memo.begin()
      const handled = handle(next, transaction, { ...this.#nextTry, isTurnOver })
      this.#handledTo = next.time
      this.#ahead = this.#ahead.slice(1)
      this.#nextTry = firstTry()
      this.#handOut = handled.handOut
      const hasMore = this.#sendMore()
      if (run !== this.#run) return false
      events += handled.events
      if (hasMore || events >= streamEventsPerTurn || isTurnOver()) return true
    }
    return hasRead
  }

  /** Returns whether events of the last handled transaction remain. */
  #sendMore(): boolean {
    const run = this.#run
    const hasMore = this.#handOut?.() ?? false
    if (run !== this.#run) return false
    if (!hasMore) this.#handOut = undefined
    return hasMore
  }

  #waitFor(pending: Pending): void {
    this.#isScheduled = true
    const run = this.#run
    const { timers } = this.#options
    let isOver = false
    const goOn = (mayWait: boolean) => {
      cancel()
      if (run !== this.#run || isOver) return
      isOver = true
      this.#nextTry = { memo: this.#nextTry.memo, mayWait }
      this.#turn()
    }
    const cancel = timers.after(limits.streamBatchMs, () => goOn(false))
    this.#nextTry.memo.resolve(pending).then(
      () => goOn(true),
      () => goOn(false),
    )
  }

  #fail(error: unknown): void {
    this.stop()
    this.#options.onFailure(error)
  }
}

// Connections take turns: of many requests that one connection brings at once (pipelined, or as streams of HTTP/2),
// a few are begun in each turn of the event loop, so that the others' need not wait for all of them. How many is found out
// as it goes, for nobody knows before what a request takes: when a turn has taken long, fewer are begun in the next. The
// first request of each connection in a turn always is, so whoever asks one thing at a time does not wait here.

import type { Clock } from '../base/clock.ts'
import { limits } from '../limits.ts'
import type { Exchange } from './exchange.ts'

/** What a connection has in hand. */
export interface TurnTaker {
  /** Requests begun in this turn. */
  begun: number
  /** Requests that wait for the next one; undefined when there are none. */
  waiting: Exchange[] | undefined
  /** Reads no more, because many wait, or goes on, because none does. */
  hold(isHeld: boolean): void
}

export class Turns {
  readonly #handle: (exchange: Exchange) => void
  readonly #clock: Clock
  /** Those that have begun something in this turn: only they can have something waiting. */
  #takers: TurnTaker[] = []
  /** How many requests beyond the first of each connection may be begun in a turn, and how many were in this one. */
  #extra: number = limits.requestsPerTurn
  #extraBegun = 0
  #turnFromMs = 0

  /** `handle` must not throw. */
  constructor(handle: (exchange: Exchange) => void, clock: Clock) {
    this.#handle = handle
    this.#clock = clock
  }

  /** Has `exchange` handled at once, or in a later turn. */
  take(taker: TurnTaker, exchange: Exchange): void {
    const isFree = taker.waiting === undefined && this.#mayBegin(taker)
    if (isFree) this.#begin(taker, exchange)
    else {
      taker.waiting ??= []
      if (taker.waiting.push(exchange) === limits.requestsWaitingMax) taker.hold(true)
    }
  }

  #mayBegin(taker: TurnTaker): boolean {
    if (taker.begun === 0) return true
    return taker.begun < limits.requestsPerTurn && this.#extraBegun < this.#extra
  }

  #begin(taker: TurnTaker, exchange: Exchange): void {
    if (taker.begun++ === 0) this.#list(taker)
    else this.#extraBegun++
    this.#handle(exchange)
  }

  #list(taker: TurnTaker): void {
    if (this.#takers.push(taker) > 1) return
    this.#turnFromMs = this.#clock.elapsedMs()
    setImmediate(this.#next)
  }

  readonly #next = () => {
    const tookMs = this.#clock.elapsedMs() - this.#turnFromMs
    if (tookMs > limits.turnMs) this.#extra = Math.floor((this.#extra * limits.turnMs) / tookMs)
    else this.#extra = Math.min(limits.extraRequestsPerTurn, 2 * this.#extra + 1)
    this.#extraBegun = 0
    const takers = this.#takers
    this.#takers = []
    for (const taker of takers) taker.begun = 0
    let isDone = false
    while (!isDone) {
      isDone = true
      for (const taker of takers) if (this.#resume(taker)) isDone = false
    }
  }

  /** Begins the request of a connection that has waited longest, if it may; returns whether it did. */
  #resume(taker: TurnTaker): boolean {
    const { waiting } = taker
    while (waiting !== undefined && this.#mayBegin(taker)) {
      const exchange = waiting.shift()
      if (waiting.length === 0) {
        taker.waiting = undefined
        taker.hold(false)
      }
      if (exchange === undefined) return false
      if (exchange.isGone) continue
      this.#begin(taker, exchange)
      return true
    }
    return false
  }
}

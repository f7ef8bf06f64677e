// Connections take turns: of many requests that one connection brings at once (pipelined, or as streams of HTTP/2),
// a few are begun in each turn of the event loop, so that the others' need not wait for all of them.

import { limits } from '../limits.ts'
import type { Exchange } from './exchange.ts'

/** What a connection has in hand. */
export interface TurnTaker {
  /** Requests begun in this turn. */
  begun: number
  /** Requests that wait for the next one; undefined when there are none. */
  waiting: Exchange[] | undefined
}

export class Turns {
  readonly #handle: (exchange: Exchange) => void
  #takers: TurnTaker[] = []
  readonly #next = () => {
    const takers = this.#takers
    this.#takers = []
    for (const taker of takers) taker.begun = 0
    for (const taker of takers) this.#resume(taker)
  }

  /** `handle` must not throw. */
  constructor(handle: (exchange: Exchange) => void) {
    this.#handle = handle
  }

  /** Has `exchange` handled at once, or in a later turn. */
  take(taker: TurnTaker, exchange: Exchange): void {
    if (taker.begun >= limits.requestsPerTurn) {
      taker.waiting ??= []
      taker.waiting.push(exchange)
      return
    }
    this.#begin(taker, exchange)
  }

  #begin(taker: TurnTaker, exchange: Exchange): void {
    if (taker.begun++ === 0 && this.#takers.push(taker) === 1) setImmediate(this.#next)
    this.#handle(exchange)
  }

  #resume(taker: TurnTaker): void {
    const { waiting } = taker
    if (waiting === undefined) return
    taker.waiting = undefined
    let at = 0
    while (at < waiting.length && taker.begun < limits.requestsPerTurn) {
      const exchange = waiting[at++] as Exchange
      if (!exchange.isGone) this.#begin(taker, exchange)
    }
    // What came in meanwhile, from within a handler, stands behind.
    if (at < waiting.length) taker.waiting = [...waiting.slice(at), ...(taker.waiting ?? [])]
  }
}

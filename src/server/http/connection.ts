// One connection as far as limits and stopping are concerned: how many requests are under way on it. While there is
// none it counts against a bound of all waiting connections, so that strangers cannot use up the sockets.

import type { Socket } from 'node:net'
import type { FairBudget, Share } from './fair-budget.ts'
import { Pacer, type Pacing } from './pacer.ts'

/** The connections of a process. */
export interface Places {
  /** Those without a request under way. */
  readonly waiting: FairBudget
  /** How many have one. */
  busy: number
}

export class Connection {
  readonly client: string
  readonly pacer: Pacer
  readonly #socket: Socket
  readonly #places: Places
  readonly #idleShare: Share
  #underWay = 0
  #isEnded = false
  /** No more can be read: what to do when all but so many of the requests under way are responded to. */
  #broken: { readonly unfinished: number; readonly end: () => void } | undefined

  constructor(socket: Socket, client: string, places: Places, pacing: Pacing) {
    this.#socket = socket
    this.client = client
    this.pacer = new Pacer(pacing, socket, client)
    this.#places = places
    this.#idleShare = places.waiting.open(client, () => socket.destroy())
    this.#idleShare.grow(1)
  }

  /** Whether no request is under way, and it has not been ended. */
  get isIdle(): boolean {
    return this.#underWay === 0 && !this.#isEnded
  }

  /** A request has begun to arrive. Returns false when the connection has been ended before: it must not be served. */
  begin(): boolean {
    if (this.#isEnded) return false
    if (this.#underWay++ > 0) return true
    this.#places.busy++
    this.#idleShare.shrink(1)
    return true
  }

  /** A request has been responded to, or was given up. */
  finish(): void {
    if (--this.#underWay === 0) {
      this.#places.busy--
      this.#idleShare.grow(1)
    }
    this.#endIfBroken()
  }

  /**
   * What came last can be understood no further: `end` tells the other end so, when it has the responses to the requests before.
   * `isInRequest`: the last request under way is part of what cannot be understood.
   */
  break(isInRequest: boolean, end: () => void): void {
    this.#broken ??= { unfinished: isInRequest ? 1 : 0, end }
    this.#endIfBroken()
  }

  #endIfBroken(): void {
    const broken = this.#broken
    if (broken === undefined || this.#underWay > broken.unfinished) return
    this.#broken = undefined
    broken.end()
  }

  /**
   * Ends the connection unless a request is under way. The other end is told first and closes: closing at once would
   * reset the connection if anything was on its way.
   */
  endIfIdle(): void {
    if (this.#underWay > 0) return
    this.#isEnded = true
    this.#socket.end()
  }

  /** Closes the connection for good if {@link endIfIdle} has ended it. */
  dropIfEnded(): void {
    if (this.#isEnded) this.#socket.destroy()
  }

  /** Counts no more: the socket has closed, or another part of the program counts it. */
  release(): void {
    this.#idleShare.close()
  }
}

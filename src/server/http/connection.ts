// Counts the running requests of a connection, for limits and for shutdown. Connections without a request share a
// limit, so that unauthenticated clients cannot use up the sockets.

import type { Socket } from 'node:net'
import type { MemoryBudget, Share } from '../../base/admission/memory-budget.ts'
import { Pacer } from './pacer.ts'
import type { Pacing } from './pacing.ts'

export interface ConnectionCounts {
  /** Connections without a running request. */
  readonly waiting: MemoryBudget
  /** Connections with a running request. */
  busy: number
}

export class Connection {
  readonly client: string
  readonly pacer: Pacer
  readonly #socket: Socket
  readonly #counts: ConnectionCounts
  readonly #idleShare: Share
  #running = 0
  #isEnded = false
  /**
   * Set when the connection cannot be read any further. `end` runs as soon as at most `unfinished` requests are
   * running.
   */
  #broken: { readonly unfinished: number; readonly end: () => void } | undefined

  constructor(socket: Socket, client: string, counts: ConnectionCounts, pacing: Pacing) {
    this.#socket = socket
    this.client = client
    this.pacer = new Pacer(pacing, socket, client)
    this.#counts = counts
    this.#idleShare = counts.waiting.open(client, () => socket.destroy())
    this.#idleShare.grow(1)
  }

  /** No request is running, and the connection has not been ended. */
  get isIdle(): boolean {
    return this.#running === 0 && !this.#isEnded
  }

  /**
   * Called when the head of a request has arrived. Returns false if the connection has been ended: the caller must not
   * serve the request.
   */
  begin(): boolean {
    if (this.#isEnded) return false
    if (this.#running++ > 0) return true
    this.#counts.busy++
    this.#idleShare.shrink(1)
    return true
  }

  /** Called when the response to a request has been sent, or the request was aborted. */
  finish(): void {
    if (--this.#running === 0) {
      this.#counts.busy--
      this.#idleShare.grow(1)
    }
    this.#endIfBroken()
  }

  /**
   * Called when the connection cannot be read any further. `end` reports the error to the client, after the responses
   * to all earlier requests. `isInRequest`: the unreadable bytes belong to the last running request.
   */
  break(isInRequest: boolean, end: () => void): void {
    this.#broken ??= { unfinished: isInRequest ? 1 : 0, end }
    this.#endIfBroken()
  }

  #endIfBroken(): void {
    const broken = this.#broken
    if (broken === undefined || this.#running > broken.unfinished) return
    this.#broken = undefined
    broken.end()
  }

  /**
   * Ends the connection if no request is running. The socket is ended, not destroyed, so that the client closes the
   * connection: destroying it would reset the connection if the client has just sent a request.
   */
  endIfIdle(): void {
    if (this.#running > 0) return
    this.#isEnded = true
    this.#socket.end()
  }

  /** Destroys the connection if {@link endIfIdle} has ended it. */
  dropIfEnded(): void {
    if (this.#isEnded) this.#socket.destroy()
  }

  /** Called when the socket has closed, or was replaced by the encrypted socket of a TLS connection. */
  release(): void {
    this.#idleShare.close()
  }
}

// What a process serves before it can serve: 503 for everything, `/ping` too, with how far it has come. Load balancers and
// people see that it lives, and where it stands.

import type { Socket } from 'node:net'
import { requestErrorStatus } from '../errors.ts'
import { errorBody } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { type ListenAddress, Listener, type ListenerOptions } from './listener.ts'
import { jsonType } from './response-headers.ts'

const startingStatus = requestErrorStatus['service unavailable']
/** Seconds after which a client may ask again. */
const retryAfterSeconds = 1

export class StartingService {
  readonly #progress: () => string
  readonly #listener: Listener

  /** `progress`: a sentence for clients. */
  constructor(progress: () => string, options: ListenerOptions) {
    this.#progress = progress
    this.#listener = new Listener(exchange => this.#respond(exchange), options)
  }

  /** Starts to accept connections; resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    return this.#listener.listen(address)
  }

  /** Instead of `listen`: returns a function that serves a connection that was accepted elsewhere. */
  receive(): (connection: Socket) => void {
    return this.#listener.receive()
  }

  /** Gives the port free and ends all connections. */
  close(): Promise<void> {
    return this.#listener.close(0)
  }

  #respond(exchange: Exchange): void {
    const body = errorBody('service unavailable', `The service is starting: ${this.#progress()}.`)
    const bytes = Buffer.byteLength(body)
    exchange.closeAfterwards()
    const type = ['content-type', jsonType, 'content-length', bytes]
    exchange.respond(startingStatus, [...type, 'retry-after', retryAfterSeconds], body, bytes)
  }
}

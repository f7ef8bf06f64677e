// One request and the way to respond to it, the same for both versions of HTTP. Node has such a thing itself, the
// compatibility layer of HTTP/2, but that costs as much as a small query does.

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable, Writable } from 'node:stream'

/** Names in lower case and values, alternating. */
export type HeaderList = (string | number)[]

/** Where a body goes that is sent in pieces. It holds nothing of the request that does not come with the connection. */
export interface Outlet {
  /** Has to be ended. */
  readonly body: Writable
  /** Breaks off. */
  abort(): void
}

export interface Exchange {
  readonly version: 1 | 2
  readonly method: string
  /** The request target as sent, such as `/ping?scope=node`. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Tells clients apart by where they come from, see `client-address.ts`. */
  readonly client: string
  /** Where the client has reached the service: scheme, host and port. */
  readonly origin: string
  /** The request's body; undefined when it has none. */
  readonly body: Readable | undefined
  /** Whether the connection waits before it brings more of the body; the little that has come already is still read. */
  holdBody(held: boolean): void
  /**
   * Calls `take` soon: with the body if all of it came together with the head, else with undefined, and nothing has been
   * read. Absent where that shows only in reading.
   */
  takeArrived?(take: (body: Buffer | undefined) => void): void
  /** Whether the whole request has arrived. */
  readonly isComplete: boolean
  /** Whether the client has gone. */
  readonly isGone: boolean
  /** Calls `listener` when the response has been handed to the system, or will never be. */
  onClose(listener: () => void): void
  /** No further request follows on this connection (HTTP/1.1), and of this one nothing more is read. */
  closeAfterwards(): void
  /**
   * Sends a whole response and takes the list of headers; `bytes` is the length of `body` in UTF-8. Returns how many bytes of it the client may
   * still have to make room for.
   */
  respond(status: number, headers: HeaderList, body: string, bytes: number): number
  /** Sends a head and takes the list; the body goes to what is returned. */
  begin(status: number, headers: HeaderList): Outlet
  /** Breaks off, whatever has been sent. */
  abort(): void
}

// A request and its response in HTTP/1.1 and HTTP/2. Node's own compatibility layer for HTTP/2 has the same purpose,
// but takes as much time as a small query.

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable, Writable } from 'node:stream'

/** Names (in lower case) and values, alternating. */
export type HeaderList = (string | number)[]

/**
 * The stream for the body of a response that is sent in pieces. The object does not reference the request, so that the
 * request's memory can be freed.
 */
export interface Outlet {
  /** The caller must end this stream. */
  readonly body: Writable
  abort(): void
}

export interface Exchange {
  readonly version: 1 | 2
  readonly method: string
  /** The URL as sent, such as `/ping?scope=node`. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Group of the client's address, see `client-address.ts`. */
  readonly client: string
  /** The address that the client used: scheme, host and port. */
  readonly origin: string
  readonly body: Readable | undefined
  /** Stops reading the body if `held` is true, or continues. Data that has already arrived is still read. */
  pauseBody(held: boolean): void
  /**
   * Calls `take` asynchronously, with the body if it has arrived together with the head. If not, `take` gets undefined,
   * and nothing has been read.
   */
  takeArrived(take: (body: Buffer | undefined) => void): void
  /** True if the whole request has arrived. */
  readonly isComplete: boolean
  readonly hasDisconnected: boolean
  /** Called when the response has been handed to the operating system, or can no longer be sent. */
  onClose(listener: () => void): void
  /** Closes the connection after this response (HTTP/1.1). The rest of this request is not read. */
  closeAfterwards(): void
  /**
   * Sends a whole response; the list of headers must not be used afterwards. `bytes`: the length of `body` in UTF-8.
   * Returns how many bytes of the body could not be sent yet.
   */
  respond(status: number, headers: HeaderList, body: string, bytes: number): number
  /** Sends the head; the list of headers must not be used afterwards. */
  begin(status: number, headers: HeaderList): Outlet
  /** Destroys the request and the response. */
  abort(): void
}

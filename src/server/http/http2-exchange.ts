// A request over HTTP/2: one stream of a session.

import type { IncomingHttpHeaders } from 'node:http'
import { constants, type IncomingHttpHeaders as Http2Headers, type ServerHttp2Stream } from 'node:http2'
import { Readable } from 'node:stream'
import type { Exchange, HeaderList, Outlet } from './exchange.ts'
import type { UpgradeRequest } from './preface.ts'

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants

export class Http2Exchange implements Exchange {
  readonly version = 2
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly client: string
  readonly body: Readable | undefined
  readonly #stream: ServerHttp2Stream
  #closeAfterwards = false
  #hasReadBody = false

  /** `early`: the request that was sent over HTTP/1.1 before the upgrade to HTTP/2. */
  constructor(stream: ServerHttp2Stream, headers: Http2Headers, client: string, early?: UpgradeRequest) {
    this.#stream = stream
    this.client = client
    if (early !== undefined) {
      this.headers = early.headers
      this.method = early.method
      this.url = early.url
      this.body = early.body.length === 0 ? undefined : Readable.from([early.body])
    } else {
      this.headers = headers
      this.method = headers[':method'] as string
      // A CONNECT request has no path.
      this.url = headers[':path'] ?? ''
      this.body = stream.endAfterHeaders ? undefined : stream
    }
    if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
  }

  get origin(): string {
    const { headers } = this
    const authority = headers[':authority'] ?? headers.host
    const socket = this.#stream.session?.socket
    const scheme = this.#stream.session?.encrypted ? 'https' : 'http'
    return `${scheme}://${authority ?? `${socket?.localAddress}:${socket?.localPort}`}`
  }

  /**
   * `read(0)` makes Node deliver the part of the body that arrived with the headers; `setImmediate` runs its callback
   * after this delivery.
   */
  takeArrived(take: (body: Buffer | undefined) => void): void {
    if (this.body === this.#stream) this.#stream.read(0)
    setImmediate(Http2Exchange.#takeIfArrived, this, take)
  }

  static #takeIfArrived(exchange: Http2Exchange, take: (body: Buffer | undefined) => void): void {
    const stream = exchange.#stream
    const announced = Number(exchange.headers['content-length'])
    exchange.#hasReadBody =
      announced > 0 && announced === stream.readableLength && !stream.destroyed && hasEnded(stream)
    // The read has exactly the length of the body, so that the stream emits `end` only when the response is complete.
    // After an earlier `end`, Node would destroy the stream before the last write, and create an error with a stack
    // trace.
    take(exchange.#hasReadBody ? (stream.read(announced) as Buffer) : undefined)
  }

  pauseBody(held: boolean): void {
    if (held) this.body?.pause()
    else this.body?.resume()
  }

  get isComplete(): boolean {
    const { body } = this
    return this.#hasReadBody || body === undefined || body.readableEnded
  }

  get hasDisconnected(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  onClose(listener: () => void): void {
    this.#stream.on('close', listener)
  }

  closeAfterwards(): void {
    this.#closeAfterwards = true
  }

  respond(status: number, headers: HeaderList, body: string, bytes: number): number {
    const stream = this.#stream
    if (bytes === 0 || this.method === 'HEAD') {
      stream.respond(headersOf(status, headers), { endStream: true })
      this.#close()
      return 0
    }
    stream.respond(headersOf(status, headers))
    stream.end(body, bytes === body.length ? 'latin1' : 'utf8')
    this.#close()
    return bytes
  }

  begin(status: number, headers: HeaderList): Outlet {
    const body = this.#stream
    const list = headersOf(status, headers)
    body.respond(list)
    // Node references the list while the stream is open, possibly for days.
    list.length = 0
    return { body, abort: () => breakOff(body) }
  }

  abort(): void {
    breakOff(this.#stream)
  }

  /** Rejects the rest of the request after the response has been sent. */
  #close(): void {
    if (!this.#closeAfterwards) return
    this.#stream.once('finish', () => this.#stream.close(NGHTTP2_NO_ERROR))
  }
}

function breakOff(stream: ServerHttp2Stream): void {
  stream.close(NGHTTP2_CANCEL)
  stream.destroy()
}

function hasEnded(stream: ServerHttp2Stream): boolean {
  return stream.state.remoteClose === 1
}

/** Returns the same list with the status, in the format of Node. */
function headersOf(status: number, headers: HeaderList): string[] {
  headers.unshift(':status', status)
  // Node also accepts numbers, although its types do not allow them.
  return headers as unknown[] as string[]
}

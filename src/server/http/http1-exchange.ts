// A request over HTTP/1.1 or 1.0.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Exchange, HeaderList, Outlet } from './exchange.ts'

export class Http1Exchange implements Exchange {
  readonly version = 1
  readonly client: string
  readonly pauseBody: (held: boolean) => void
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  #hasReadBody = false

  /** `pauseBody`: see {@link Exchange.pauseBody}. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    client: string,
    pauseBody: (held: boolean) => void,
  ) {
    this.#request = request
    this.#response = response
    this.client = client
    this.pauseBody = pauseBody
  }

  get method(): string {
    return this.#request.method as string
  }

  get url(): string {
    return this.#request.url as string
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers
  }

  get origin(): string {
    const { socket, headers } = this.#request
    const scheme = 'encrypted' in socket ? 'https' : 'http'
    return `${scheme}://${headers.host ?? `${socket.localAddress}:${socket.localPort}`}`
  }

  get body(): Readable | undefined {
    const { headers } = this.#request
    const announced = headers['content-length']
    if (announced === undefined && headers['transfer-encoding'] === undefined) return undefined
    return announced === '0' ? undefined : this.#request
  }

  /** Waits for the next tick: Node emits the request first, and then parses the body bytes of the same packet. */
  takeArrived(take: (body: Buffer | undefined) => void): void {
    process.nextTick(Http1Exchange.#takeIfArrived, this, take)
  }

  /**
   * At this point, Node has passed on the body bytes of the head's packet, but marks the request as complete only
   * later, so this method compares the lengths.
   */
  static #takeIfArrived(exchange: Http1Exchange, take: (body: Buffer | undefined) => void): void {
    const request = exchange.#request
    const announced = Number(request.headers['content-length'])
    exchange.#hasReadBody = announced > 0 && announced === request.readableLength && !request.destroyed
    take(exchange.#hasReadBody ? readBuffered(request) : undefined)
  }

  get isComplete(): boolean {
    return this.#hasReadBody || this.#request.complete
  }

  get hasDisconnected(): boolean {
    // While a pipelined response waits for earlier ones, Node does not mark it as destroyed, so the socket is also
    // checked.
    return this.#response.destroyed || this.#request.socket.destroyed
  }

  onClose(listener: () => void): void {
    this.#response.on('close', listener)
  }

  closeAfterwards(): void {
    this.#response.shouldKeepAlive = false
  }

  respond(status: number, headers: HeaderList, body: string, bytes: number): number {
    const response = this.#response
    response.writeHead(status, headers as string[])
    if (this.#request.method === 'HEAD') response.end()
    // ASCII text is the same in Latin-1, which Node writes without transcoding.
    else response.end(body, bytes === body.length ? 'latin1' : 'utf8')
    return response.writableLength
  }

  begin(status: number, headers: HeaderList): Outlet {
    const [request, body] = [this.#request, this.#response]
    body.writeHead(status, headers as string[])
    return { body, abort: () => breakOff(request, body) }
  }

  abort(): void {
    breakOff(this.#request, this.#response)
  }
}

function breakOff(request: IncomingMessage, response: ServerResponse): void {
  request.destroy()
  response.destroy()
}

/** A body that waits to be read may be buffered in several pieces, which Node returns one by one. */
function readBuffered(request: IncomingMessage): Buffer {
  const first: Buffer = request.read()
  if (request.readableLength === 0) return first
  const pieces = [first]
  for (let piece = request.read(); piece !== null; piece = request.read()) pieces.push(piece)
  return Buffer.concat(pieces)
}

// One port for HTTP/1.1 and HTTP/2. In clear text the JavaScript driver opens HTTP/2 without asking ("prior
// knowledge") while browsers and curl speak HTTP/1.1, and Node serves only one of them per server. So each
// connection's first bytes are looked at and the connection is handed to the server they belong to; the
// HTTP/1.1 server is the one that listens. With TLS the handshake (ALPN) decides, which Node does itself.

import http, { type RequestListener } from 'node:http'
import http2, { type Http2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { systemTimers, type Timers } from '../base/timers.ts'
import { limits } from '../limits.ts'
import { answerChannelError } from './channel-errors.ts'

export interface ListenAddress {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
}

export interface ListenerOptions {
  /** PEM texts; clear text without. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /** Milliseconds a kept-alive HTTP/1.1 connection may be idle. */
  readonly idleMs?: number
  /** Milliseconds a client may take to send one request. */
  readonly receiveMs?: number
  readonly timers?: Timers
}

/** What every HTTP/2 connection without TLS begins with, as far as needed to tell it apart. */
const http2Preface = Buffer.from('PRI * HTTP/2.0')

/** An HTTP/2 session without traffic is told to go away after this many milliseconds. */
const sessionIdleMs = 300_000

/** Milliseconds of silence after which a connection's other end is asked whether it is still there: a fact of the protocol. */
const keepAliveProbeMs = 120_000

/** How connections are set up by the process that accepts them. */
export const socketOptions = {
  noDelay: true,
  // Silent event streams: a client that vanished without a word is found out.
  keepAlive: true,
  keepAliveInitialDelay: keepAliveProbeMs,
}

const noBytes = Buffer.alloc(0)

/** Megabytes one HTTP/2 session may hold: room for several of the largest bodies at a time in both directions. */
const sessionMegabytesMax = 128

type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void

export class Listener {
  /** The server that owns the port. */
  readonly server: Server
  readonly #options: ListenerOptions
  readonly #idleMs: number
  readonly #receiveMs: number
  /** The server of HTTP/2 sessions; the same as `server` with TLS. */
  readonly #http2: Http2Server
  readonly #sessions = new Set<http2.ServerHttp2Session>()
  readonly #connections = new Set<Socket>()
  /** Connections of which too little has arrived to tell what they speak. */
  readonly #undecided = new Set<Socket>()
  /** What to do when the last connection has closed. */
  #whenEmpty?: () => void

  constructor(handler: RequestListener, options: ListenerOptions = {}) {
    this.#options = options
    this.#idleMs = options.idleMs ?? limits.connectionIdleMs
    this.#receiveMs = options.receiveMs ?? limits.requestReceiveMs
    // Node's two kinds of requests agree in everything that handlers use.
    const http2Handler = handler as unknown as Http2Handler
    const http2Options = {
      settings: { maxHeaderListSize: limits.requestHeadBytesMax },
      maxSessionMemory: sessionMegabytesMax,
    }
    if (options.tls === undefined) {
      this.#http2 = http2.createServer(http2Options, http2Handler)
      this.server = this.#createClearServer(handler)
    } else {
      const { cert, key } = options.tls
      const secure = http2.createSecureServer(
        { ...http2Options, ...this.#http1Options(), cert, key, allowHTTP1: true },
        http2Handler,
      )
      Object.assign(secure, this.#http1Options())
      secure.on('clientError', answerChannelError)
      secure.on('checkExpectation', http2Handler)
      secure.on('tlsClientError', (_error, socket) => socket.destroy())
      this.#http2 = secure as unknown as Http2Server
      this.server = secure
    }
    this.#http2.on('session', session => this.#track(session))
    this.server.on('connection', (socket: Socket) => {
      this.#connections.add(socket)
      socket.once('close', () => {
        this.#connections.delete(socket)
        if (this.#connections.size === 0) this.#whenEmpty?.()
      })
    })
  }

  /** Starts to accept connections; resolves with the port. Rejects when the address cannot be had. */
  listen({ host, port }: ListenAddress): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject)
      this.server.listen({ host, port }, () => {
        this.server.removeListener('error', reject)
        resolve((this.server.address() as AddressInfo).port)
      })
    })
  }

  /** Instead of {@link listen}: answers a function that serves a connection that another process has accepted. */
  receive(): (connection: Socket) => void {
    // Node begins to enforce its time limits with this event, which only a server with a port of its own gets.
    this.server.emit('listening')
    return connection => this.server.emit('connection', connection)
  }

  /**
   * Accepts no more, lets requests under way finish and closes what is idle. After `graceMs` milliseconds whatever
   * is left is cut off. Handlers are expected to announce `connection: close` meanwhile.
   */
  close(graceMs: number): Promise<void> {
    const timers = this.#options.timers ?? systemTimers
    return new Promise(resolve => {
      const cancel = timers.after(graceMs, () => this.#cutOff())
      this.#whenEmpty = () => {
        cancel()
        resolve()
      }
      this.server.close()
      if (this.#connections.size === 0) this.#whenEmpty()
      for (const socket of this.#undecided) socket.destroy()
      for (const session of this.#sessions) session.close()
    })
  }

  #http1Options() {
    return {
      maxHeaderSize: limits.requestHeadBytesMax,
      keepAliveTimeout: this.#idleMs,
      headersTimeout: this.#receiveMs,
      requestTimeout: this.#receiveMs,
      // How often the two limits above are enforced.
      connectionsCheckingInterval: Math.ceil(this.#receiveMs / 4),
      ...socketOptions,
      // Every name leads to the same service, so a request may do without one.
      requireHostHeader: false,
    }
  }

  #createClearServer(handler: RequestListener): http.Server {
    const server = http.createServer(this.#http1Options(), handler)
    const [serveHttp1] = server.listeners('connection') as [(socket: Socket) => void]
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => {
      this.#decide(socket, speaksHttp2 => {
        if (speaksHttp2) this.#http2.emit('connection', socket)
        else serveHttp1.call(server, socket)
      })
    })
    server.on('clientError', answerChannelError)
    server.on('checkExpectation', handler)
    return server
  }

  /** Looks at the first bytes of a connection, puts them back and calls `hand` with what they say. */
  #decide(socket: Socket, hand: (speaksHttp2: boolean) => void): void {
    this.#undecided.add(socket)
    const forget = () => this.#undecided.delete(socket)
    const ignore = () => socket.destroy()
    let seen: Buffer = noBytes
    const look = () => {
      const chunk: Buffer | null = socket.read()
      if (chunk === null) return
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
      const compared = Math.min(seen.length, http2Preface.length)
      const matches = seen.compare(http2Preface, 0, compared, 0, compared) === 0
      if (matches && compared < http2Preface.length) return
      socket.removeListener('readable', look)
      socket.removeListener('close', forget)
      socket.removeListener('error', ignore)
      socket.setTimeout(0)
      socket.removeListener('timeout', ignore)
      forget()
      socket.unshift(seen)
      hand(matches)
    }
    socket.on('readable', look)
    socket.on('close', forget)
    socket.on('error', ignore)
    socket.setTimeout(this.#receiveMs)
    socket.on('timeout', ignore)
  }

  #track(session: http2.ServerHttp2Session): void {
    this.#sessions.add(session)
    session.once('close', () => this.#sessions.delete(session))
    // Node leaves a session half open while it has streams, and silent ones would never find out.
    session.socket.once('end', () => session.destroy())
    session.setTimeout(sessionIdleMs, () => session.close())
  }

  #cutOff(): void {
    for (const session of this.#sessions) session.destroy()
    for (const connection of this.#connections) connection.destroy()
  }
}

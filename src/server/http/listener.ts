// Serves HTTP/1.1 and HTTP/2 on the same port. Without TLS, the JavaScript driver starts HTTP/2 with prior knowledge,
// and browsers and curl use HTTP/1.1, but a Node server speaks only one of them. So the listener reads the first bytes
// of each connection and passes it to the server of its protocol, which does not listen itself. With TLS, ALPN selects
// the protocol.

import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import http2, {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import tls, { type TLSSocket } from 'node:tls'
import { MemoryBudget } from '../../base/admission/memory-budget.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import { connectionsMax } from '../../base/system-process.ts'
import { type Cancel, stayAlive, systemTimers } from '../../base/timers.ts'
import { answerChannelError } from './channel-errors.ts'
import { clientOf, TrustedProxies } from './client-address.ts'
import { Connection, type ConnectionCounts } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { Http1Exchange } from './http1-exchange.ts'
import { Http2Exchange } from './http2-exchange.ts'
import type { Pacer } from './pacer.ts'
import { Pacing } from './pacing.ts'
import {
  containsFirstRecord,
  peek,
  receiveUpgrade,
  requestsUpgrade,
  startsHttp2,
  type UpgradeRequest,
  upgradeIn,
} from './preface.ts'

const listenerLimits = {
  /** Maximum number of connections without a request in flight; own limit. */
  waitingConnectionsMax: 8192,
  /** Maximum number of open HTTP/2 streams of one connection; own limit. */
  sessionStreamsMax: 1000,
  /** Milliseconds between two checks of the bytes that HTTP/2 connections have sent without a request; own limit. */
  sessionCheckMs: 50,
  /** Milliseconds that idle connections stay open at shutdown, for requests that clients have just sent; own limit. */
  lingerMs: 250,
  /** Milliseconds that a client may take to send one request. */
  requestReceiveMs: 60_000,
} as const

export interface ListenAddress {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
}

export interface ListenerOptions {
  /** Certificate and key in PEM; undefined for clear text. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /** Milliseconds that an HTTP/1.1 keep-alive connection may be idle. */
  readonly idleMs?: number
  /** Tests replace the limits of this file with shorter times and smaller numbers. */
  readonly receiveMs?: number
  readonly lingerMs?: number
  readonly waitingConnectionsMax?: number
  /** The default is derived from the limit of open files. */
  readonly connectionsMax?: number
  /** Addresses and networks, separated by commas. */
  readonly trustedProxies?: string | undefined
  readonly clock?: Clock
}

/** Milliseconds without traffic after which an HTTP/2 session gets GOAWAY. */
const sessionIdleMs = 300_000

/** Milliseconds of silence before the first TCP keep-alive probe, as on the hosted service. */
const keepAliveProbeMs = 120_000

/** Options of accepted connections, also in the process that accepts them for workers. */
export const socketOptions = {
  noDelay: true,
  // Detects that the client of a silent event stream has vanished without closing its connection.
  keepAlive: true,
  keepAliveInitialDelay: keepAliveProbeMs,
}

/** Megabytes of an HTTP/2 session: enough for several of the largest requests and responses. */
const sessionMegabytesMax = 128

/**
 * Node closes a session with too many resets. Node's limit is this much higher than the limit of pacer.ts, so that
 * pacer.ts closes the session first.
 */
const unseenResets = 10

const sessionOptions = {
  settings: {
    maxHeaderListSize: limits.requestHeadBytesMax,
    maxConcurrentStreams: listenerLimits.sessionStreamsMax,
  },
  maxSessionMemory: sessionMegabytesMax,
  streamResetRate: limits.sessionResetsPerSecond,
}

/** Resolves with the port. Rejects when the address is not available. */
export function listenOn(server: Server, { host, port }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      // A later error means that a connection could not be accepted. It must not end the process.
      server.on('error', ignore).removeListener('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Must not throw. */
type HandleExchange = (exchange: Exchange) => void

export class Listener {
  readonly #handle: HandleExchange
  readonly #pacing: Pacing
  readonly #proxies: TrustedProxies
  readonly #idleMs: number
  readonly #receiveMs: number
  readonly #lingerMs: number
  /** The server that listens on the port. */
  readonly #acceptor: Server
  readonly #furtherServers: Server[] = []
  readonly #http1: http.Server
  readonly #sessions = new Map<ServerHttp2Session, Pacer>()
  readonly #cancelChecks: Cancel
  /** Connections without an HTTP/2 session. */
  readonly #connections = new Map<Duplex, Connection>()
  /** With TLS, the encrypted socket replaces the raw socket after the handshake. */
  readonly #sockets = new Set<Socket>()
  readonly #counts: ConnectionCounts
  /** Called when the last connection has closed. Undefined until {@link close} is called. */
  #whenEmpty?: () => void
  #cancelDrop?: Cancel

  constructor(handle: HandleExchange, options: ListenerOptions = {}) {
    this.#handle = handle
    this.#proxies = new TrustedProxies(options.trustedProxies)
    this.#idleMs = options.idleMs ?? limits.connectionIdleMs
    this.#receiveMs = options.receiveMs ?? listenerLimits.requestReceiveMs
    this.#lingerMs = options.lingerMs ?? listenerLimits.lingerMs
    const clock = options.clock ?? systemClock
    this.#pacing = new Pacing(clock, systemTimers)
    const waitingMax = options.waitingConnectionsMax ?? listenerLimits.waitingConnectionsMax
    const openMax = options.connectionsMax ?? connectionsMax()
    // At the limit, a new connection evicts one without a request. If every connection has a request, the new one is
    // closed.
    const max = () => Math.min(waitingMax, openMax - this.#counts.busy)
    const waiting = new MemoryBudget({ max })
    this.#counts = { waiting, busy: 0 }
    this.#cancelChecks = systemTimers.every(listenerLimits.sessionCheckMs, () => {
      for (const pacer of this.#sessions.values()) pacer.checkTraffic()
    })
    this.#http1 = this.#createHttp1()
    this.#acceptor = options.tls ? this.#createSecure(options.tls) : this.#createClear()
  }

  listen(address: ListenAddress): Promise<number> {
    return listenOn(this.#acceptor, address)
  }

  /** Accepts connections on a further port; otherwise like {@link listen}. */
  listenAlso(address: ListenAddress): Promise<number> {
    const server = net.createServer({ ...socketOptions, allowHalfOpen: true }, this.receive())
    this.#furtherServers.push(server)
    return listenOn(server, address)
  }

  /** Replaces {@link listen} if another process accepts the connections. Returns a function that serves one of them. */
  receive(): (connection: Socket) => void {
    return connection => this.#acceptor.emit('connection', connection)
  }

  /**
   * Stops accepting connections and lets running requests finish. Connections without a request stay open for
   * `lingerMs` milliseconds, so that requests in transit are still served. After `graceMs` milliseconds, all
   * connections are destroyed. Until then, the caller should mark each response as the last one of its connection.
   */
  close(graceMs: number): Promise<void> {
    // Idle sockets and timers would not keep the process alive until the listener has closed.
    const endStayAlive = stayAlive()
    return new Promise(resolve => {
      const cancelLinger = systemTimers.after(Math.min(this.#lingerMs, graceMs), () => this.#closeIdle())
      const cancelDestroy = systemTimers.after(graceMs, () => this.#destroyAll())
      this.#whenEmpty = () => {
        endStayAlive()
        cancelLinger()
        this.#cancelDrop?.()
        cancelDestroy()
        this.#cancelChecks()
        this.#http1.close()
        resolve()
      }
      for (const server of [this.#acceptor, ...this.#furtherServers]) server.close()
      if (this.#sockets.size === 0) this.#whenEmpty()
    })
  }

  #createHttp1(): http.Server {
    const server = http.createServer({
      maxHeaderSize: limits.requestHeadBytesMax,
      keepAliveTimeout: this.#idleMs,
      headersTimeout: this.#receiveMs,
      requestTimeout: this.#receiveMs,
      // Interval at which Node enforces the two limits above.
      connectionsCheckingInterval: Math.ceil(this.#receiveMs / 4),
      // The service has no virtual hosts.
      requireHostHeader: false,
      // Upgrades only an idle connection: earlier responses must be sent over HTTP/1.1, before the switch to HTTP/2.
      shouldUpgradeCallback: request =>
        requestsUpgrade(request) && this.#connections.get(request.socket)?.isIdle === true,
    })
    /** Last request of each connection. */
    const latest = new WeakMap<Duplex, IncomingMessage>()
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      latest.set(request.socket, request)
      const connection = this.#connections.get(request.socket)
      if (connection?.begin() !== true) {
        request.socket.destroy()
        return
      }
      response.on('close', () => connection.finish())
      const client = this.#clientOf(connection, request)
      const { pacer } = connection
      pacer.noteHead(request)
      this.#begin(connection, new Http1Exchange(request, response, client, held => pacer.pauseBody(held)))
    }
    server.on('request', handle)
    server.on('checkExpectation', handle)
    server.on('clientError', (error, socket) => {
      const isInRequest = latest.get(socket)?.complete === false
      const connection = this.#connections.get(socket)
      if (connection === undefined) socket.destroy()
      else connection.break(isInRequest, () => answerChannelError(error, socket))
    })
    server.on('upgrade', (request, stream, head) => this.#upgrade(request, stream, head))
    // Node starts its timer for the time limits on this event, which a server that does not listen never emits.
    server.emit('listening')
    return server
  }

  #createClear(): Server {
    // Half-open: a client of HTTP/1.1 may end its side before it has received the response.
    return net.createServer({ ...socketOptions, allowHalfOpen: true }, socket => {
      this.#track(socket)
      this.#detectProtocol(socket)
    })
  }

  #createSecure({ cert, key }: { readonly cert: string | Buffer; readonly key: string | Buffer }): Server {
    const secure = tls.createServer({
      cert,
      key,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: this.#receiveMs,
    })
    /** Raw sockets during the handshake, by remote address and port. */
    const handshakes = new Map<string, Socket>()
    const endOf = (socket: Socket) => `${socket.remoteAddress} ${socket.remotePort}`
    secure.on('tlsClientError', (_error, socket) => socket.destroy())
    secure.on('secureConnection', (socket: TLSSocket) => {
      const end = endOf(socket)
      this.#track(socket)
      const raw = handshakes.get(end)
      if (raw) {
        handshakes.delete(end)
        this.#connections.get(raw)?.release()
        this.#forget(raw)
      }
      if (socket.alpnProtocol === 'h2') this.#admitSession(socket)
      else this.#speakHttp1(socket, nothing)
    })
    return net.createServer(socketOptions, socket => {
      const end = endOf(socket)
      handshakes.set(end, socket)
      this.#track(socket)
      socket.once('close', () => {
        if (handshakes.get(end) === socket) handshakes.delete(end)
      })
      this.#secure(socket, secure)
    })
  }

  /** Reads the first handshake record, and starts the handshake when it is the connection's turn. */
  #secure(socket: Socket, secure: tls.Server): void {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    socket.once('end', drop)
    const cancel = systemTimers.after(this.#receiveMs, drop)
    socket.once('close', cancel)
    const handOver = (seen: Buffer) => {
      if (socket.destroyed) return
      cancel()
      for (const event of ['error', 'end'] as const) socket.removeListener(event, drop)
      socket.removeListener('close', cancel)
      socket.unshift(seen)
      secure.emit('connection', socket)
    }
    peek(socket, seen => {
      if (!containsFirstRecord(seen)) return undefined
      return () => this.#connections.get(socket)?.pacer.shakeHands(() => handOver(seen))
    })
  }

  /** A trusted proxy may have forwarded the request. */
  #clientOf(
    connection: Connection,
    { socket, headers }: { readonly socket: Socket; readonly headers: IncomingHttpHeaders },
  ): string {
    const forwarded = headers['x-forwarded-for']
    if (forwarded === undefined) return connection.client
    return this.#proxies.clientOf(socket.remoteAddress, forwarded.toString())
  }

  #track(socket: Socket): void {
    const connection = new Connection(socket, clientOf(socket.remoteAddress), this.#counts, this.#pacing)
    this.#connections.set(socket, connection)
    this.#sockets.add(socket)
    socket.once('close', () => {
      connection.release()
      this.#forget(socket)
      if (this.#sockets.size === 0) this.#whenEmpty?.()
    })
  }

  #forget(socket: Socket): void {
    this.#connections.delete(socket)
    this.#sockets.delete(socket)
  }

  /** Reads the first bytes of a connection and hands it to the server of its protocol. */
  #detectProtocol(socket: Socket): void {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    socket.setTimeout(this.#receiveMs, drop)
    // A client that has ended its side cannot send a request.
    socket.once('end', drop)
    peek(socket, seen => {
      const speaksHttp2 = startsHttp2(seen)
      if (speaksHttp2 === undefined) return undefined
      const upgrade = speaksHttp2 ? 'none' : upgradeIn(seen)
      if (upgrade === 'incomplete') return undefined
      const handOver = () => {
        if (socket.destroyed) return
        socket.removeListener('error', drop)
        socket.removeListener('end', drop)
        socket.setTimeout(0)
        socket.removeListener('timeout', drop)
        socket.unshift(seen)
        if (speaksHttp2) this.#admitSession(socket)
        else this.#speakHttp1(socket, seen)
      }
      if (!speaksHttp2) return handOver
      return () => this.#connections.get(socket)?.pacer.read(seen.length, handOver)
    })
  }

  /** `seen`: bytes that were read from the connection and put back. */
  #speakHttp1(socket: Socket, seen: Buffer): void {
    socket.once('close', withoutStackTraces)
    this.#http1.emit('connection', socket)
    const parse = socket.listeners('data')[0] as (bytes: Buffer) => void
    this.#connections.get(socket)?.pacer.parseWith(parse, seen)
  }

  /**
   * `rest` delivers the bytes after the request. If the request's body has arrived, `rest` is the socket, else a stream
   * on top of the socket.
   */
  #upgrade(request: IncomingMessage, rest: Duplex, head: Buffer): void {
    const { socket } = request
    const drop = () => socket.destroy()
    this.#connections.get(socket)?.pacer.endWith(request)
    socket.on('error', drop)
    // Node would mistake the stream on top of the socket for an HTTP/2 stream, so `Duplex.from` wraps it in another
    // stream. The declared types of `Duplex.from` do not include Node's streams.
    const ends = { readable: rest, writable: rest } as unknown as Iterable<never>
    const stream = rest === socket ? rest : Duplex.from(ends)
    if (stream !== socket) stream.on('error', drop)
    const cancel = systemTimers.after(this.#receiveMs, drop)
    socket.once('close', cancel)
    receiveUpgrade(request, stream, head, early => {
      cancel()
      this.#admitSession(socket, early, stream)
    })
  }

  /** Starts HTTP/2 on a socket. `stream` delivers its bytes. `early`: a request that came over HTTP/1.1. */
  #admitSession(socket: Socket, early?: UpgradeRequest, stream: Duplex = socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) socket.destroy()
    else connection.pacer.admitSession(() => this.#startSession(connection, socket, stream, early))
  }

  #startSession(connection: Connection, socket: Socket, stream: Duplex, early?: UpgradeRequest): void {
    const { pacer } = connection
    // From now on, a shutdown closes the session instead of the connection.
    this.#connections.delete(socket)
    joinBuffered(stream)
    // Higher than the limit of the pacer, because Node counts the resets in the rest of a packet even after the pacer
    // has closed the session.
    const options = { ...sessionOptions, streamResetBurst: pacer.resetBurst + unseenResets }
    const session = http2.performServerHandshake(stream, options)
    pacer.watch(session)
    this.#sessions.set(session, pacer)
    session.once('close', () => this.#sessions.delete(session))
    // Node keeps a half-open session while it has streams, so silent streams would never end. `setImmediate` lets Node
    // first pass the buffered bytes to the session: destroying it earlier makes Node throw an uncatchable error.
    stream.once('end', () => setImmediate(() => session.destroy()))
    session.setTimeout(sessionIdleMs, () => session.close())
    function finish(this: ServerHttp2Stream): void {
      connection.finish()
      if (this.rstCode !== constants.NGHTTP2_NO_ERROR) pacer.noteReset()
    }
    session.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders) => {
      // A reset ends only its stream. Without the listener, the error of an already destroyed stream would end the
      // process.
      stream.on('error', ignore)
      pacer.noteRequest(rawHeaders)
      // The stream was reset before it could be handled.
      if (stream.destroyed || stream.closed) {
        pacer.noteReset()
        return
      }
      if (!connection.begin()) {
        stream.close(constants.NGHTTP2_REFUSED_STREAM)
        return
      }
      stream.on('close', finish)
      if (!stream.endAfterHeaders) pacer.watchBody(stream)
      const first = stream.id === 1 ? early : undefined
      const client = this.#clientOf(connection, { socket, headers })
      this.#begin(connection, new Http2Exchange(stream, headers, client, first))
    })
  }

  #begin(connection: Connection, exchange: Exchange): void {
    connection.pacer.begin(() => exchange.hasDisconnected || this.#handle(exchange))
  }

  #closeIdle(): void {
    for (const session of this.#sessions.keys()) session.close()
    for (const connection of this.#connections.values()) connection.endIfIdle()
    this.#cancelDrop = systemTimers.after(this.#lingerMs, () => {
      for (const connection of this.#connections.values()) connection.dropIfEnded()
    })
  }

  #destroyAll(): void {
    for (const session of this.#sessions.keys()) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }
}

const nothing = Buffer.alloc(0)

function ignore(): void {}

let isWithoutStackTraces = false

/**
 * Disables stack traces when a connection closes. Node then creates an error for each running request, of which there
 * may be hundreds. The stack traces are never read, but take several times as long as the requests.
 */
function withoutStackTraces(): void {
  if (isWithoutStackTraces) return
  isWithoutStackTraces = true
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  // Runs after all listeners.
  queueMicrotask(() => {
    Error.stackTraceLimit = stackTraceLimit
    isWithoutStackTraces = false
  })
}

/**
 * Node passes the buffered pieces of a socket one by one to a new session, and throws an uncatchable error if one of
 * the first ends the session. So they are joined.
 */
function joinBuffered(socket: Duplex): void {
  const pieces: Buffer[] = []
  for (let piece = socket.read(); piece !== null; piece = socket.read()) pieces.push(piece)
  if (pieces.length > 0) socket.unshift(Buffer.concat(pieces))
}

// One port for HTTP/1.1 and HTTP/2. In clear text the JavaScript driver opens HTTP/2 without asking ("prior
// knowledge") while browsers and curl speak HTTP/1.1, and Node serves only one of them per server. So each
// connection's first bytes are looked at and the connection is handed to the server they belong to; neither of the
// two listens itself. With TLS the handshake (ALPN) decides.

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
import { type Clock, systemClock } from '../../base/clock.ts'
import { connectionsMax } from '../../base/descriptors.ts'
import { limits } from '../../base/limits.ts'
import { type Cancel, stayAlive, systemTimers, type Timers } from '../../base/timers.ts'
import { answerChannelError } from './channel-errors.ts'
import { clientOf } from './client-address.ts'
import { Connection, type Places } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { FairBudget } from './fair-budget.ts'
import { Http1Exchange } from './http1-exchange.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { type Pacer, Pacing } from './pacer.ts'
import { holdsFirstRecord, peek, startsHttp2 } from './preface.ts'
import { TrustedProxies } from './trusted-proxies.ts'
import { asksForUpgrade, type EarlyRequest, receiveUpgrade, upgradeIn } from './upgrade.ts'

/** Where to listen. */
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
  /** Milliseconds that connections without a request stay open when the service stops. */
  readonly lingerMs?: number
  /** Connections without a request under way; the limit of the service when absent. */
  readonly waitingConnectionsMax?: number
  /** All connections; what the process may have open decides when absent. */
  readonly connectionsMax?: number
  /** Addresses and networks of proxies that say where a request comes from, with commas between them. */
  readonly trustedProxies?: string | undefined
  readonly timers?: Timers
  readonly clock?: Clock
}

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

/** Megabytes one HTTP/2 session may hold: room for several of the largest bodies at a time in both directions. */
const sessionMegabytesMax = 128

/** Where many resets come in one piece, Node ends them before pacer.ts, which tells why, gets to see them. */
const unseenResets = 10

const sessionOptions = {
  settings: {
    maxHeaderListSize: limits.requestHeadBytesMax,
    maxConcurrentStreams: limits.sessionStreamsMax,
  },
  maxSessionMemory: sessionMegabytesMax,
  streamResetRate: limits.sessionResetsPerSecond,
}

/** Has a server accept connections; resolves with the port. Rejects when the address is not available. */
export function listenOn(server: Server, { host, port }: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      // Later ones are of a connection that could not be accepted, which must not end the process.
      server.on('error', ignore).removeListener('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** Handles one request. Must not throw. */
type HandleExchange = (exchange: Exchange) => void

export class Listener {
  readonly #handle: HandleExchange
  readonly #pacing: Pacing
  readonly #proxies: TrustedProxies
  readonly #idleMs: number
  readonly #receiveMs: number
  readonly #lingerMs: number
  readonly #timers: Timers
  /** Owns the port. */
  readonly #acceptor: Server
  readonly #http1: http.Server
  readonly #sessions = new Map<ServerHttp2Session, Pacer>()
  readonly #cancelLook: Cancel
  /** Those on which no HTTP/2 is spoken. */
  readonly #connections = new Map<Duplex, Connection>()
  /** All that are open; with TLS the encrypted ones, once they are. */
  readonly #sockets = new Set<Socket>()
  readonly #places: Places
  /** What to do when the last connection has closed. */
  #whenEmpty?: () => void
  #cancelDrop?: Cancel

  constructor(handle: HandleExchange, options: ListenerOptions = {}) {
    this.#handle = handle
    this.#proxies = new TrustedProxies(options.trustedProxies)
    this.#idleMs = options.idleMs ?? limits.connectionIdleMs
    this.#receiveMs = options.receiveMs ?? limits.requestReceiveMs
    this.#lingerMs = options.lingerMs ?? limits.lingerMs
    const clock = options.clock ?? systemClock
    const timers = options.timers ?? systemTimers
    this.#timers = timers
    this.#pacing = new Pacing(clock, timers)
    const waitingMax = options.waitingConnectionsMax ?? limits.waitingConnectionsMax
    const openMax = options.connectionsMax ?? connectionsMax()
    // Waiting connections make room for new ones; when there are none, the new one is closed.
    const max = () => Math.min(waitingMax, openMax - this.#places.busy)
    const waiting = new FairBudget({ max }, { clock, timers })
    this.#places = { waiting, busy: 0 }
    this.#cancelLook = timers.every(limits.sessionLookMs, () => {
      for (const pacer of this.#sessions.values()) pacer.look()
    })
    this.#http1 = this.#createHttp1()
    this.#acceptor = options.tls ? this.#createSecure(options.tls) : this.#createClear()
  }

  /** Starts to accept connections; resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    return listenOn(this.#acceptor, address)
  }

  /** Instead of {@link listen}: returns a function that serves a connection that another process has accepted. */
  receive(): (connection: Socket) => void {
    return connection => this.#acceptor.emit('connection', connection)
  }

  /**
   * Accepts no more and lets requests under way finish. Connections without one stay open for a moment, so that
   * requests that were on their way are served, and are then closed. After `graceMs` milliseconds whatever is left is
   * cut off. Responses are expected to be marked as the last of their connections meanwhile.
   */
  close(graceMs: number): Promise<void> {
    // Idle sockets and timers alone would not.
    const rest = stayAlive()
    return new Promise(resolve => {
      const cancelLinger = this.#timers.after(Math.min(this.#lingerMs, graceMs), () => this.#closeIdle())
      const cancelCut = this.#timers.after(graceMs, () => this.#cutOff())
      this.#whenEmpty = () => {
        rest()
        cancelLinger()
        this.#cancelDrop?.()
        cancelCut()
        this.#cancelLook()
        this.#http1.close()
        resolve()
      }
      this.#acceptor.close()
      if (this.#sockets.size === 0) this.#whenEmpty()
    })
  }

  #createHttp1(): http.Server {
    const server = http.createServer({
      maxHeaderSize: limits.requestHeadBytesMax,
      keepAliveTimeout: this.#idleMs,
      headersTimeout: this.#receiveMs,
      requestTimeout: this.#receiveMs,
      // How often the two limits above are enforced.
      connectionsCheckingInterval: Math.ceil(this.#receiveMs / 4),
      // Every name leads to the same service, so a request may do without one.
      requireHostHeader: false,
      // What was asked before is answered first, and the response to this request is the first of the session.
      shouldUpgradeCallback: request =>
        asksForUpgrade(request) && this.#connections.get(request.socket)?.isIdle === true,
    })
    /** Each connection's last request. */
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
      this.#begin(connection, new Http1Exchange(request, response, client, held => pacer.holdBody(held)))
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
    // Node begins to enforce its time limits with this event, which only a server with a port of its own gets.
    server.emit('listening')
    return server
  }

  #createClear(): Server {
    // Half-open, because clients of HTTP/1.1 may end their side before they have their response.
    return net.createServer({ ...socketOptions, allowHalfOpen: true }, socket => {
      this.#track(socket)
      this.#decide(socket)
    })
  }

  #createSecure({ cert, key }: { readonly cert: string | Buffer; readonly key: string | Buffer }): Server {
    const secure = tls.createServer({
      cert,
      key,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: this.#receiveMs,
    })
    /** Sockets on which nothing has been encrypted yet, by the other end's address and port. */
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

  /** Waits for what a client begins its handshake with, and has it made when it is the connection's turn. */
  #secure(socket: Socket, secure: tls.Server): void {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    socket.once('end', drop)
    const cancel = this.#timers.after(this.#receiveMs, drop)
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
      if (!holdsFirstRecord(seen)) return undefined
      return () => this.#connections.get(socket)?.pacer.shakeHands(() => handOver(seen))
    })
  }

  /** Where a request comes from. */
  #clientOf(
    connection: Connection,
    { socket, headers }: { readonly socket: Socket; readonly headers: IncomingHttpHeaders },
  ): string {
    const forwarded = headers['x-forwarded-for']
    if (forwarded === undefined) return connection.client
    return this.#proxies.clientOf(socket.remoteAddress, forwarded.toString())
  }

  #track(socket: Socket): void {
    const connection = new Connection(socket, clientOf(socket.remoteAddress), this.#places, this.#pacing)
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

  /** Looks at the first bytes of a connection and hands it to the server of that protocol. */
  #decide(socket: Socket): void {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    socket.setTimeout(this.#receiveMs, drop)
    // No client is left to read what would be sent.
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

  /** `seen` is what has been read of the connection, and put back. */
  #speakHttp1(socket: Socket, seen: Buffer): void {
    socket.once('close', withoutStackTraces)
    this.#http1.emit('connection', socket)
    const parse = socket.listeners('data')[0] as (bytes: Buffer) => void
    this.#connections.get(socket)?.pacer.parseWith(parse, seen)
  }

  /** `rest` is what is to be read of the connection: its socket, or a stream on top of it when the request's body is to come. */
  #upgrade(request: IncomingMessage, rest: Duplex, head: Buffer): void {
    const { socket } = request
    const drop = () => socket.destroy()
    this.#connections.get(socket)?.pacer.endWith(request)
    socket.on('error', drop)
    // Node takes that stream for one which speaks HTTP/2 already: it is given another one on top.
    // (Streams of Node are taken, too, which the types do not say.)
    const ends = { readable: rest, writable: rest } as unknown as Iterable<never>
    const stream = rest === socket ? rest : Duplex.from(ends)
    if (stream !== socket) stream.on('error', drop)
    const cancel = this.#timers.after(this.#receiveMs, drop)
    socket.once('close', cancel)
    receiveUpgrade(request, stream, head, early => {
      cancel()
      this.#admitSession(socket, early, stream)
    })
  }

  /** Speaks HTTP/2 on a socket, of which `stream` is what is read; `early` is a request that came before. */
  #admitSession(socket: Socket, early?: EarlyRequest, stream: Duplex = socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) socket.destroy()
    else connection.pacer.admitSession(() => this.#startSession(connection, socket, stream, early))
  }

  #startSession(connection: Connection, socket: Socket, stream: Duplex, early?: EarlyRequest): void {
    const { pacer } = connection
    // From here on, the session is what is closed.
    this.#connections.delete(socket)
    joinBuffered(stream)
    // What is in one piece Node goes through to its end, whatever was decided.
    const options = { ...sessionOptions, streamResetBurst: pacer.resetBurst + unseenResets }
    const session = http2.performServerHandshake(stream, options)
    pacer.watch(session)
    this.#sessions.set(session, pacer)
    session.once('close', () => this.#sessions.delete(session))
    // Node leaves a session half open while it has streams, and silent ones would never find out. It is still to be given
    // the bytes that came before it, and Node throws where it cannot be caught if it is gone by then.
    stream.once('end', () => setImmediate(() => session.destroy()))
    session.setTimeout(sessionIdleMs, () => session.close())
    function finish(this: ServerHttp2Stream): void {
      connection.finish()
      if (this.rstCode !== constants.NGHTTP2_NO_ERROR) pacer.noteReset()
    }
    session.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders) => {
      // A reset ends its stream only. An error of a stream that is over before it could begin would end the process, too.
      stream.on('error', ignore)
      pacer.noteRequest(rawHeaders)
      // Reset before anything could be done about it.
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
    connection.pacer.begin(() => exchange.isGone || this.#handle(exchange))
  }

  #closeIdle(): void {
    for (const session of this.#sessions.keys()) session.close()
    for (const connection of this.#connections.values()) connection.endIfIdle()
    this.#cancelDrop = this.#timers.after(this.#lingerMs, () => {
      for (const connection of this.#connections.values()) connection.dropIfEnded()
    })
  }

  #cutOff(): void {
    for (const session of this.#sessions.keys()) session.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }
}

const nothing = Buffer.alloc(0)

function ignore(): void {}

let isWithoutStackTraces = false

/**
 * A connection closes, and Node is about to make an error for each of its requests. There may be hundreds, their
 * stack traces are never read, and these take several times as long as the requests themselves.
 */
function withoutStackTraces(): void {
  if (isWithoutStackTraces) return
  isWithoutStackTraces = true
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  // When all that listens has been called.
  queueMicrotask(() => {
    Error.stackTraceLimit = stackTraceLimit
    isWithoutStackTraces = false
  })
}

/**
 * Makes one piece of what has been read of a socket and waits. Node gives a session such pieces one after the other, and
 * throws where it cannot be caught when the session has ended with one of the first.
 */
function joinBuffered(socket: Duplex): void {
  const pieces: Buffer[] = []
  for (let piece = socket.read(); piece !== null; piece = socket.read()) pieces.push(piece)
  if (pieces.length > 0) socket.unshift(Buffer.concat(pieces))
}

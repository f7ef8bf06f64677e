// Limits the work for one connection in each turn of the event loop, so that other connections do not wait. If many
// requests arrive together (pipelined, or as HTTP/2 streams), only a few requests begin in each turn. If many bytes
// arrive together, only a part of the bytes is parsed in each turn.
//
// Node's parser of HTTP/1.1 reads sockets in native code. The parser is fast, but it processes everything that a read
// returns, up to 64 KiB. The parser allocates an object for each line (a request, a header, a chunk, a trailer), and
// the client chooses how short its lines are. After too many lines in one turn, this file reads the connection itself.
// The bytes are then passed to the parser in short slices. The cost of a slice depends on its lines and bytes.
//
// When all connections together send too many lines in one turn, all connections are sliced. For a while, new
// connections are then sliced from their first byte. So each connection gets at most one long read before it is sliced.
//
// No slice is parsed in the turn in which a request of the connection begins. The body of this request is not read
// before the next tick. Until then, all pieces of the body in the slice would be in memory and survive garbage
// collections.
//
// Simultaneous TLS handshakes are also spread over several turns. An HTTP/2 session that sends useless frames is
// closed.
//
// The capacity of a turn is adjusted after each turn, because the cost of a request is not known in advance. After a
// long turn, less work begins in the next turn. The first waiting request of each connection always begins. So a client
// that sends one request at a time never waits here.

import type { IncomingMessage } from 'node:http'
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Bucket, passingMs, RateLimit } from '../../base/admission/rate-limit.ts'
import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { Timers } from '../../base/timers.ts'
import { isShort, sliceOf } from './slices.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
export const pacerLimits = {
  /**
   * Requests of one connection that start in one turn of the event loop, so that other connections get their turn; own
   * limit.
   */
  requestsPerTurn: 16,
  /** Waiting requests of one connection at which the service stops reading from the connection; own limit. */
  requestsWaitingMax: 64,
  /** Bytes whose parsing costs as much as one request; own limit. */
  readBytesPerRequest: 256,
  /** Lines of HTTP/1.1 whose parsing costs as much as one request; own limit. */
  linesPerRequest: 16,
  /** Bytes of HTTP/1.1 whose parsing costs as much as one request; own limit. */
  bodyBytesPerRequest: 2048,
  /** Lines of a slice, the part of a read of HTTP/1.1 that is parsed at once; own limit. */
  linesPerSlice: 128,
  /** Lines in one read of HTTP/1.1 at which all new connections are parsed in slices; own limit. */
  linesOfFlood: 512,
  /**
   * Excess lines (the lines of a read beyond `shortReadLines`) of all connections in one turn, at which all connections
   * are parsed in slices; own limit.
   */
  excessLinesPerTurn: 2048,
  /** Milliseconds for which new connections are also parsed in slices, after too many lines were sent; own limit. */
  slicesAllMs: 10_000,
  /** Requests of all connections in one turn, beyond the first request of each connection; own limit. */
  extraRequestsPerTurn: 256,
  /** Target duration of a turn of the event loop in milliseconds; own limit. */
  turnMs: 10,
  /** Streams of one HTTP/2 connection that a client may reset at once; own limit. */
  sessionResetBurst: 100,
  /** Bytes of an HTTP/2 connection that belong to no request and no body: at once, and per second; own limit. */
  sessionEmptyBytesBurst: 524_288,
  sessionEmptyBytesPerSecond: 65_536,
  /**
   * Milliseconds for which a client is an offender after the service has closed its session because of useless frames;
   * own limit.
   */
  offenderMs: 10_000,
  /** Milliseconds between new sessions of an offender; own limit. */
  offenderSpacingMs: 100,
  /** Streams that a session of an offender may reset at once; own limit. */
  offenderResetBurst: 10,
  /** Divisor of the allowed useless bytes for a session of an offender; own limit. */
  offenderEmptyBytesPart: 16,
  /**
   * Maximum delay of a new session of an offender in milliseconds; a session with a longer delay is rejected; own
   * limit.
   */
  offenderWaitMs: 5_000,
  /** Approximate maximum number of offenders in memory; own limit. */
  offendersMax: 10_000,
} as const

/** Work of a connection that may have to wait for a later turn. */
interface Step {
  readonly kind: 'request' | 'handshake' | 'read' | 'slice'
  /** Cost relative to the start of a request, which costs {@link requestCost}. */
  readonly cost: number
  readonly go: () => void
}

const requestCost = 1
/** A TLS handshake takes about as long as this many short requests, most of it for a signature. */
const handshakeCost = 32

/**
 * State that the connections of a process share: the turns of the event loop, and the offenders. An offender is a
 * client whose session was closed because of protocol errors or useless frames.
 */
export class Pacing {
  readonly clock: Clock
  readonly timers: Timers
  /** Connections that have begun work in this turn, or have waiting work. */
  readonly #takers = new Set<Pacer>()
  /**
   * `#room`: the capacity of a turn beyond the first request of each connection. `#spent`: the used capacity in this
   * turn.
   */
  #room: number = pacerLimits.extraRequestsPerTurn
  #spent = 0
  #turnFromMs = 0
  /** Connections whose sockets Node's parser reads directly. */
  readonly #unsliced = new Set<Pacer>()
  /** Lines that the connections in `#unsliced` have sent in this turn beyond the allowed number of lines. */
  #excessLines = 0
  #slicesUntilMs = Number.NEGATIVE_INFINITY
  /**
   * For each client, in milliseconds. `#offences`: the remaining time as an offender. `#queues`: the delay of the next
   * session.
   */
  readonly #offences: RateLimit<string>
  readonly #queues: RateLimit<string>

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
    this.#offences = new RateLimit(passingMs, pacerLimits.offendersMax, () => clock.elapsedMs())
    this.#queues = new RateLimit(passingMs, pacerLimits.offendersMax, () => clock.elapsedMs())
  }

  /**
   * For {@link Pacer}: returns whether the pacer may do its next step in this turn. If true, the pacer must do the step
   * immediately.
   */
  admit(pacer: Pacer, { cost, kind }: Step): boolean {
    if (kind === 'slice' && pacer.hasBegunRequest) return false
    const isFirst = pacer.begun === 0
    const isFree = isFirst && kind === 'request'
    // In an empty turn, a step may exceed the capacity, so that an expensive step does not wait forever.
    const mayGo = isFirst && this.#spent === 0
    const hasRoom = pacer.begun < pacerLimits.requestsPerTurn && this.#spent < this.#room
    if (!isFree && !mayGo && !hasRoom) return false
    if (!isFree) this.#spent += cost
    pacer.begun++
    if (kind === 'request') pacer.hasBegunRequest = true
    this.list(pacer)
    return true
  }

  /** For {@link Pacer}: includes the connection in the next turn of the event loop. */
  list(pacer: Pacer): void {
    if (this.#takers.size === 0) {
      this.#turnFromMs = this.clock.elapsedMs()
      setImmediate(this.#next)
    }
    this.#takers.add(pacer)
  }

  readonly #next = () => {
    const tookMs = this.clock.elapsedMs() - this.#turnFromMs
    if (tookMs > pacerLimits.turnMs) this.#room = Math.floor((this.#room * pacerLimits.turnMs) / tookMs)
    else this.#room = Math.min(pacerLimits.extraRequestsPerTurn, 2 * this.#room + 1)
    this.#spent = 0
    this.#excessLines = 0
    // Connections that began the fewest steps in the last turn come first.
    const takers = [...this.#takers].sort((one, other) => one.begun - other.begun)
    this.#takers.clear()
    for (const taker of takers) {
      taker.begun = 0
      taker.hasBegunRequest = false
      taker.lines = 0
    }
    let going = takers
    while (going.length > 0) going = going.filter(taker => taker.goOn())
    for (const taker of takers) if (taker.isWaiting) this.list(taker)
  }

  /** For {@link Pacer}: true while new connections are sliced from their first byte. */
  get slicesAll(): boolean {
    return this.clock.elapsedMs() < this.#slicesUntilMs
  }

  /** For {@link Pacer}: slices new connections from their first byte for a while, because too many lines were sent. */
  sliceAll(): void {
    this.#slicesUntilMs = this.clock.elapsedMs() + pacerLimits.slicesAllMs
  }

  /** For {@link Pacer}: records whether Node's parser reads the socket directly. */
  setSliced(pacer: Pacer, isSliced: boolean): void {
    if (isSliced) this.#unsliced.delete(pacer)
    else this.#unsliced.add(pacer)
  }

  /**
   * For {@link Pacer}: called when Node has parsed `lines` more lines of the connection than a turn allows. Node still
   * parses the buffer that it has read, but no longer reads the connection.
   */
  noteExcess(pacer: Pacer, lines: number): void {
    this.#excessLines += lines
    pacer.slice()
    if (this.#excessLines <= pacerLimits.excessLinesPerTurn) return
    this.sliceAll()
    for (const each of this.#unsliced) each.slice()
  }

  /** Remembers that a session of `client` was closed because of protocol errors or useless frames. */
  noteOffence(client: string): void {
    this.#offences.take(client, pacerLimits.offenderMs - this.#offences.waitMs(client))
  }

  /** Returns whether {@link noteOffence} was called for `client` in the last `offenderMs` milliseconds. */
  isOffender(client: string): boolean {
    return this.#offences.left(client) < 0
  }

  /**
   * Returns the delay in milliseconds of a new session of `client`; undefined when too many sessions are waiting
   * already. Sessions of offenders are delayed, because a session causes work before its useless frames are detected.
   * The sessions are not rejected, because other clients may have the same address.
   */
  sessionDelayMs(client: string): number | undefined {
    if (!this.isOffender(client)) return 0
    const delayMs = this.#queues.waitMs(client) + pacerLimits.offenderSpacingMs
    if (delayMs > pacerLimits.offenderWaitMs) return undefined
    this.#queues.take(client, pacerLimits.offenderSpacingMs)
    return delayMs
  }
}

/**
 * `frameBytes`: bytes of a frame without its payload. `headerBytes`: maximum bytes of a header without its name and
 * value.
 */
const frameBytes = 9
const headerBytes = 10
/**
 * A client acknowledges data with WINDOW_UPDATE frames. These frames may have one byte for each
 * {@link readPerWindowByte} bytes that the client has read.
 */
const readPerWindowByte = 64
/** Processing a DATA frame takes at least as much time as processing this many bytes. */
const pieceBytes = 128
/** DATA frames between two checks of their session. */
const piecesPerCheck = 32

/** Paces one connection. */
export class Pacer {
  /**
   * For {@link Pacing}: `begun` counts the steps that began in this turn; `lines` counts the lines that Node itself has
   * parsed.
   */
  begun = 0
  lines = 0
  /**
   * For {@link Pacing}: true if a request of this connection has begun in this turn. No slice is then parsed in this
   * turn.
   */
  hasBegunRequest = false
  readonly #pacing: Pacing
  readonly #socket: Socket
  readonly #client: string
  readonly #waiting: Step[] = []
  #mayHold = false
  #isSocketPaused = false
  /** Node's parser of HTTP/1.1, while the parser reads the socket directly. */
  #unsliced: ((bytes: Buffer) => void) | undefined
  /** Node's parser of HTTP/1.1, while this object passes slices to it. */
  #parse: (bytes: Buffer) => void = () => {}
  /** True while a slice is being parsed. */
  #isParsing = false
  /** Bytes of HTTP/1.1 that have not been parsed yet. */
  #unparsed: Buffer | undefined
  /** True while the next slice waits for its turn. */
  #hasSliceWaiting = false
  /** Number of request bodies that are paused. While this number is not 0, nothing more is parsed. */
  #pausedBodies = 0
  /** The request that upgrades the connection to another protocol. */
  #lastRequest: IncomingMessage | undefined
  #session: ServerHttp2Session | undefined
  #resets: Bucket | undefined
  #empty: Bucket | undefined
  /** Received bytes that carried requests or data. */
  #useful = 0
  #pieces = 0
  /** The useless bytes and the sent bytes at the last check. */
  #seenEmpty = 0
  #seenSent = 0

  constructor(pacing: Pacing, socket: Socket, client: string) {
    this.#pacing = pacing
    this.#socket = socket
    this.#client = client
  }

  /** Calls `go` now or in a later turn. `go` begins a request, and must not throw. */
  begin(go: () => void): void {
    this.#take({ kind: 'request', cost: requestCost, go })
    if (this.#mayHold && this.#waiting.length >= pacerLimits.requestsWaitingMax) this.#hold()
  }

  /** Calls `go` now or in a later turn. `go` makes a TLS handshake, and must not throw. */
  shakeHands(go: () => void): void {
    this.#take({ kind: 'handshake', cost: handshakeCost, go })
  }

  /**
   * Calls `go` now or, if there are many bytes, possibly in a later turn. `go` parses `bytes` bytes, and must not
   * throw.
   */
  read(bytes: number, go: () => void): void {
    if (bytes <= limits.shortReadBytes) go()
    else this.#take({ kind: 'read', cost: bytes / pacerLimits.readBytesPerRequest, go })
  }

  /**
   * Starts to pace an HTTP/1.1 connection. `parse` is Node's parser, a listener of the socket's data. The socket is
   * paused while slices or many requests wait. (HTTP/2 limits the requests of a connection itself.) `first`: the bytes
   * that have been read already.
   */
  parseWith(parse: (bytes: Buffer) => void, first: Buffer): void {
    this.#mayHold = true
    this.#unsliced = parse
    this.#socket.on('resume', () => {
      if (!this.#isSocketPaused) return
      // Node resumes the socket when its parser may continue, but also when a handler reads a body. So the socket is
      // paused again if work still waits.
      this.#goOnParsing()
      if (this.#isSocketPaused) this.#socket.pause()
    })
    if (this.#pacing.slicesAll || !isShort(first)) this.slice()
    else {
      this.#pacing.setSliced(this, false)
      this.#socket.once('close', () => this.#pacing.setSliced(this, true))
    }
  }

  /**
   * For {@link Pacing}: from now on, this object receives the bytes of HTTP/1.1 and passes them to the parser in
   * slices.
   */
  slice(): void {
    const parse = this.#unsliced
    this.#pacing.setSliced(this, true)
    if (parse === undefined || this.#socket.destroyed) return
    this.#unsliced = undefined
    this.#parse = parse
    // A second listener for data stops Node's parser from reading the socket directly.
    this.#socket.on('data', this.#receive)
    this.#socket.removeListener('data', parse)
  }

  /** Counts lines that Node has parsed after reading the socket directly. */
  #noteLines(lines: number): void {
    if (this.#isParsing) return
    // `Pacing` resets the count of a listed connection at the next turn.
    if (this.lines === 0) this.#pacing.list(this)
    this.lines += lines
    const excess = this.lines - limits.shortReadLines
    if (excess > 0) this.#pacing.noteExcess(this, Math.min(lines, excess))
  }

  /**
   * Counts the lines of an HTTP/1.1 request. The chunks of a chunked body are also counted, because the client chooses
   * the number of chunks.
   */
  noteHead(request: IncomingMessage): void {
    this.#noteLines(1 + request.rawHeaders.length / 2)
    if (this.#unsliced === undefined || request.headers['transfer-encoding'] === undefined) return
    const push = request.push
    request.push = (piece: Buffer | null, encoding) => {
      this.#noteLines(piece === null ? request.rawTrailers.length / 2 : 1)
      return push.call(request, piece, encoding)
    }
  }

  /** While `held`, a body is paused and no further slice is parsed. The current slice is still parsed to its end. */
  pauseBody(held: boolean): void {
    this.#pausedBodies += held ? 1 : -1
    if (held) this.#hold()
    else this.#goOnParsing()
  }

  /**
   * Stops parsing after `request`, which upgrades to another protocol. The bytes after the request stay in the socket.
   */
  endWith(request: IncomingMessage): void {
    this.#lastRequest = request
    // If the request has arrived completely, Node has already detached its parser.
    if (request.complete) this.#unsliced = undefined
    this.slice()
  }

  /** Called when parsing may continue: a body was resumed, or unread responses have been read. */
  readonly #goOnParsing = () => {
    if (this.#unparsed !== undefined) this.#parseOn()
    this.#readOn()
  }

  /** True while nothing may be parsed: a body is paused, or Node waits until responses have been read. */
  get #isStopped(): boolean {
    return this.#pausedBodies > 0 || (this.#socket as { readonly _paused?: boolean })._paused === true
  }

  readonly #receive = (bytes: Buffer) => {
    const isFirst = this.#unparsed === undefined
    if (sliceOf(bytes, pacerLimits.linesOfFlood).lines >= pacerLimits.linesOfFlood) this.#pacing.sliceAll()
    this.#unparsed = this.#unparsed === undefined ? bytes : Buffer.concat([this.#unparsed, bytes])
    if (isFirst) this.#parseOn()
  }

  #parseOn(): void {
    if (this.#hasSliceWaiting) return
    if (this.#isStopped) {
      this.#hold()
      return
    }
    const unparsed = this.#unparsed as Buffer
    if (isShort(unparsed) && !this.isWaiting) {
      this.#parseSlice(unparsed.length)
      return
    }
    const { end, lines } = sliceOf(unparsed, pacerLimits.linesPerSlice)
    this.#hasSliceWaiting = true
    const go = () => {
      this.#hasSliceWaiting = false
      // If parsing was stopped in the meantime, `#goOnParsing` resumes parsing later.
      if (!this.#isStopped) this.#parseSlice(end)
    }
    const cost = lines / pacerLimits.linesPerRequest + end / pacerLimits.bodyBytesPerRequest
    this.#take({ kind: 'slice', cost, go })
    if (this.#unparsed !== undefined) this.#hold()
  }

  #parseSlice(end: number): void {
    const bytes = this.#unparsed as Buffer
    const isLast = end === bytes.length
    this.#unparsed = isLast ? undefined : bytes.subarray(end)
    // After the connection has ended, no request can get a response.
    if (this.#socket.destroyed || this.#socket.writableEnded) this.#unparsed = undefined
    else {
      this.#isParsing = true
      this.#parse(isLast ? bytes : bytes.subarray(0, end))
      this.#isParsing = false
    }
    if (this.#lastRequest?.complete === true) this.#leaveRest()
    else if (this.#unparsed !== undefined) this.#parseOn()
  }

  #leaveRest(): void {
    const rest = this.#unparsed
    this.#unparsed = undefined
    this.#isSocketPaused = false
    this.#mayHold = false
    this.#socket.removeListener('data', this.#receive)
    if (rest !== undefined) this.#socket.unshift(rest)
  }

  #hold(): void {
    this.#isSocketPaused = true
    this.#socket.pause()
  }

  /** Resumes the socket when no step, byte or body of the connection waits. */
  #readOn(): void {
    const isBusy = this.isWaiting || this.#unparsed !== undefined || this.#pausedBodies > 0
    if (!this.#isSocketPaused || isBusy || this.#socket.destroyed) return
    this.#isSocketPaused = false
    this.#socket.resume()
  }

  #take(step: Step): void {
    if (!this.isWaiting && this.#pacing.admit(this, step)) step.go()
    else {
      this.#waiting.push(step)
      this.#pacing.list(this)
    }
  }

  /** For {@link Pacing}: true if a step of this connection waits for a later turn. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** For {@link Pacing}: runs the oldest waiting step if there is capacity. Returns whether the step ran. */
  goOn(): boolean {
    const [step] = this.#waiting
    if (step === undefined || !this.#pacing.admit(this, step)) return false
    this.#waiting.shift()
    step.go()
    this.#readOn()
    return true
  }

  /**
   * Calls `begin` when the client may begin an HTTP/2 session. Does not call `begin` if the connection closes first, or
   * if too many sessions of the client are waiting.
   */
  admitSession(begin: () => void): void {
    const delayMs = this.#pacing.sessionDelayMs(this.#client)
    const drop = () => this.#socket.destroy()
    if (delayMs === 0) begin()
    else if (delayMs === undefined) drop()
    else {
      this.#socket.on('error', drop)
      this.#pacing.timers.after(delayMs, () => {
        this.#socket.removeListener('error', drop)
        if (!this.#socket.destroyed) begin()
      })
    }
  }

  /** Number of streams that a session may reset in a burst. The number is lower for offenders. */
  get resetBurst(): number {
    return this.#pacing.isOffender(this.#client)
      ? pacerLimits.offenderResetBurst
      : pacerLimits.sessionResetBurst
  }

  /**
   * Watches a session. Useless frames keep the event loop busy, and Node does not report useless frames. Examples are
   * WINDOW_UPDATE frames for a single byte, DATA frames with a single byte, and requests that are reset immediately. So
   * the received bytes are compared with their useful part. A session with far too many useless bytes is destroyed with
   * an error.
   */
  watch(session: ServerHttp2Session): void {
    const nowMs = this.#pacing.clock.elapsedMs()
    this.#session = session
    // The bytes of HTTP/1.1 before the upgrade are not counted.
    this.#seenEmpty = this.#socket.bytesRead
    this.#seenSent = this.#socket.bytesWritten
    this.#resets = new Bucket({ max: this.resetBurst, perSecond: limits.sessionResetsPerSecond }, nowMs)
    const empty = {
      max: pacerLimits.sessionEmptyBytesBurst,
      perSecond: pacerLimits.sessionEmptyBytesPerSecond,
    }
    this.#empty = new Bucket(empty, nowMs)
    // A protocol error makes the client an offender; a broken connection does not.
    session.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined) this.#pacing.noteOffence(this.#client)
      session.destroy()
    })
  }

  /** Counts the bytes of a request as useful. `rawHeaders`: the names and values of its headers. */
  noteRequest(rawHeaders: readonly string[]): void {
    let bytes = 2 * frameBytes + (rawHeaders.length / 2) * headerBytes
    for (const text of rawHeaders) bytes += text.length
    this.#useful += bytes
  }

  /**
   * Watches the body of a request. The session is checked while DATA frames arrive. Node emits megabytes of frames
   * before a timer can run, and each frame becomes an object.
   */
  watchBody(stream: ServerHttp2Stream): void {
    const push = stream.push
    stream.push = (piece: Buffer | null, encoding) => {
      if (piece !== null) this.#noteBody(piece.length)
      return push.call(stream, piece, encoding)
    }
  }

  #noteBody(bytes: number): void {
    this.#useful += bytes - Math.max(0, pieceBytes - bytes)
    if (++this.#pieces % piecesPerCheck === 0) this.checkTraffic()
  }

  /** Counts a request that the client has reset. */
  noteReset(): void {
    if (this.#resets?.take(1, this.#pacing.clock.elapsedMs()) === false) this.#cut()
  }

  /** Called at intervals: closes the session when its client sends too many useless bytes. */
  checkTraffic(): void {
    const { bytesRead, bytesWritten } = this.#socket
    const empty = bytesRead - this.#useful
    const window = (bytesWritten - this.#seenSent) / readPerWindowByte
    const amount = empty - this.#seenEmpty - window
    this.#seenEmpty = empty
    this.#seenSent = bytesWritten
    const nowMs = this.#pacing.clock.elapsedMs()
    this.#empty?.take(amount, nowMs)
    if (this.#empty !== undefined && this.#empty.left(nowMs) < this.#emptyLeftMin) this.#cut()
  }

  /** The session is closed when `#empty` has less than this amount left. Sessions of offenders are closed earlier. */
  get #emptyLeftMin(): number {
    const max = pacerLimits.sessionEmptyBytesBurst
    return this.#pacing.isOffender(this.#client) ? max - max / pacerLimits.offenderEmptyBytesPart : 0
  }

  #cut(): void {
    if (this.#session?.destroyed !== false) return
    this.#session.destroy(new Error('too many useless frames'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
}

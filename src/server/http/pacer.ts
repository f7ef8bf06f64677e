// How fast a connection gets on. Of the requests that it brings at once (pipelined, or as streams of HTTP/2) a few are begun
// in each turn of the event loop, and of what it has sent some is parsed in each: other connections do not wait for all of it.
//
// Node's parser of HTTP/1.1 reads sockets without JavaScript in between, which takes the least processor time, but it parses all
// that a read returns, up to 64 KiB. So this file counts the lines that it parses: every object that the parser allocates (a
// request, a header, a chunk, a trailer) takes a line, and the client decides how few bytes a line has. From a connection with
// many lines in one turn, the bytes come to this file from then on, and go to the parser in slices that are priced by their
// lines. When the connections together have too many lines in one turn, all connections are sliced, and for a while new ones
// from their first byte. So a flood gets one long read before it is sliced.
//
// Handshakes of TLS that come at once are made a few in each turn, too. A session of HTTP/2 that sends what is good for nothing is cut off.
//
// How much a turn has room for is found out as it goes, for the cost of a request is not known before: when a turn has taken
// long, less is begun in the next. The first request of each connection in a turn always is, so a client that sends one
// request at a time does not wait here.

import type { IncomingMessage } from 'node:http'
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Allowance, Allowances } from '../../base/allowance.ts'
import type { Clock } from '../../base/clock.ts'
import { limits } from '../../base/limits.ts'
import type { Timers } from '../../base/timers.ts'
import { isShort, sliceOf } from './slices.ts'

/** What is to be done for a connection. */
interface Step {
  /** What it takes; for a request to be begun {@link requestCost}. */
  readonly cost: number
  readonly go: () => void
}

const requestCost = 1
/** A handshake of TLS takes about as long as so many short requests: most of it is a signature. */
const handshakeCost = 32

/** Milliseconds come back as they pass. */
const passing = { max: 0, perSecond: 1000 }

/** What the connections of a process share: the turns of the event loop, and what is known of clients that were cut off. */
export class Pacing {
  readonly clock: Clock
  readonly timers: Timers
  /** Those that have begun something in this turn, or wait. */
  readonly #takers = new Set<Pacer>()
  /** What all may begin in a turn beyond the first of each connection, and what they have begun in this one. */
  #room: number = limits.extraRequestsPerTurn
  #spent = 0
  #turnFromMs = 0
  /** Connections that Node's parser reads by itself. */
  readonly #unsliced = new Set<Pacer>()
  /** The lines that it has parsed of them in this turn beyond what each connection may bring. */
  #excessLines = 0
  #slicesUntilMs = Number.NEGATIVE_INFINITY
  /** How long clients are remembered, and how long their sessions wait for each other: what they owe, in milliseconds. */
  readonly #offences: Allowances<string>
  readonly #queues: Allowances<string>

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
    this.#offences = new Allowances(passing, limits.offendersMax, () => clock.elapsedMs())
    this.#queues = new Allowances(passing, limits.offendersMax, () => clock.elapsedMs())
  }

  /** For {@link Pacer}: whether this turn has room for its next step, which has to be done then. */
  admit(pacer: Pacer, cost: number): boolean {
    const isFirst = pacer.begun === 0
    const isFree = isFirst && cost === requestCost
    // One that brings much gets on, too, however little room there is.
    const mayGo = isFirst && this.#spent === 0
    const hasRoom = pacer.begun < limits.requestsPerTurn && this.#spent < this.#room
    if (!isFree && !mayGo && !hasRoom) return false
    if (!isFree) this.#spent += cost
    pacer.begun++
    this.list(pacer)
    return true
  }

  /** For {@link Pacer}: it is asked again in the next turn. */
  list(pacer: Pacer): void {
    if (this.#takers.size === 0) {
      this.#turnFromMs = this.clock.elapsedMs()
      setImmediate(this.#next)
    }
    this.#takers.add(pacer)
  }

  readonly #next = () => {
    const tookMs = this.clock.elapsedMs() - this.#turnFromMs
    if (tookMs > limits.turnMs) this.#room = Math.floor((this.#room * limits.turnMs) / tookMs)
    else this.#room = Math.min(limits.extraRequestsPerTurn, 2 * this.#room + 1)
    this.#spent = 0
    this.#excessLines = 0
    // Those that had to wait the whole turn come first.
    const takers = [...this.#takers].sort((one, other) => one.begun - other.begun)
    this.#takers.clear()
    for (const taker of takers) {
      taker.begun = 0
      taker.lines = 0
    }
    let going = takers
    while (going.length > 0) going = going.filter(taker => taker.goOn())
    for (const taker of takers) if (taker.isWaiting) this.list(taker)
  }

  /** For {@link Pacer}: whether every connection is parsed in slices from its first byte on. */
  get slicesAll(): boolean {
    return this.clock.elapsedMs() < this.#slicesUntilMs
  }

  /** For {@link Pacer}: as much has been parsed of one connection as in a flood, which goes on. */
  sliceAll(): void {
    this.#slicesUntilMs = this.clock.elapsedMs() + limits.slicesAllMs
  }

  /** For {@link Pacer}: Node's parser reads it by itself from now on, or does not any more. */
  setSliced(pacer: Pacer, isSliced: boolean): void {
    if (isSliced) this.#unsliced.delete(pacer)
    else this.#unsliced.add(pacer)
  }

  /**
   * For {@link Pacer}: Node has parsed so many lines more of it than a connection may bring in a turn. It goes on to the end of what
   * it has read, but reads no more of the connection.
   */
  noteExcess(pacer: Pacer, lines: number): void {
    this.#excessLines += lines
    pacer.slice()
    if (this.#excessLines <= limits.excessLinesPerTurn) return
    this.sliceAll()
    for (const each of this.#unsliced) each.slice()
  }

  /** A session of `client` was cut off. */
  noteOffence(client: string): void {
    this.#offences.take(client, limits.offenderMs - this.#offences.waitMs(client))
  }

  /** Whether a session of `client` was cut off not long ago. */
  isOffender(client: string): boolean {
    return this.#offences.left(client) < 0
  }

  /**
   * In how many milliseconds a new session of `client` may begin; undefined: too many are waiting already. Each costs something
   * before it can be seen what it is good for, but others may come from the same address.
   */
  sessionDelayMs(client: string): number | undefined {
    if (!this.isOffender(client)) return 0
    const delayMs = this.#queues.waitMs(client) + limits.offenderSpacingMs
    if (delayMs > limits.offenderWaitMs) return undefined
    this.#queues.take(client, limits.offenderSpacingMs)
    return delayMs
  }
}

/** Bytes of a frame beside what it carries, and of a header in a frame beside its name and value, at most. */
const frameBytes = 9
const headerBytes = 10
/** A client that reads replies with frames that open its window: so many bytes read for one byte of these, at least. */
const readPerWindowByte = 64
/** A shorter piece of a body in a DATA frame takes the event loop as long as one of so many bytes. */
const pieceBytes = 128
/** Pieces of bodies between two looks at the session that sends them. */
const piecesPerLook = 32

/** One of each connection. */
export class Pacer {
  /** Steps begun, and lines parsed by Node itself, in this turn; for {@link Pacing}. */
  begun = 0
  lines = 0
  readonly #pacing: Pacing
  readonly #socket: Socket
  readonly #client: string
  readonly #waiting: Step[] = []
  #mayHold = false
  #isHeld = false
  /** Node's parser of HTTP/1.1 while it reads the socket by itself. */
  #unsliced: ((bytes: Buffer) => void) | undefined
  /** That parser when it is given slices. */
  #parse: (bytes: Buffer) => void = () => {}
  /** Whether it parses a slice now. */
  #isParsing = false
  /** What was read over HTTP/1.1 and has not gone to that parser yet. */
  #unparsed: Buffer | undefined
  /** Whether a slice of that waits for its turn. */
  #hasSliceWaiting = false
  /** Bodies that wait for something, so that nothing more is parsed. */
  #heldBodies = 0
  /** The request that ends HTTP/1.1 on this connection. */
  #lastRequest: IncomingMessage | undefined
  #session: ServerHttp2Session | undefined
  #resets: Allowance | undefined
  #empty: Allowance | undefined
  /** Bytes received for which there is a reason. */
  #useful = 0
  #pieces = 0
  /** What was received without reason and what was sent, when last looked at. */
  #seenEmpty = 0
  #seenSent = 0

  constructor(pacing: Pacing, socket: Socket, client: string) {
    this.#pacing = pacing
    this.#socket = socket
    this.#client = client
  }

  /** Calls `go`, which begins a request, at once or in a later turn. It must not throw. */
  begin(go: () => void): void {
    this.#take({ cost: requestCost, go })
    if (this.#mayHold && this.#waiting.length >= limits.requestsWaitingMax) this.#hold()
  }

  /** Calls `go`, which makes a handshake of TLS, at once or in a later turn. It must not throw. */
  shakeHands(go: () => void): void {
    this.#take({ cost: handshakeCost, go })
  }

  /** Calls `go`, after which so many bytes are parsed, at once when they are few, or in a later turn. It must not throw. */
  read(bytes: number, go: () => void): void {
    if (bytes <= limits.shortReadBytes) go()
    else this.#take({ cost: bytes / limits.readBytesPerRequest, go })
  }

  /**
   * The connection speaks HTTP/1.1, and `parse`, a listener of its socket's data, is Node's parser. Its bytes go there by
   * themselves or in slices, and it is not read while slices or many of its requests wait. (HTTP/2 bounds the requests of a
   * connection by itself.) `first` is what has been read of it already.
   */
  parseWith(parse: (bytes: Buffer) => void, first: Buffer): void {
    this.#mayHold = true
    this.#unsliced = parse
    this.#socket.on('resume', () => {
      if (!this.#isHeld) return
      // Node takes requests again. Reading the body of a request makes the socket be read, too.
      this.#goOnParsing()
      if (this.#isHeld) this.#socket.pause()
    })
    if (this.#pacing.slicesAll || !isShort(first)) this.slice()
    else {
      this.#pacing.setSliced(this, false)
      this.#socket.once('close', () => this.#pacing.setSliced(this, true))
    }
  }

  /** For {@link Pacing}: has the bytes of HTTP/1.1 come here before they are parsed. */
  slice(): void {
    const parse = this.#unsliced
    this.#pacing.setSliced(this, true)
    if (parse === undefined || this.#socket.destroyed) return
    this.#unsliced = undefined
    this.#parse = parse
    // With this listener Node's parser ceases to read by itself.
    this.#socket.on('data', this.#receive)
    this.#socket.removeListener('data', parse)
  }

  /** Node's parser has made objects of so many lines, when it was not given them in slices. */
  #noteLines(lines: number): void {
    if (this.#isParsing) return
    // They are counted anew in the next turn.
    if (this.lines === 0) this.#pacing.list(this)
    this.lines += lines
    const excess = this.lines - limits.shortReadLines
    if (excess > 0) this.#pacing.noteExcess(this, Math.min(lines, excess))
  }

  /** A request of HTTP/1.1 has come. Its body comes in chunks whose number only its client knows. */
  noteHead(request: IncomingMessage): void {
    this.#noteLines(1 + request.rawHeaders.length / 2)
    if (this.#unsliced === undefined || request.headers['transfer-encoding'] === undefined) return
    const push = request.push
    request.push = (piece: Buffer | null, encoding) => {
      this.#noteLines(piece === null ? request.rawTrailers.length / 2 : 1)
      return push.call(request, piece, encoding)
    }
  }

  /** Nothing more is parsed while `held`: a body waits for something. What follows in the same slice still arrives. */
  holdBody(held: boolean): void {
    this.#heldBodies += held ? 1 : -1
    if (held) this.#hold()
    else this.#goOnParsing()
  }

  /** Behind `request`, which asks for another protocol, nothing is parsed: it stays in the socket. */
  endWith(request: IncomingMessage): void {
    this.#lastRequest = request
    // Node has let go of the socket when there is no body to wait for.
    if (request.complete) this.#unsliced = undefined
    this.slice()
  }

  /** What kept the rest from being parsed is over: a body waited, or responses that nobody had read. */
  readonly #goOnParsing = () => {
    if (this.#unparsed !== undefined) this.#parseOn()
    this.#readOn()
  }

  /** Whether nothing may be parsed: a body waits, or Node does not take more requests before responses have been read. */
  get #isStopped(): boolean {
    return this.#heldBodies > 0 || (this.#socket as { readonly _paused?: boolean })._paused === true
  }

  readonly #receive = (bytes: Buffer) => {
    const isFirst = this.#unparsed === undefined
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
    const { end, lines } = sliceOf(unparsed)
    this.#hasSliceWaiting = true
    const go = () => {
      this.#hasSliceWaiting = false
      // Something may have begun to wait meanwhile; then its end parses on.
      if (!this.#isStopped) this.#parseSlice(end)
    }
    if (lines >= limits.linesPerSlice) this.#pacing.sliceAll()
    this.#take({ cost: lines / limits.linesPerRequest + end / limits.bodyBytesPerRequest, go })
    if (this.#unparsed !== undefined) this.#hold()
  }

  #parseSlice(end: number): void {
    const bytes = this.#unparsed as Buffer
    const isLast = end === bytes.length
    this.#unparsed = isLast ? undefined : bytes.subarray(end)
    // Nothing that follows can be responded to.
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
    this.#isHeld = false
    this.#mayHold = false
    this.#socket.removeListener('data', this.#receive)
    if (rest !== undefined) this.#socket.unshift(rest)
  }

  #hold(): void {
    this.#isHeld = true
    this.#socket.pause()
  }

  /** Reads again when nothing waits any more. */
  #readOn(): void {
    const isBusy = this.isWaiting || this.#unparsed !== undefined || this.#heldBodies > 0
    if (!this.#isHeld || isBusy || this.#socket.destroyed) return
    this.#isHeld = false
    this.#socket.resume()
  }

  #take(step: Step): void {
    if (!this.isWaiting && this.#pacing.admit(this, step.cost)) step.go()
    else {
      this.#waiting.push(step)
      this.#pacing.list(this)
    }
  }

  /** For {@link Pacing}. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** For {@link Pacing}: does what has waited longest if there is room, and returns whether it did. */
  goOn(): boolean {
    const [step] = this.#waiting
    if (step === undefined || !this.#pacing.admit(this, step.cost)) return false
    this.#waiting.shift()
    step.go()
    this.#readOn()
    return true
  }

  /** Calls `begin` when the client may begin a session of HTTP/2; never, when the connection closes before. */
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

  /** How many streams a session may reset at once. One that comes in pieces is found out sooner. */
  get resetBurst(): number {
    return this.#pacing.isOffender(this.#client) ? limits.offenderResetBurst : limits.sessionResetBurst
  }

  /**
   * Watches over a session. Frames that bring nothing (windows opened byte by byte, bodies of a byte in each frame, requests that
   * are taken back at once) take the event loop from all others, and Node hands them on without a word. So what a
   * session has sent is compared with what came of it, and one that sends much more than that is destroyed with an error.
   */
  watch(session: ServerHttp2Session): void {
    const nowMs = this.#pacing.clock.elapsedMs()
    this.#session = session
    // What was said over HTTP/1.1 before.
    this.#seenEmpty = this.#socket.bytesRead
    this.#seenSent = this.#socket.bytesWritten
    this.#resets = new Allowance({ max: this.resetBurst, perSecond: limits.sessionResetsPerSecond }, nowMs)
    const empty = { max: limits.sessionEmptyBytesBurst, perSecond: limits.sessionEmptyBytesPerSecond }
    this.#empty = new Allowance(empty, nowMs)
    // A breach of the protocol ends only the session; a connection that breaks is no offence.
    session.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined) this.#pacing.noteOffence(this.#client)
      session.destroy()
    })
  }

  /** A request has come, with these names and values. */
  noteRequest(rawHeaders: readonly string[]): void {
    let bytes = 2 * frameBytes + (rawHeaders.length / 2) * headerBytes
    for (const text of rawHeaders) bytes += text.length
    this.#useful += bytes
  }

  /**
   * Watches over the body of a request. Each DATA frame becomes an object, and the session is looked at while they come:
   * Node hands on megabytes of them before any timer is due.
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
    if (++this.#pieces % piecesPerLook === 0) this.look()
  }

  /** The client has taken a request back. */
  noteReset(): void {
    if (this.#resets?.take(1, this.#pacing.clock.elapsedMs()) === false) this.#cut()
  }

  /** To be called now and then: cuts the session off when it sends what is good for nothing. */
  look(): void {
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

  /** Sessions of a client of which one was cut off are not given the burst of a newcomer. */
  get #emptyLeftMin(): number {
    const max = limits.sessionEmptyBytesBurst
    return this.#pacing.isOffender(this.#client) ? max - max / limits.offenderEmptyBytesPart : 0
  }

  #cut(): void {
    if (this.#session?.destroyed !== false) return
    this.#session.destroy(new Error('too much for nothing'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
}

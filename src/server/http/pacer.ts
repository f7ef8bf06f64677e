// Limits the work for one connection in each turn of the event loop, so that other connections do not wait. Of many
// requests that arrive together (pipelined, or as HTTP/2 streams), only a few begin in each turn; of many bytes, only a
// part is parsed.
//
// Node's parser of HTTP/1.1 reads sockets in native code. It is fast, but processes everything that a read returns, up
// to 64 KiB, and allocates an object for each line (a request, a header, a chunk, a trailer), whose length the client
// chooses. After too many lines in one turn, this file reads the connection itself, and passes the bytes to the parser
// in short slices, whose cost depends on their lines and bytes.
//
// When all connections together send too many lines in one turn, all of them are read in slices. For a while, new
// connections are then sliced from their first byte.
//
// No slice is parsed in the turn in which a request of the connection begins, because the request's handler does not
// read the body before the next tick: parts of the body that were parsed earlier would stay in memory and survive
// garbage collections.
//
// Simultaneous TLS handshakes are also spread over several turns. An HTTP/2 session that sends useless frames is
// closed.
//
// pacing.ts decides how much work begins in a turn.

import type { IncomingMessage } from 'node:http'
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Bucket } from '../../base/admission/rate-limit.ts'
import { limits } from '../../base/limits.ts'
import {
  handshakeCost,
  type PacedConnection,
  type Pacing,
  pacingLimits,
  requestCost,
  type Step,
} from './pacing.ts'

/** Bytes of an HTTP/2 frame without its payload. */
const frameBytes = 9
/** Bytes of a header besides its name and its value. */
const headerBytes = 10
/** For this many bytes that a client reads, it may send one byte of WINDOW_UPDATE frames. */
const readPerWindowByte = 64
/** Processing a DATA frame takes at least as much time as this many bytes. */
const pieceBytes = 128
/** DATA frames between two checks of a session. */
const piecesPerCheck = 32
const lineFeed = 0x0a

export class Pacer implements PacedConnection {
  begun = 0
  lines = 0
  hasBegunRequest = false
  readonly #pacing: Pacing
  readonly #socket: Socket
  readonly #client: string
  readonly #waiting: Step[] = []
  /** True for HTTP/1.1: the socket is paused while many requests wait. */
  #pausesForRequests = false
  #isSocketPaused = false
  /** Node's parser of HTTP/1.1, while it reads the socket directly; undefined at all other times. */
  #unsliced: ((bytes: Buffer) => void) | undefined
  /** Node's parser of HTTP/1.1, while this object passes slices to it. */
  #parse: (bytes: Buffer) => void = () => {}
  #isParsing = false
  /** Received bytes of HTTP/1.1 that have not been passed to the parser. */
  #unparsed: Buffer | undefined
  /** True while the next slice waits for its turn. */
  #hasSliceWaiting = false
  /** Request bodies that are paused. While there are any, nothing more is parsed. */
  #pausedBodies = 0
  /** The request that upgrades the connection to another protocol. */
  #lastRequest: IncomingMessage | undefined
  #session: ServerHttp2Session | undefined
  #resets: Bucket | undefined
  /** The useless bytes that the session may still send. */
  #uselessAllowance: Bucket | undefined
  /** Received bytes that carried requests or data. */
  #useful = 0
  #bodyPieces = 0
  /** Useless bytes and sent bytes at the last check. */
  #seenUseless = 0
  #seenSent = 0

  constructor(pacing: Pacing, socket: Socket, client: string) {
    this.#pacing = pacing
    this.#socket = socket
    this.#client = client
  }

  /** Calls `go` now or in a later turn. `go` begins a request, and must not throw. */
  begin(go: () => void): void {
    this.#runOrQueue({ kind: 'request', cost: requestCost, go })
    if (this.#pausesForRequests && this.#waiting.length >= pacingLimits.requestsWaitingMax)
      this.#pauseSocket()
  }

  /** Calls `go` now or in a later turn. `go` makes a TLS handshake, and must not throw. */
  shakeHands(go: () => void): void {
    this.#runOrQueue({ kind: 'handshake', cost: handshakeCost, go })
  }

  /** Calls `go` now or, for many bytes, possibly in a later turn. `go` parses `bytes` bytes, and must not throw. */
  read(bytes: number, go: () => void): void {
    if (bytes <= limits.shortReadBytes) go()
    else this.#runOrQueue({ kind: 'read', cost: bytes / pacingLimits.readBytesPerRequest, go })
  }

  /**
   * Starts to pace an HTTP/1.1 connection. `parse` is Node's parser, a listener of the socket's data. The socket is
   * paused while slices or many requests wait. (HTTP/2 limits the requests of a connection itself.) `first`: bytes that
   * have been read already.
   */
  parseWith(parse: (bytes: Buffer) => void, first: Buffer): void {
    this.#pausesForRequests = true
    this.#unsliced = parse
    this.#socket.on('resume', () => {
      if (!this.#isSocketPaused) return
      // Node resumes the socket when its parser may continue, but also when a handler reads a body. So the socket is
      // paused again if work still waits.
      this.#resumeParsing()
      if (this.#isSocketPaused) this.#socket.pause()
    })
    if (this.#pacing.slicesNew || !isShort(first)) this.slice()
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

  /** Counts the lines of an HTTP/1.1 request, with the chunks of a chunked body, whose number the client chooses. */
  noteHead(request: IncomingMessage): void {
    this.#noteLines(1 + request.rawHeaders.length / 2)
    if (this.#unsliced === undefined || request.headers['transfer-encoding'] === undefined) return
    const push = request.push
    request.push = (piece: Buffer | null, encoding) => {
      this.#noteLines(piece === null ? request.rawTrailers.length / 2 : 1)
      return push.call(request, piece, encoding)
    }
  }

  /**
   * Called when a request body is paused (`held` is true) or resumed. While a body is paused, no new slice is parsed;
   * the current slice is still parsed to its end.
   */
  pauseBody(held: boolean): void {
    this.#pausedBodies += held ? 1 : -1
    if (held) this.#pauseSocket()
    else this.#resumeParsing()
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

  /** Called when a body was resumed, or the client has read waiting responses. */
  readonly #resumeParsing = () => {
    if (this.#unparsed !== undefined) this.#parseNext()
    this.#resumeReading()
  }

  /** A body is paused, or Node waits until the client reads its responses. */
  get #isPaused(): boolean {
    return this.#pausedBodies > 0 || (this.#socket as { readonly _paused?: boolean })._paused === true
  }

  readonly #receive = (bytes: Buffer) => {
    const isFirst = this.#unparsed === undefined
    if (sliceOf(bytes, pacingLimits.linesOfFlood).lines >= pacingLimits.linesOfFlood) this.#pacing.sliceNew()
    this.#unparsed = this.#unparsed === undefined ? bytes : Buffer.concat([this.#unparsed, bytes])
    if (isFirst) this.#parseNext()
  }

  #parseNext(): void {
    if (this.#hasSliceWaiting) return
    if (this.#isPaused) {
      this.#pauseSocket()
      return
    }
    const unparsed = this.#unparsed as Buffer
    if (isShort(unparsed) && !this.isWaiting) {
      this.#parseSlice(unparsed.length)
      return
    }
    const { end, lines } = sliceOf(unparsed, pacingLimits.linesPerSlice)
    this.#hasSliceWaiting = true
    const go = () => {
      this.#hasSliceWaiting = false
      // If parsing was paused in the meantime, `#resumeParsing` resumes it later.
      if (!this.#isPaused) this.#parseSlice(end)
    }
    const cost = lines / pacingLimits.linesPerRequest + end / pacingLimits.bodyBytesPerRequest
    this.#runOrQueue({ kind: 'slice', cost, go })
    if (this.#unparsed !== undefined) this.#pauseSocket()
  }

  #parseSlice(end: number): void {
    const bytes = this.#unparsed as Buffer
    const isLast = end === bytes.length
    this.#unparsed = isLast ? undefined : bytes.subarray(end)
    // After the connection has ended, no request can get a response, so the remaining bytes are discarded.
    if (this.#socket.destroyed || this.#socket.writableEnded) this.#unparsed = undefined
    else {
      this.#isParsing = true
      this.#parse(isLast ? bytes : bytes.subarray(0, end))
      this.#isParsing = false
    }
    if (this.#lastRequest?.complete === true) this.#stopParsing()
    else if (this.#unparsed !== undefined) this.#parseNext()
  }

  #stopParsing(): void {
    const rest = this.#unparsed
    this.#unparsed = undefined
    this.#isSocketPaused = false
    this.#pausesForRequests = false
    this.#socket.removeListener('data', this.#receive)
    if (rest !== undefined) this.#socket.unshift(rest)
  }

  #pauseSocket(): void {
    this.#isSocketPaused = true
    this.#socket.pause()
  }

  /** Resumes the socket when no step, byte or body of the connection waits. */
  #resumeReading(): void {
    const isBusy = this.isWaiting || this.#unparsed !== undefined || this.#pausedBodies > 0
    if (!this.#isSocketPaused || isBusy || this.#socket.destroyed) return
    this.#isSocketPaused = false
    this.#socket.resume()
  }

  #runOrQueue(step: Step): void {
    if (!this.isWaiting && this.#pacing.admit(this, step)) step.go()
    else {
      this.#waiting.push(step)
      this.#pacing.list(this)
    }
  }

  /** True if a step of this connection waits for a later turn, for {@link Pacing}. */
  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /**
   * Runs the oldest waiting step if there is capacity, and returns whether it ran. {@link Pacing} calls this method.
   */
  runNext(): boolean {
    const [step] = this.#waiting
    if (step === undefined || !this.#pacing.admit(this, step)) return false
    this.#waiting.shift()
    step.go()
    this.#resumeReading()
    return true
  }

  /**
   * Calls `begin` when the client may begin an HTTP/2 session; never if the connection closes first, or if too many
   * sessions of the client are waiting.
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

  /** Streams that a session may reset in a burst, fewer for offenders. */
  get resetBurst(): number {
    return this.#pacing.isOffender(this.#client)
      ? pacingLimits.offenderResetBurst
      : pacingLimits.sessionResetBurst
  }

  /** Starts to count the resets and the useless bytes of a session, for {@link noteReset} and {@link checkTraffic}. */
  watch(session: ServerHttp2Session): void {
    const nowMs = this.#pacing.clock.elapsedMs()
    this.#session = session
    // The bytes of HTTP/1.1 before the upgrade are not counted.
    this.#seenUseless = this.#socket.bytesRead
    this.#seenSent = this.#socket.bytesWritten
    this.#resets = new Bucket({ max: this.resetBurst, perSecond: limits.sessionResetsPerSecond }, nowMs)
    const rate = {
      max: pacingLimits.sessionUselessBytesBurst,
      perSecond: pacingLimits.sessionUselessBytesPerSecond,
    }
    this.#uselessAllowance = new Bucket(rate, nowMs)
    // A protocol error makes the client an offender; a broken connection does not.
    session.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined) this.#pacing.noteOffence(this.#client)
      session.destroy()
    })
  }

  /** Counts the bytes of a request as useful. `rawHeaders`: names and values of its headers. */
  noteRequest(rawHeaders: readonly string[]): void {
    let bytes = 2 * frameBytes + (rawHeaders.length / 2) * headerBytes
    for (const text of rawHeaders) bytes += text.length
    this.#useful += bytes
  }

  /**
   * Checks the session while DATA frames of a body arrive, because a timer would be too late: Node can emit megabytes
   * of frames before a timer runs, and each frame becomes an object.
   */
  watchBody(stream: ServerHttp2Stream): void {
    const push = stream.push
    stream.push = (piece: Buffer | null, encoding) => {
      if (piece !== null) this.#noteBody(piece.length)
      return push.call(stream, piece, encoding)
    }
  }

  /** Counts a DATA frame. If it is shorter than {@link pieceBytes}, the missing bytes count as useless. */
  #noteBody(bytes: number): void {
    this.#useful += bytes - Math.max(0, pieceBytes - bytes)
    if (++this.#bodyPieces % piecesPerCheck === 0) this.checkTraffic()
  }

  noteReset(): void {
    if (this.#resets?.take(1, this.#pacing.clock.elapsedMs()) === false) this.#closeSession()
  }

  /**
   * Compares the received bytes of the session with their useful part, and closes the session with an error when far
   * too many bytes are useless. Called at intervals. Useless frames keep the event loop busy, and Node does not report
   * them: WINDOW_UPDATE frames for a single byte, DATA frames with a single byte, requests that are reset immediately.
   */
  checkTraffic(): void {
    const { bytesRead, bytesWritten } = this.#socket
    const useless = bytesRead - this.#useful
    const window = (bytesWritten - this.#seenSent) / readPerWindowByte
    const amount = useless - this.#seenUseless - window
    this.#seenUseless = useless
    this.#seenSent = bytesWritten
    const nowMs = this.#pacing.clock.elapsedMs()
    this.#uselessAllowance?.take(amount, nowMs)
    if (this.#uselessAllowance !== undefined && this.#uselessAllowance.left(nowMs) < this.#uselessLeftMin)
      this.#closeSession()
  }

  /**
   * The session is closed when `#uselessAllowance` has less than this amount left. Sessions of offenders are closed
   * earlier.
   */
  get #uselessLeftMin(): number {
    const max = pacingLimits.sessionUselessBytesBurst
    return this.#pacing.isOffender(this.#client) ? max - max / pacingLimits.offenderUselessBytesPart : 0
  }

  #closeSession(): void {
    if (this.#session?.destroyed !== false) return
    this.#session.destroy(new Error('too many useless frames'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
}

/**
 * True if the bytes may come from a client that waits for each response before it sends the next request: few bytes and
 * few lines.
 */
function isShort(bytes: Buffer): boolean {
  const { length } = bytes
  if (length > limits.shortReadBytes) return false
  let lines = 0
  for (let at = 0; at < length; at++) {
    if (bytes[at] === lineFeed && ++lines > limits.shortReadLines) return false
  }
  return true
}

/** First slice with at most `linesMax` lines. `end` is exclusive. */
function sliceOf(bytes: Buffer, linesMax: number): { readonly end: number; readonly lines: number } {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    lines++
    if (lines === linesMax) return { end: at + 1, lines }
  }
  return { end: bytes.length, lines }
}

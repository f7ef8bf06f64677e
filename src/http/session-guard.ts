// Watches over one HTTP/2 session. Frames that bring nothing (windows opened byte by byte, bodies of a byte in each frame,
// requests that are taken back at once) take the event loop from all others, and Node hands them on without a word. So
// what a session has sent is compared with what came of it, and one that sends much more than that is cut off.

import { constants, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { Allowance } from '../base/allowance.ts'
import { limits } from '../limits.ts'

/** Bytes of a frame beside what it carries, and of a header in a frame beside its name and value, at most. */
const frameBytes = 9
const headerBytes = 10
/** A client that reads replies with frames that open its window: so many bytes read for one byte of these, at least. */
const readPerWindowByte = 64

export class SessionGuard {
  readonly #session: ServerHttp2Session
  readonly #socket: Socket
  readonly #resets: Allowance
  readonly #empty: Allowance
  /** Bytes received for which there is a reason. */
  #useful = 0
  /** What was received without reason and what was sent, when last looked at. */
  #seenEmpty = 0
  #seenSent = 0

  /** When the session has to be cut off, it is destroyed with an error. It may reset `resetBurst` streams at once. */
  constructor(session: ServerHttp2Session, socket: Socket, nowMs: number, resetBurst: number) {
    this.#session = session
    this.#socket = socket
    // What was said over HTTP/1.1 before.
    this.#seenEmpty = socket.bytesRead
    this.#seenSent = socket.bytesWritten
    this.#resets = new Allowance({ max: resetBurst, perSecond: limits.sessionResetsPerSecond }, nowMs)
    const empty = { max: limits.sessionEmptyBytesBurst, perSecond: limits.sessionEmptyBytesPerSecond }
    this.#empty = new Allowance(empty, nowMs)
  }

  /** A request has come, with these names and values. */
  noteRequest(rawHeaders: readonly string[]): void {
    let bytes = 2 * frameBytes + (rawHeaders.length / 2) * headerBytes
    for (const text of rawHeaders) bytes += text.length
    this.#useful += bytes
  }

  /** Bytes of a body have come. */
  noteBody(bytes: number): void {
    this.#useful += bytes
  }

  /** The client has taken a request back. */
  noteReset(nowMs: number): void {
    if (!this.#resets.take(1, nowMs)) this.#cut()
  }

  /** To be called now and then: cuts the session off when it sends what is good for nothing. */
  look(nowMs: number): void {
    if (this.#session.destroyed) return
    const { bytesRead, bytesWritten } = this.#socket
    const empty = bytesRead - this.#useful
    const window = (bytesWritten - this.#seenSent) / readPerWindowByte
    const amount = empty - this.#seenEmpty - window
    this.#seenEmpty = empty
    this.#seenSent = bytesWritten
    if (!this.#empty.take(amount, nowMs)) this.#cut()
  }

  #cut(): void {
    if (this.#session.destroyed) return
    this.#session.destroy(new Error('too much for nothing'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
}

// Reads request bodies into memory within limits: each body, and all bodies being read at one time, so that many
// slow senders cannot exhaust the memory.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { limits } from '../limits.ts'

/** How reading a body ended: its bytes, or why there are none. */
export type BodyOutcome = Buffer | 'too large' | 'overload' | 'aborted'

const empty = Buffer.alloc(0)

/**
 * A refused body is read to its end all the same, up to this multiple of the limit: closing the connection while
 * the client still sends could lose the answer on its way.
 */
const drainFactor = 4

export class BodyReader {
  /** Bytes held by bodies that are being read. */
  #held = 0
  readonly #heldMax: number
  readonly #bodyMax: number

  constructor(heldMax: number = limits.bufferedBodyBytesMax, bodyMax: number = limits.requestBodyBytesMax) {
    this.#heldMax = heldMax
    this.#bodyMax = bodyMax
  }

  /** Reads the body of `request` and calls `done` exactly once. */
  read(request: IncomingMessage, done: (outcome: BodyOutcome) => void): void {
    let chunks: Buffer[] = []
    let length = 0
    let held = 0
    let refusal: 'too large' | 'overload' | undefined
    let finished = false
    const finish = (outcome: BodyOutcome) => {
      if (finished) return
      finished = true
      this.#held -= held
      chunks = []
      done(outcome)
    }
    const refuse = (reason: 'too large' | 'overload') => {
      refusal ??= reason
      chunks = []
      this.#held -= held
      held = 0
    }
    if (Number(request.headers['content-length'] ?? 0) > this.#bodyMax) refuse('too large')
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > this.#bodyMax) refuse('too large')
      if (refusal === undefined) {
        chunks.push(chunk)
        held += chunk.length
        this.#held += chunk.length
        if (this.#held > this.#heldMax) refuse('overload')
      } else if (length > this.#bodyMax * drainFactor) finish(refusal)
    })
    request.on('end', () => {
      if (request.aborted) finish('aborted')
      else finish(refusal ?? (chunks.length === 1 ? (chunks[0] as Buffer) : joined(chunks)))
    })
    request.on('close', () => finish('aborted'))
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 0 ? empty : Buffer.concat(chunks)
}

/** Stands for bytes that are no text. It is not JSON, so it fails where unparsable text fails, and like it. */
const undecodable = '\ufffd'

const byteOrderMark = 0xfeff

/**
 * The text of a body: UTF-8, or UTF-16 or UTF-32 when a byte order mark or the zero bytes around a first ASCII
 * character say so. Undefined when there is no body; a chunked body without data is an empty text.
 */
export function bodyText(request: IncomingMessage, bytes: Buffer): string | undefined {
  if (bytes.length === 0) return request.headers['transfer-encoding'] === undefined ? undefined : ''
  const wide = wideEncoding(bytes)
  if (wide !== undefined) return decode(wide, bytes)
  if (!isUtf8(bytes)) return undecodable
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', marked ? 3 : 0)
}

type WideEncoding = 'utf-16be' | 'utf-16le' | 'utf-32be' | 'utf-32le'

/** Which encoding of more than one byte per character a text begins in, if any. UTF-32 looks like UTF-16 at first. */
function wideEncoding(bytes: Buffer): WideEncoding | undefined {
  if (bytes.length >= 4) {
    const first = bytes.readUInt32BE(0)
    if (first === 0x0000feff || first < 0x100) return 'utf-32be'
    if (first === 0xfffe0000 || (first & 0x00ffffff) === 0) return 'utf-32le'
  }
  const [first, second] = bytes
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  return undefined
}

function decode(encoding: WideEncoding, bytes: Buffer): string {
  try {
    if (encoding === 'utf-32be' || encoding === 'utf-32le') return decodeUtf32(encoding, bytes)
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undecodable
  }
}

/** The platform has no decoder of its own for it. Throws a RangeError when the bytes are no UTF-32. */
function decodeUtf32(encoding: 'utf-32be' | 'utf-32le', bytes: Buffer): string {
  const big = encoding === 'utf-32be'
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 4) {
    const point = big ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
    if (point >= 0xd800 && point <= 0xdfff) throw new RangeError('half of a surrogate pair')
    if (at > 0 || point !== byteOrderMark) parts.push(String.fromCodePoint(point))
  }
  return parts.join('')
}

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

/**
 * The text of a body: UTF-8, or UTF-16 when a byte order mark or the zero byte of a first ASCII character says
 * so. Undefined when there is no body; a chunked body without data is an empty text.
 */
export function bodyText(request: IncomingMessage, bytes: Buffer): string | undefined {
  const first = bytes[0]
  if (first === undefined) return request.headers['transfer-encoding'] === undefined ? undefined : ''
  const second = bytes[1]
  if (first === 0xfe && second === 0xff) return decode('utf-16be', bytes)
  if (first === 0xff && second === 0xfe) return decode('utf-16le', bytes)
  if (first === 0 && second !== 0) return decode('utf-16be', bytes)
  if (second === 0 && bytes[3] === 0) return decode('utf-16le', bytes)
  if (!isUtf8(bytes)) return undecodable
  const marked = first === 0xef && second === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', marked ? 3 : 0)
}

function decode(encoding: 'utf-16be' | 'utf-16le', bytes: Buffer): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undecodable
  }
}

// Reads request bodies into memory within limits: each body, and all bodies being received at one time. A request
// whose body is still on its way counts for its client only, so many slow senders end one another and nobody else;
// and more than a little is kept only of bodies whose sender has shown a credential.

import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { limits } from '../limits.ts'
import type { Exchange } from './exchange.ts'
import type { Eviction, FairBudget, Share } from './fair-budget.ts'

/** How reading a body ended: its bytes, or why there are none. */
export type BodyOutcome = Buffer | 'too large' | 'refused' | 'aborted' | Eviction

/** What may be read of one request. */
export interface BodyRules {
  /** Bytes. */
  readonly bytesMax: number
  /**
   * Asked before more is read than strangers may send. Resolves with the group for which the body counts from then
   * on, or with undefined: the body is refused. Must not reject.
   */
  readonly admit?: () => Promise<string | undefined>
}

const empty = Buffer.alloc(0)

/**
 * A refused body is read to its end all the same, up to this many bytes: closing the connection while
 * the client still sends could lose the response on its way.
 */
const drainedBytesMax = 4 * limits.requestBodyBytesMax

/** What a request takes besides the bytes of its body, roughly: so that empty ones count, too. */
const bytesPerRequest = 16_384

/** Reads the body of an exchange and calls `done` exactly once. What is held meanwhile counts against `budget`. */
export function readBody(
  exchange: Exchange,
  rules: BodyRules,
  budget: FairBudget,
  done: (outcome: BodyOutcome) => void,
): void {
  const { body } = exchange
  if (body === undefined) {
    done(empty)
    return
  }
  const receive = () => new IncomingBody(exchange, body, rules, budget, done)
  if (exchange.takeArrived === undefined) receive()
  else {
    // Most queries are in the packet of their head: nothing has to be waited for, or counted meanwhile.
    exchange.takeArrived(arrived => {
      if (arrived !== undefined) {
        exchange.noteBody?.(arrived.length)
        done(arrived.length > rules.bytesMax ? 'too large' : arrived)
      } else if (body.destroyed) done('aborted')
      else receive()
    })
  }
}

class IncomingBody {
  readonly #exchange: Exchange
  readonly #source: Readable
  readonly #rules: BodyRules
  readonly #done: (outcome: BodyOutcome) => void
  readonly #share: Share
  #chunks: Buffer[] = []
  #length = 0
  #refusal: 'too large' | 'refused' | undefined
  #isAdmitted: boolean
  #finished = false

  constructor(
    exchange: Exchange,
    source: Readable,
    rules: BodyRules,
    budget: FairBudget,
    done: (outcome: BodyOutcome) => void,
  ) {
    const { client, headers } = exchange
    this.#exchange = exchange
    this.#source = source
    this.#rules = rules
    this.#done = done
    this.#isAdmitted = rules.admit === undefined
    this.#share = budget.open(client, reason => this.#finish(reason))
    this.#share.grow(bytesPerRequest)
    const announced = Number(headers['content-length'] ?? 0)
    if (announced > rules.bytesMax) this.#refuse('too large')
    source.on('data', this.#take)
    source.on('end', this.#end)
    source.on('close', this.#abort)
    if (announced > limits.strangerBodyBytesMax) this.#askAdmission()
  }

  readonly #take = (chunk: Buffer): void => {
    this.#exchange.noteBody?.(chunk.length)
    if (this.#finished) return
    this.#length += chunk.length
    if (this.#length > this.#rules.bytesMax) this.#refuse('too large')
    if (this.#refusal !== undefined) {
      this.#share.move(chunk.length)
      if (this.#length > drainedBytesMax) this.#finish(this.#refusal)
      return
    }
    this.#chunks.push(chunk)
    this.#share.grow(chunk.length)
    if (this.#length > limits.strangerBodyBytesMax) this.#askAdmission()
  }

  readonly #end = (): void => {
    const isCut = (this.#source as { readonly aborted?: boolean }).aborted === true
    // Of a stream of HTTP/2 whose response goes on, the request would be held by them.
    this.#source.off('data', this.#take).off('end', this.#end).off('close', this.#abort)
    if (isCut) this.#finish('aborted')
    else this.#finish(this.#refusal ?? joined(this.#chunks))
  }

  readonly #abort = (): void => this.#finish('aborted')

  /** Stops reading until the sender's credential has been looked at. */
  #askAdmission(): void {
    if (this.#isAdmitted || this.#finished || this.#refusal !== undefined) return
    this.#isAdmitted = true
    this.#source.pause()
    this.#share.pause(true)
    this.#rules.admit?.().then(group => {
      this.#share.pause(false)
      if (group === undefined) this.#refuse('refused')
      else this.#share.regroup(group)
      this.#source.resume()
    })
  }

  #refuse(reason: 'too large' | 'refused'): void {
    this.#refusal ??= reason
    this.#chunks = []
    this.#share.shrink(this.#share.held - bytesPerRequest)
  }

  #finish(outcome: BodyOutcome): void {
    if (this.#finished) return
    this.#finished = true
    this.#chunks = []
    this.#share.close()
    this.#done(outcome)
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

/** Stands for bytes that are no text. It is not JSON, so it fails where unparsable text fails, and like it. */
const undecodable = '\ufffd'

const byteOrderMark = 0xfeff

/**
 * The text of a body: UTF-8, or UTF-16 or UTF-32 when a byte order mark or the zero bytes around a first ASCII
 * character say so. Undefined when there is no body; a chunked body without data is an empty text.
 */
export function bodyText(exchange: Exchange, bytes: Buffer): string | undefined {
  if (bytes.length === 0) return exchange.headers['transfer-encoding'] === undefined ? undefined : ''
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

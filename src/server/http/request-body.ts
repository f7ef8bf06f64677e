// Reads request bodies into memory within limits: each body, and all bodies being received at one time. A request
// whose body is still on its way counts for its client only, so many slow senders end only one another;
// and more than a little is kept only of bodies whose sender has shown a credential.

import type { Readable } from 'node:stream'
import { jsonText } from '../../base/json-encoding.ts'
import { limits } from '../../base/limits.ts'
import { LongBody } from '../../engine/contract.ts'
import type { Exchange } from './exchange.ts'
import type { Eviction, FairBudget, Share } from './fair-budget.ts'
import { Pieces } from './pieces.ts'

/** How reading a body ended: its bytes, those of a long one in pieces, or why there are none. */
export type BodyOutcome = Buffer | LongBody | 'too large' | 'refused' | 'aborted' | Eviction

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
export const drainedBytesMax = 4 * limits.requestBodyBytesMax

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
  #pieces = new Pieces()
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
    if (this.#finished) return
    this.#length += chunk.length
    if (this.#length > this.#rules.bytesMax) this.#refuse('too large')
    if (this.#refusal !== undefined) {
      this.#share.move(chunk.length)
      if (this.#length > drainedBytesMax) this.#finish(this.#refusal)
      return
    }
    this.#share.grow(this.#pieces.add(chunk))
    if (this.#length > limits.strangerBodyBytesMax) this.#askAdmission()
  }

  readonly #end = (): void => {
    const isCut = (this.#source as { readonly aborted?: boolean }).aborted === true
    // Of a stream of HTTP/2 whose response goes on, the request would be held by them.
    this.#source.off('data', this.#take).off('end', this.#end).off('close', this.#abort)
    if (isCut) this.#finish('aborted')
    else this.#finish(this.#refusal ?? bodyOf(this.#pieces))
  }

  readonly #abort = (): void => this.#finish('aborted')

  /** Stops reading until the sender's credential has been looked at. */
  #askAdmission(): void {
    if (this.#isAdmitted || this.#finished || this.#refusal !== undefined) return
    this.#isAdmitted = true
    this.#exchange.holdBody(true)
    this.#share.pause(true)
    this.#rules.admit?.().then(group => {
      this.#share.pause(false)
      if (group === undefined) this.#refuse('refused')
      else this.#share.regroup(group)
      this.#exchange.holdBody(false)
    })
  }

  #refuse(reason: 'too large' | 'refused'): void {
    this.#refusal ??= reason
    this.#pieces = new Pieces()
    this.#share.shrink(this.#share.held - bytesPerRequest)
  }

  #finish(outcome: BodyOutcome): void {
    if (this.#finished) return
    this.#finished = true
    this.#pieces = new Pieces()
    this.#share.close()
    this.#done(outcome)
  }
}

/** A long body is not joined: that, its text and bytes of that again would take this process some 20 ms for 8 MB. */
function bodyOf(pieces: Pieces): Buffer | LongBody {
  return pieces.length > limits.shortBodyBytes ? new LongBody(pieces.list()) : pieces.joined()
}

/** The text of a body. Undefined when there is no body; a chunked body without data is an empty text. */
export function bodyText(exchange: Exchange, body: Buffer | LongBody): string | undefined {
  if (body.length === 0) return exchange.headers['transfer-encoding'] === undefined ? undefined : ''
  return jsonText(body instanceof LongBody ? body.joined() : body)
}

// Reads request bodies into memory within two limits: one for each body, and one for all incomplete bodies together.
// The memory of an incomplete request is charged to the group of its client. At the limit, requests of the group with the
// greatest use are evicted. Before authentication, only a short part of a body is accepted.

import type { Readable } from 'node:stream'
import type { Eviction, MemoryBudget, Share } from '../../base/admission/memory-budget.ts'
import { jsonText } from '../../base/json-encoding.ts'
import { limits } from '../../base/limits.ts'
import { LongBody } from '../../engine/engine-contract.ts'
import type { Exchange } from './exchange.ts'
import { Pieces } from './pieces.ts'

export const requestBodyLimits = {
  /** Maximum number of bytes of a query that a service process parses; the slow lane parses longer ones; own limit. */
  shortBodyBytes: 262_144,
} as const

/** The bytes, the pieces of a long body, or the reason why there is no body. */
export type BodyOutcome = Buffer | LongBody | 'too large' | 'rejected' | 'aborted' | Eviction

/** What a client may send before and after its credential is checked. */
export interface BodyRules {
  readonly bytesMax: number
  /**
   * Called when the body is longer than the limit for unauthenticated clients. Resolves with the new group of the body,
   * or with undefined to reject the body. Must not reject.
   */
  readonly admit?: () => Promise<string | undefined>
}

const empty = Buffer.alloc(0)

/**
 * Maximum number of bytes that are read from a rejected body. Closing the connection while the client sends could lose
 * the response.
 */
export const drainedBytesMax = 4 * limits.requestBodyBytesMax

/**
 * Approximate memory of a request without its body, which also counts, so that the number of incomplete requests with
 * short bodies is limited.
 */
const bytesPerRequest = 16_384

/** Calls `done` exactly once. Charges the memory in use to `budget`. */
export function readBody(
  exchange: Exchange,
  rules: BodyRules,
  budget: MemoryBudget,
  done: (outcome: BodyOutcome) => void,
): void {
  const { body } = exchange
  if (body === undefined) {
    done(empty)
    return
  }
  // Most bodies arrive in the same packet as the head of the request. They need no wait and are not charged.
  exchange.takeArrived(arrived => {
    if (arrived !== undefined) done(arrived.length > rules.bytesMax ? 'too large' : arrived)
    else if (body.destroyed) done('aborted')
    else new IncomingBody(exchange, body, rules, budget, done)
  })
}

class IncomingBody {
  readonly #exchange: Exchange
  readonly #source: Readable
  readonly #rules: BodyRules
  readonly #done: (outcome: BodyOutcome) => void
  readonly #share: Share
  #pieces = new Pieces()
  #length = 0
  #rejection: 'too large' | 'rejected' | undefined
  #isAdmitted: boolean
  #finished = false

  constructor(
    exchange: Exchange,
    source: Readable,
    rules: BodyRules,
    budget: MemoryBudget,
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
    if (announced > rules.bytesMax) this.#reject('too large')
    source.on('data', this.#take)
    source.on('end', this.#end)
    source.on('close', this.#abort)
    if (announced > limits.unauthenticatedBodyBytesMax) this.#requestAdmission()
  }

  readonly #take = (chunk: Buffer): void => {
    if (this.#finished) return
    this.#length += chunk.length
    if (this.#length > this.#rules.bytesMax) this.#reject('too large')
    if (this.#rejection !== undefined) {
      this.#share.move(chunk.length)
      if (this.#length > drainedBytesMax) this.#finish(this.#rejection)
      return
    }
    this.#share.grow(this.#pieces.add(chunk))
    if (this.#length > limits.unauthenticatedBodyBytesMax) this.#requestAdmission()
  }

  readonly #end = (): void => {
    const isCut = (this.#source as { readonly aborted?: boolean }).aborted === true
    // Lets the request be freed while an HTTP/2 stream sends a long response.
    this.#source.off('data', this.#take).off('end', this.#end).off('close', this.#abort)
    if (isCut) this.#finish('aborted')
    else this.#finish(this.#rejection ?? bodyOf(this.#pieces))
  }

  readonly #abort = (): void => this.#finish('aborted')

  /** Pauses reading until the sender's credential has been checked. */
  #requestAdmission(): void {
    if (this.#isAdmitted || this.#finished || this.#rejection !== undefined) return
    this.#isAdmitted = true
    this.#exchange.pauseBody(true)
    this.#share.pause(true)
    this.#rules.admit?.().then(group => {
      this.#share.pause(false)
      if (group === undefined) this.#reject('rejected')
      else this.#share.regroup(group)
      this.#exchange.pauseBody(false)
    })
  }

  #reject(reason: 'too large' | 'rejected'): void {
    this.#rejection ??= reason
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

/** A long body is not joined: joining and decoding 8 MB would block this process for some 20 ms. */
function bodyOf(pieces: Pieces): Buffer | LongBody {
  return pieces.length > requestBodyLimits.shortBodyBytes ? new LongBody(pieces.list()) : pieces.joined()
}

/** Returns undefined without a body; empty for a chunked body without data. */
export function bodyText(exchange: Exchange, body: Buffer | LongBody): string | undefined {
  if (body.length === 0) return exchange.headers['transfer-encoding'] === undefined ? undefined : ''
  return jsonText(body instanceof LongBody ? body.joined() : body)
}

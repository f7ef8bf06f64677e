// Every error of a request as a whole that a client can get: one closed table of codes. What a query does wrong by itself
// is told by its language.

import { type Message, messageOf } from './message.ts'

/** The closed table of errors about a request as a whole; they carry no position. */
export const requestErrorStatus = {
  /** A header is invalid, a limit is passed, a time is older than the retained history, or the bytes are no HTTP. */
  'bad request': 400,
  /** A long query that writes was given up: each time it was tried, others had written what it had read. */
  'contended transaction': 409,
  /** The credential is known and does not give access to the log API. */
  forbidden: 403,
  /** A fault of the service or of its disk; the reason is in the log of the service. */
  'internal server error': 500,
  /** The path exists, the method does not; `allow` lists those that do. */
  'method not allowed': 405,
  /** No such path, or a secret that is no token at `/tokens/self`. */
  'not found': 404,
  /** The client took too long to send its request. */
  'request timeout': 408,
  /** The body is longer than the limit. */
  'request too large': 413,
  /** The store cannot be used now (its database is away, its disk is full), or a process was killed; the service's log says why. */
  'service unavailable': 503,
  /** The query took longer than it may, or a ping was not answered in time. */
  'time out': 503,
  /** Too many requests or streams under way, a rate limit, or too many checks of one password. */
  'too many requests': 429,
  /** No credential, or one that is not valid (any more); there is never a reason given. */
  unauthorized: 401,
} as const

/** The code of an error of the request as a whole. */
export type RequestErrorCode = keyof typeof requestErrorStatus

/** A request that failed as a whole: limits, credentials, time, contention. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: RequestErrorCode
  readonly description: string
  /** The description as the query log may show it. */
  readonly template: Message
  constructor(code: RequestErrorCode, description: string | Message) {
    super(`${code}: ${description}`)
    this.code = code
    this.description = String(description)
    this.template = messageOf(description)
  }
  get status(): number {
    return requestErrorStatus[this.code]
  }
}

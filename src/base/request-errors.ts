// Defines the errors with which a request fails as a whole. The query language defines the errors within a query.

import { type Message, messageOf } from './message.ts'

/** The HTTP status of each error that fails a request as a whole. These errors have no position in the query. */
export const requestErrorStatus = {
  /**
   * A header is invalid, a limit is exceeded, a requested time is earlier than the retained history, or the bytes are
   * not valid HTTP.
   */
  'bad request': 400,
  /** A long query that writes conflicted with other transactions more often than its retry limit allows. */
  'contended transaction': 409,
  /** The credential is valid but gives no access to the log API. */
  forbidden: 403,
  /** The service or its disk failed; the log of the service has the reason. */
  'internal server error': 500,
  /** The path does not support the method; the header `allow` lists the supported methods. */
  'method not allowed': 405,
  /** The path does not exist, or the secret at `/tokens/self` is not a token. */
  'not found': 404,
  /** The client took too long to send its request. */
  'request timeout': 408,
  /** The body is longer than the limit. */
  'request too large': 413,
  /** The store is unavailable (PostgreSQL is unreachable, or the disk is full), or a process was killed; the log has the reason. */
  'service unavailable': 503,
  /** The query exceeded its time limit, or a ping got no response in time. */
  'time out': 503,
  /** Too many requests or streams in flight, an exceeded rate limit, or too many checks of one password. */
  'too many requests': 429,
  /** The credential is missing, invalid, expired or revoked; the response never says which. */
  unauthorized: 401,
} as const

/** The code of an error that fails a request as a whole. */
export type RequestErrorCode = keyof typeof requestErrorStatus

/** Thrown when a request fails as a whole, for example because of a limit, its credential or a conflict. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: RequestErrorCode
  readonly description: string
  /** The description as a template with separate values. The query log stores only the template. */
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

// The errors with which a request fails as a whole, without a position in the query. Each language defines the errors of
// its queries.

import { type Message, messageOf } from './message.ts'

/**
 * The key is the code in version 4, and `status` is the HTTP status. A new error needs only a row here, and `npm run
 * generate`.
 */
export const requestErrors = {
  /**
   * A header or a parameter is invalid, a limit is exceeded, a requested time is earlier than the retained history, or
   * the bytes are not valid HTTP.
   */
  'bad request': { status: 400, version10: 'invalid_request' },
  /** A long query that writes conflicted with other transactions more often than its retry limit allows. */
  'contended transaction': { status: 409, version10: 'contended_transaction' },
  /**
   * Only under `/api`: an account key of this name exists already, a task of this kind is running, or the disk has no
   * room for a backup.
   */
  conflict: { status: 409, version10: 'conflict' },
  /** The credential gives no access to this endpoint or to its data, or the settings exclude the task. */
  forbidden: { status: 403, version10: 'forbidden' },
  /** The service or its disk failed; the log of the service has the reason. */
  'internal server error': { status: 500, version10: 'internal_error' },
  /** The path does not support the method; except below `/schema/1`, the header `allow` lists the supported methods. */
  'method not allowed': { status: 405, version10: 'method_not_allowed' },
  /**
   * The path, or the object that it or the body names, does not exist, or the secret at `/tokens/self` is not a token.
   */
  'not found': { status: 404, version10: 'not_found' },
  /** The client took too long to send its request. */
  'request timeout': { status: 408, version10: 'time_out' },
  /** The body is longer than the limit. */
  'request too large': { status: 413, version10: 'request_size_exceeded' },
  /**
   * The store is unavailable (PostgreSQL is unreachable, or the disk is full), a process was killed, or the service is
   * starting or stopping. The text says whether the query was, or may have been, committed; the log has the reason.
   */
  'service unavailable': { status: 503, version10: 'time_out' },
  /** The query exceeded its time limit (in version 10, within a second: status 440), or a ping got no response in time. */
  'time out': { status: 503, version10: 'time_out' },
  /** Too many requests or streams in flight, an exceeded rate limit, or too many checks of one password. */
  'too many requests': { status: 429, version10: 'limit_exceeded' },
  /** The credential is missing, invalid, expired or revoked; the response never says which. */
  unauthorized: { status: 401, version10: 'unauthorized' },
} as const

export type RequestErrorCode = keyof typeof requestErrors

export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: RequestErrorCode
  readonly description: string
  /** The query log stores only the template. */
  readonly template: Message
  constructor(code: RequestErrorCode, description: string | Message) {
    super(`${code}: ${description}`)
    this.code = code
    this.description = String(description)
    this.template = messageOf(description)
  }
  get status(): number {
    return requestErrors[this.code].status
  }
}

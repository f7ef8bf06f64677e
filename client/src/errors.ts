// The errors of the client as classes. Errors of the service have a `code`. Apps can compare the codes, which are part
// of the protocol. The messages are only for people.

import { decodeValue, type Json } from './format.ts'

/** Costs of a request, in the units of the service. Counters that are missing in a response are undefined. */
export interface Stats {
  readonly computeOps?: number
  readonly readOps?: number
  readonly writeOps?: number
  readonly queryTimeMs?: number
  readonly processingTimeMs?: number
  readonly contentionRetries?: number
  readonly storageBytesRead?: number
  readonly storageBytesWrite?: number
  readonly rateLimitsHit?: readonly string[]
}

/** Information about a request besides its result. */
export interface ResponseInfo {
  /** Log lines, hints, and errors with excerpts of the query; empty when there are none. */
  readonly summary: string
  /** Transaction time in microseconds since 1970. */
  readonly txnTs: number | undefined
  /** Time of the last schema change in microseconds since 1970. */
  readonly schemaVersion: number | undefined
  readonly stats: Stats
  /** The tags of the query. */
  readonly tags: Readonly<Record<string, string>>
}

/** Base class of all errors that concern the service or the connection to it. */
export class TerrariumError extends Error {}

/**
 * No complete response arrived, or a stream was interrupted. The service may or may not have executed the query.
 * `cause` is the error of the request or of the response's body; undefined if a stream ended before its first event.
 */
export class NetworkError extends TerrariumError {}

/** No complete response arrived within the query's time limit plus 5 seconds. */
export class ClientTimeoutError extends NetworkError {}

/**
 * The response does not follow the protocol. For example, a proxy returned its own error page, or the service is still
 * starting after all retries (status 503).
 */
export class ProtocolError extends TerrariumError {
  readonly status: number

  constructor(message: string, status: number, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/**
 * An error of the service that concerns the whole request or the query. Its subclasses represent the codes that apps
 * react to.
 */
export class ServiceError extends TerrariumError {
  /** HTTP status; undefined for the error of an event. */
  readonly status: number | undefined
  readonly code: string
  readonly info: ResponseInfo

  constructor(error: WireError, status: number | undefined, info: ResponseInfo) {
    super(error.message)
    this.code = error.code
    this.status = status
    this.info = info
  }
}

/** 400 `invalid_request`: a header, the body or an argument is invalid. */
export class InvalidRequestError extends ServiceError {}
/** 400 `invalid_query`: the query cannot be parsed or has a type error; `info.summary` shows the position. */
export class QueryCheckError extends ServiceError {}
/** 400 with any other code: the query failed at run time. */
export class QueryRuntimeError extends ServiceError {}

/** 400 `abort`: the query called `abort(value)`. */
export class QueryAbortedError extends QueryRuntimeError {
  readonly value: unknown

  constructor(error: WireError, status: number | undefined, info: ResponseInfo) {
    super(error, status, info)
    this.value = decodeValue(error.abort ?? null)
  }
}

export interface ConstraintFailure {
  /** Paths of the invalid fields; empty if the violated rule concerns the whole document. */
  readonly paths: readonly (readonly (string | number)[])[]
  readonly message: string
}

/** 400 `constraint_failure`: a document violates the rules of its collection. */
export class ConstraintFailureError extends QueryRuntimeError {
  readonly failures: readonly ConstraintFailure[]

  constructor(error: WireError, status: number | undefined, info: ResponseInfo) {
    super(error, status, info)
    this.failures = error.constraint_failures ?? []
  }
}

/** 400 `permission_denied` of a query, or 403 `forbidden` of a request: the secret does not have the permission. */
export class AuthorizationError extends QueryRuntimeError {}
/**
 * 401 `unauthorized`: the secret is missing, unknown, expired or revoked. `permission_loss`, without a status: the rights
 * of a stream have ended, for example because of a logout.
 */
export class AuthenticationError extends ServiceError {}
/**
 * 409 `contended_transaction`: the query conflicted with other transactions more often than its retry limit allows.
 * Nothing was written.
 */
export class ContentionError extends ServiceError {}
/** 429 `limit_exceeded`: too many requests. Nothing was written. */
export class RateLimitError extends ServiceError {}
/**
 * `time_out`. 440: the query exceeded its time limit; nothing was written. 503: the query exceeded its time limit, or the
 * service could not execute it; the message says whether the query was, or may have been, committed. 408: the request
 * arrived too slowly; nothing was written.
 */
export class QueryTimeoutError extends ServiceError {}
/** 500 `internal_error`, or another code with a status other than 400. A starting service causes a ProtocolError. */
export class ServiceFailureError extends ServiceError {}

/** Error in the body of a response. */
export interface WireError {
  readonly code: string
  readonly message: string
  readonly abort?: Json
  readonly constraint_failures?: readonly ConstraintFailure[]
}

type ErrorClass = new (error: WireError, status: number | undefined, info: ResponseInfo) => ServiceError

const byCode: Readonly<Record<string, ErrorClass>> = {
  invalid_request: InvalidRequestError,
  invalid_query: QueryCheckError,
  abort: QueryAbortedError,
  constraint_failure: ConstraintFailureError,
  permission_denied: AuthorizationError,
  forbidden: AuthorizationError,
  unauthorized: AuthenticationError,
  permission_loss: AuthenticationError,
  contended_transaction: ContentionError,
  limit_exceeded: RateLimitError,
  time_out: QueryTimeoutError,
  internal_error: ServiceFailureError,
}

/**
 * A feed or stream reported an error as an event, for example because the query of the event source failed for a
 * document. `code` is the code of the error.
 */
export class EventError extends TerrariumError {
  readonly code: string
  /** The reported error. */
  override readonly cause: ServiceError
  /** The position where to continue: a feed after the failed event, a stream after the event before it. */
  readonly cursor: string | undefined

  constructor(cause: ServiceError, cursor: string | undefined) {
    super(cause.message)
    this.code = cause.code
    this.cause = cause
    this.cursor = cursor
  }
}

// The keys of this object become the names of the errors, because a minifier renames classes but not keys.
for (const [name, { prototype }] of Object.entries({
  TerrariumError,
  NetworkError,
  ClientTimeoutError,
  ProtocolError,
  ServiceError,
  InvalidRequestError,
  QueryCheckError,
  QueryRuntimeError,
  QueryAbortedError,
  ConstraintFailureError,
  AuthorizationError,
  AuthenticationError,
  ContentionError,
  RateLimitError,
  QueryTimeoutError,
  ServiceFailureError,
  EventError,
}))
  Object.defineProperty(prototype, 'name', { value: name, configurable: true, writable: true })

/** An instance of the class for the error's code. */
export function errorOf(error: WireError, status: number | undefined, info: ResponseInfo): ServiceError {
  const isOfQuery = status === undefined || status === 400
  const Class = Object.hasOwn(byCode, error.code)
    ? (byCode[error.code] as ErrorClass)
    : isOfQuery
      ? QueryRuntimeError
      : ServiceFailureError
  return new Class(error, status, info)
}

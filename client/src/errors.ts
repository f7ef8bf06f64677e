// What can fail, as classes to catch. Errors of the service are told apart by their `code`, which is part of the protocol; their
// messages are for people.

import { decodeValue, type Json } from './format.ts'

/** Costs of a request, in the units of the service. Counters that a response does not have are undefined. */
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

/** Facts about a request that are not its result. */
export interface ResponseInfo {
  /** Log lines, hints and the drawn errors of the query; empty when there are none. */
  readonly summary: string
  /** The time of the transaction in microseconds since 1970. */
  readonly txnTs: number | undefined
  /** When the schema was last changed, in microseconds since 1970. */
  readonly schemaVersion: number | undefined
  readonly stats: Stats
  /** The tags that the query was sent with. */
  readonly tags: Readonly<Record<string, string>>
}

/** The class of all errors of this package that have to do with the service or the way to it. */
export class TerrariumError extends Error {}

/** No response arrived. Whether the service ran the query is not known. `cause` is the error of `fetch`. */
export class NetworkError extends TerrariumError {}

/** No response arrived in the time that the query has and some seconds more. */
export class ClientTimeoutError extends NetworkError {}

/** What responded is no service of this protocol, such as a proxy with a page of its own. */
export class ProtocolError extends TerrariumError {
  readonly status: number

  constructor(message: string, status: number, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

/** An error of the service: the request as a whole, or the query. Its subclasses are those of the codes that apps react to. */
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

/** 400 `invalid_request`: a header, the body or an argument is wrong. */
export class InvalidRequestError extends ServiceError {}
/** 400 `invalid_query`: the text of the query cannot be parsed; `info.summary` shows where. */
export class QueryCheckError extends ServiceError {}
/** 400 with any other code: the query failed while it ran. */
export class QueryRuntimeError extends ServiceError {}

/** 400 `abort`: the query called `abort(value)`. */
export class QueryAbortedError extends QueryRuntimeError {
  readonly value: unknown

  constructor(error: WireError, status: number | undefined, info: ResponseInfo) {
    super(error, status, info)
    this.value = decodeValue(error.abort ?? null)
  }
}

/** Why a document was rejected. */
export interface ConstraintFailure {
  /** The fields that are concerned, each as steps into the document; empty for a rule of the whole document. */
  readonly paths: readonly (readonly (string | number)[])[]
  readonly message: string
}

/** 400 `constraint_failure`: a document is not what its collection declares. */
export class ConstraintFailureError extends QueryRuntimeError {
  readonly failures: readonly ConstraintFailure[]

  constructor(error: WireError, status: number | undefined, info: ResponseInfo) {
    super(error, status, info)
    this.failures = error.constraint_failures ?? []
  }
}

/** 400 `permission_denied` of a query, 403 `forbidden` of a request: the secret may not do that. */
export class AuthorizationError extends QueryRuntimeError {}
/** 401 `unauthorized`: the secret is missing, unknown, expired or revoked. */
export class AuthenticationError extends ServiceError {}
/** 409 `contended_transaction`: others wrote what the query read, more often than retries are allowed. Nothing was written. */
export class ContentionError extends ServiceError {}
/** 429 `limit_exceeded`: too many requests. Nothing was written. */
export class RateLimitError extends ServiceError {}
/** 440 and 503 `time_out`: the query took longer than it may. Nothing was written. */
export class QueryTimeoutError extends ServiceError {}
/** 500 `internal_error`, and 503 of a service that is starting. */
export class ServiceFailureError extends ServiceError {}

/** The member `error` of a response. */
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
  contended_transaction: ContentionError,
  limit_exceeded: RateLimitError,
  time_out: QueryTimeoutError,
  internal_error: ServiceFailureError,
}

/** The error of an event: the query of the source failed for a document. `code` is that of the query's error. */
export class EventError extends TerrariumError {
  readonly code: string
  /** The error as a query would have thrown it. */
  override readonly cause: ServiceError
  /** Where to go on: for a feed behind what failed, for a stream behind the event before it. */
  readonly cursor: string | undefined

  constructor(cause: ServiceError, cursor: string | undefined) {
    super(cause.message)
    this.code = cause.code
    this.cause = cause
    this.cursor = cursor
  }
}

// Names are properties of this object, so they survive a minifier, which renames the classes.
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

/** The error of a response, of the class of its code. */
export function errorOf(error: WireError, status: number | undefined, info: ResponseInfo): ServiceError {
  const isQuerys = status === undefined || status === 400
  const Class = Object.hasOwn(byCode, error.code)
    ? (byCode[error.code] as ErrorClass)
    : isQuerys
      ? QueryRuntimeError
      : ServiceFailureError
  return new Class(error, status, info)
}

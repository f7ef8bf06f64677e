// Every error a client can get: one closed table of codes, one class for queries and one for requests.
// Codes, statuses and fixed phrases are facts of the protocol (clients branch on them).

/** How much an error counts when one of several decides the status; parse errors first. */
export type ErrorRank = 'parse' | 'argument' | 'permission' | 'other'

/** The closed table of codes that errors inside a query carry, with the status each has on its own. */
export const queryErrorStatus = {
  'authentication failed': 400,
  'call error': 400,
  'feature not available': 400,
  'instance already exists': 400,
  'instance not found': 404,
  'instance not unique': 400,
  'invalid argument': 400,
  'invalid expression': 400,
  'invalid object in container': 400,
  'invalid ref': 400,
  'invalid token': 400,
  'invalid url parameter': 400,
  'invalid write time': 400,
  'missing identity': 400,
  'move database error': 400,
  'permission denied': 403,
  'schema validation failed': 400,
  'stack overflow': 400,
  'transaction aborted': 400,
  'validation failed': 400,
  'value not found': 404,
} as const

export type QueryErrorCode = keyof typeof queryErrorStatus

/** Where in the query: object keys and array indexes from its root. */
export type Position = readonly (string | number)[]

/** Why one field of a written document was refused. */
export interface Failure {
  readonly field: readonly string[]
  readonly code: string
  readonly description: string
}

/** One element of an answer's `errors`. */
export interface ErrorEntry {
  readonly position: Position
  readonly code: QueryErrorCode
  readonly description: string
  readonly failures?: readonly Failure[]
  readonly cause?: readonly ErrorEntry[]
  readonly rank: ErrorRank
  /** Differs from the code's own status for a few situations (such as an inactive index: 400). */
  readonly status: number
}

/** Makes an entry with the rank and status its code has by default. */
export function errorEntry(
  code: QueryErrorCode,
  description: string,
  position: Position,
  details: Partial<Pick<ErrorEntry, 'failures' | 'cause' | 'rank' | 'status'>> = {},
): ErrorEntry {
  const rank: ErrorRank =
    code === 'invalid argument' ? 'argument' : code === 'permission denied' ? 'permission' : 'other'
  return { position, code, description, rank, status: queryErrorStatus[code], ...details }
}

/** A query that failed, with everything the answer's `errors` will say. */
export class QueryError extends Error {
  override name = 'QueryError'
  readonly errors: readonly ErrorEntry[]
  constructor(errors: readonly ErrorEntry[]) {
    super(errors[0]?.description ?? 'query failed')
    this.errors = errors
  }
  static of(...args: Parameters<typeof errorEntry>): QueryError {
    return new QueryError([errorEntry(...args)])
  }
}

const rankOrder: Record<ErrorRank, number> = { parse: 3, argument: 2, permission: 1, other: 0 }

/** The HTTP status of a failed query: the first error of the highest rank decides. */
export function statusOf(errors: readonly ErrorEntry[]): number {
  let chosen = errors[0]
  for (const error of errors) {
    if (chosen && rankOrder[error.rank] > rankOrder[chosen.rank]) chosen = error
  }
  return chosen?.status ?? 500
}

/** The closed table of errors about a request as a whole; they carry no position. */
export const requestErrorStatus = {
  'bad request': 400,
  'contended transaction': 409,
  forbidden: 403,
  'internal server error': 500,
  'method not allowed': 405,
  'not found': 404,
  'request timeout': 408,
  'request too large': 413,
  'time out': 503,
  'too many requests': 429,
  unauthorized: 401,
} as const

export type RequestErrorCode = keyof typeof requestErrorStatus

/** A request that failed as a whole: limits, credentials, time, contention. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: RequestErrorCode
  readonly description: string
  constructor(code: RequestErrorCode, description: string) {
    super(`${code}: ${description}`)
    this.code = code
    this.description = description
  }
  get status(): number {
    return requestErrorStatus[this.code]
  }
}

// What the HTTP edge asks of the engine. Bodies go in and come out as text: the engine owns parsing and rendering.

import type { RequestErrorCode } from '../errors.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { ApiVersion } from '../values/wire-version.ts'

/** Where a query came in, when that forbids writes; the words appear in the error. */
export type ReadOnlyPlace = 'get requests' | 'stream requests'

/** A request whose headers have been validated. */
export interface QueryRequest {
  /** The raw `authorization` header. */
  readonly authorization: string | undefined
  readonly apiVersion: ApiVersion
  /** The query as JSON text; undefined when none was sent. */
  readonly body: string | undefined
  readonly readOnly?: ReadOnlyPlace
  /** Reads go through the transaction log too. */
  readonly linearized?: boolean
  /** Microseconds: the snapshot is at least this. */
  readonly lastSeenTxn?: Micros
  readonly timeoutMs: number
  readonly contentionRetries?: number
}

/** The numbers behind the metrics headers. */
export interface QueryMetrics {
  readonly computeOps: number
  readonly byteReadOps: number
  readonly byteWriteOps: number
  readonly storageBytesRead: number
  readonly storageBytesWrite: number
  readonly queryTimeMs: number
  readonly txnRetries: number
  /** Those of `compute`, `read`, `write` whose rate limit was hit. */
  readonly rateLimited: readonly ('compute' | 'read' | 'write')[]
}

export interface QueryAnswer {
  readonly status: number
  /** The body: `{"resource":…}` or `{"errors":[…]}`. */
  readonly body: string
  readonly txnTime: Micros
  /** Absent for 401 and 500. */
  readonly metrics: QueryMetrics | undefined
  /** The database in which the query ran; undefined when the credential was refused. */
  readonly database: DatabaseId | undefined
  /** The request error this answer stands for, when it is not the query's own. */
  readonly requestError?: RequestErrorCode
}

export interface Engine {
  query(request: QueryRequest): QueryAnswer | Promise<QueryAnswer>
  /** `GET /tokens/self`: the caller's own token document. */
  ownToken(request: QueryRequest): QueryAnswer | Promise<QueryAnswer>
  /** `GET /authorized`. */
  authorized(request: QueryRequest): QueryAnswer | Promise<QueryAnswer>
  /** Proves that the store answers. Rejects after `timeoutMs`. */
  ping(scope: 'all' | 'write' | 'read' | 'node', timeoutMs: number): Promise<void>
  now(): Micros
}

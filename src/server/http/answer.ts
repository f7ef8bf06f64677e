// An answer is the result of an endpoint: a status, a body and counts. The edge (the HTTP layer around the endpoints)
// converts it to a response; response-headers.ts derives the headers. The engine's responses to queries are also
// answers.

import type { Readable } from 'node:stream'
import { type RequestErrorCode, requestErrors } from '../../base/request-errors.ts'
import type { QueryMetrics, StreamResponse } from '../../engine/engine-contract.ts'
import type { Micros } from '../../values/value.ts'

/** Absent fields are neither sent nor recorded. */
export interface Answer extends Partial<Omit<StreamResponse, 'status' | 'body' | 'database' | 'attempt'>> {
  readonly status: number
  /** A string is sent with `content-length`; a stream only if the header is in `headers`. */
  readonly body: string | Readable
  /** A name (in lower case), its value, the next name, its value, and so on. */
  readonly headers?: readonly string[]
  /** The default is JSON. */
  readonly contentType?: string
}

export const jsonType = 'application/json;charset=utf-8'

/** Returns an answer without the headers of queries, such as `x-txn-time`. */
export function jsonAnswer(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body), contentType: jsonType }
}

/** Metrics of an answer without a query. */
export const noQueryMetrics: QueryMetrics = {
  computeOps: 1,
  byteReadOps: 0,
  byteWriteOps: 0,
  storageBytesRead: 0,
  storageBytesWrite: 0,
  queryTimeMs: 0,
  txnRetries: 0,
  rateLimited: [],
}

/** Returns the body of an error that concerns the request, not its query. */
export function errorBody(code: RequestErrorCode, description: string): string {
  return JSON.stringify({ errors: [{ code, description }] })
}

/**
 * Returns the answer for an error that concerns the request, not its query. `now`: the transaction time of the answer.
 */
export function errorAnswer(code: RequestErrorCode, description: string, now: Micros): Answer {
  return {
    status: requestErrors[code].status,
    body: errorBody(code, description),
    txnTime: now,
    metrics: code === 'internal server error' ? undefined : noQueryMetrics,
    requestError: code,
  }
}

/** Clients do not see the cause. */
export const internalErrorText = 'The service met an internal error.'

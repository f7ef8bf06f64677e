// The result of an endpoint, from which the edge makes a response; the engine's responses to queries have the same
// form. An answer contains status, body and counts, no headers: response-headers.ts derives the headers from it.

import type { Readable } from 'node:stream'
import { type RequestErrorCode, requestErrorStatus } from '../../base/request-errors.ts'
import type { QueryMetrics, StreamResponse } from '../../engine/engine-contract.ts'
import type { Micros } from '../../values/value.ts'

/** An answer. Absent fields of the engine's response are neither sent nor recorded. */
export interface Answer extends Partial<Omit<StreamResponse, 'status' | 'body' | 'database' | 'attempt'>> {
  readonly status: number
  /** A string is sent whole. A stream is sent in pieces, without `content-length`. */
  readonly body: string | Readable
  /** Additional headers, names (in lower case) and values alternating. */
  readonly headers?: readonly string[]
  /** The type of the body; JSON when absent. */
  readonly contentType?: string
}

/** Counts for an answer without a query. */
export const idleMetrics: QueryMetrics = {
  computeOps: 1,
  byteReadOps: 0,
  byteWriteOps: 0,
  storageBytesRead: 0,
  storageBytesWrite: 0,
  queryTimeMs: 0,
  txnRetries: 0,
  rateLimited: [],
}

/** The body of an error about the request as a whole. */
export function errorBody(code: RequestErrorCode, description: string): string {
  return JSON.stringify({ errors: [{ code, description }] })
}

/**
 * An answer for an error about the request as a whole. `now` is the transaction time of the answer; the request has not
 * changed the store.
 */
export function errorAnswer(code: RequestErrorCode, description: string, now: Micros): Answer {
  return {
    status: requestErrorStatus[code],
    body: errorBody(code, description),
    txnTime: now,
    metrics: code === 'internal server error' ? undefined : idleMetrics,
    requestError: code,
  }
}

/** The text of an internal error. Clients do not see the cause. */
export const internalErrorText = 'The service met an internal error.'

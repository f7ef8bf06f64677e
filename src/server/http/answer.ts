// What an endpoint returns, and the edge makes a response of; the engine's responses to queries are such answers. Status,
// body and numbers only: which headers follow from them is decided in one place, response-headers.ts.

import type { Readable } from 'node:stream'
import { type RequestErrorCode, requestErrorStatus } from '../../base/errors.ts'
import type { QueryMetrics, StreamResponse } from '../../engine/contract.ts'
import type { Micros } from '../../values/value.ts'

/** What is absent of a response of the engine is not sent, and not recorded. */
export interface Answer extends Partial<Omit<StreamResponse, 'status' | 'body' | 'database' | 'attempt'>> {
  readonly status: number
  /** Text is sent whole; a stream is sent as it comes, with no length announced. */
  readonly body: string | Readable
  /** Further headers, name and value alternating, names in lower case. */
  readonly headers?: readonly string[]
  /** Instead of JSON. */
  readonly contentType?: string
}

/** The numbers of an answer for which no query ran. */
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

/** An error about the request as a whole, at the time `now`, after which the service is as before. */
export function errorAnswer(code: RequestErrorCode, description: string, now: Micros): Answer {
  return {
    status: requestErrorStatus[code],
    body: errorBody(code, description),
    txnTime: now,
    metrics: code === 'internal server error' ? undefined : idleMetrics,
    requestError: code,
  }
}

/** What clients are told of a bug: nothing of what went wrong inside. */
export const internalErrorText = 'The service met an internal error.'

// What an endpoint returns, and the edge makes a response of; the engine's responses to queries are such answers. Status,
// body and numbers only: which headers follow from them is decided in one place, response-headers.ts.

import type { Readable } from 'node:stream'
import type {
  CallerMark,
  DatabasePlace,
  EventStream,
  LongBody,
  NamedObject,
  QueryMetrics,
} from '../engine/contract.ts'
import { type RequestErrorCode, requestErrorStatus } from '../errors.ts'
import type { Micros } from '../values/value.ts'

export interface Answer {
  readonly status: number
  /** Text is sent whole; a stream is sent as it comes, with no length announced. */
  readonly body: string | Readable
  /** Instead of the body: bytes that are sent as the client reads. */
  readonly longBody?: LongBody
  /** Instead of the body: events, which are sent as they come. */
  readonly stream?: EventStream
  /** Absent where the protocol sends no `x-txn-time`. */
  readonly txnTime: Micros | undefined
  /** Absent where the protocol sends no metrics. */
  readonly metrics: QueryMetrics | undefined
  /** Where the database lies that was asked; for the query log. Absent: the credential was refused. */
  readonly place?: DatabasePlace | undefined
  /** Who asked, and the schema objects that the query has found by name; for the query log. */
  readonly caller?: CallerMark | undefined
  readonly named?: readonly NamedObject[] | undefined
  /** The request error this answer stands for; decides between the two error paths of the protocol. */
  readonly requestError?: RequestErrorCode | undefined
  /** Its query was evaluated in the slow lane. */
  readonly isSlow?: boolean
  /** Its writes were committed there, too. */
  readonly isCommittedThere?: boolean
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

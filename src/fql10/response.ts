// Builds the bodies of responses. Until the commit, a body contains a mark for the time of the transaction. After
// the commit, the time replaces the mark, and the costs and tags are added.

import { type RequestError, requestErrors } from '../base/request-errors.ts'
import {
  type QueryMetrics,
  type RenderedResponse,
  type ResponseFault,
  requestFault,
} from '../model/language.ts'
import { quoteJson } from '../values/json-text.ts'
import { formatMicros } from '../values/time.ts'
import type { Micros } from '../values/value.ts'
import { faultOf, type QueryFailure } from './failure/query-failure.ts'
import { eventErrorBody, requestErrorBody } from './wire/request-errors.ts'

/** The mark for the time of the transaction. JSON text cannot contain this character unescaped. */
export const timeMark = '\u0001'

/** Options of a request, from `LanguageRequest.options`. */
export interface RequestOptions {
  /** The format of values in the response. The default is `simple`. */
  readonly format?: string
  /** If `true`, the summary contains performance hints. */
  readonly hints?: string
  /** `true` or `false`. If absent, the database decides. */
  readonly typecheck?: string
  /** The response repeats the tags. */
  readonly tags?: string
  /** The endpoint of the request. Absent for the query endpoint. Only the service itself requests a `stream page`. */
  readonly endpoint?: 'check' | 'feed' | 'stream' | 'stream page'
}

/**
 * Returns the beginning of a successful body, followed by `|` and the schema version. {@link splitVersion} separates
 * the two parts, and {@link completeBody} adds the rest of the body. `type` is the static type of the result; undefined
 * if the query was not checked.
 */
export function beginningOfResult(
  data: string,
  type: string | undefined,
  summary: string,
  schemaVersion: Micros,
): string {
  const typeMember = type === undefined ? '' : `,"static_type":${quoteJson(type)}`
  return `"data":${data}${typeMember},"summary":${quoteJson(summary)}|${schemaVersion}`
}

export function beginningOfFailure(
  { code, message, constraintFailures }: QueryFailure,
  abort: string | undefined,
  summary: string,
): string {
  const failures =
    constraintFailures.length === 0
      ? ''
      : `,"constraint_failures":${JSON.stringify(constraintFailures.map(({ message, paths }) => ({ paths, message })))}`
  const abortMember = abort === undefined ? '' : `,"abort":${abort}`
  const error = `{"code":"${code}","message":${quoteJson(message)}${failures}${abortMember}}`
  return `"error":${error},"summary":${quoteJson(summary)}`
}

/** Fills in the commit time, and adds the costs, the tags and the schema version. */
export function completeBody(
  beginning: string,
  schemaVersion: Micros | string,
  { time, metrics }: { readonly time: Micros; readonly metrics: QueryMetrics | undefined },
  { tags }: RequestOptions,
): string {
  const filled = beginning.includes(timeMark) ? beginning.replaceAll(timeMark, formatMicros(time)) : beginning
  const stats = metrics === undefined ? '' : `,"stats":${statsText(metrics)}`
  const tagsMember = tags === undefined ? '' : `,"query_tags":${quoteJson(tags)}`
  return `{${filled},"txn_ts":${time}${stats}${tagsMember},"schema_version":${schemaVersion}}`
}

export function isBeginningOfResult(body: string): boolean {
  return body.startsWith('"data":')
}

/** Splits the text of {@link beginningOfResult}; the version stays a text of digits. */
export function splitVersion(body: string): readonly [beginning: string, schemaVersion: string] {
  const at = body.lastIndexOf('|')
  return [body.slice(0, at), body.slice(at + 1)]
}

function statsText(metrics: QueryMetrics): string {
  const { byteReadOps, byteWriteOps, computeOps, storageBytesRead, storageBytesWrite, txnRetries } = metrics
  // The time is at least 1 ms, because clients do not distinguish 0 from a missing number.
  const ms = Math.max(1, metrics.queryTimeMs)
  const operations = `"compute_ops":${computeOps},"read_ops":${byteReadOps},"write_ops":${byteWriteOps}`
  const bytes = `"storage_bytes_read":${storageBytesRead},"storage_bytes_write":${storageBytesWrite}`
  const limitsHit = metrics.rateLimited.length === 0 ? '[]' : JSON.stringify(metrics.rateLimited)
  return `{${operations},"query_time_ms":${ms},"contention_retries":${txnRetries},${bytes},"rate_limits_hit":${limitsHit}}`
}

/** If a request times out within this time (ms), the response says that the client's deadline was too short. */
const aggressiveMs = 1000

function aggressiveDeadline(
  { code }: RequestError,
  metrics: QueryMetrics | undefined,
): RenderedResponse | undefined {
  if (code !== 'time out' || metrics === undefined || metrics.queryTimeMs >= aggressiveMs) return undefined
  const spent = metrics.queryTimeMs
  // The needed time is unknown. The hosted service wanted a deadline of at least twice the expected time.
  const text = `Client set aggressive deadline: query needs ${2 * spent + 1}, timed out within ${spent}`
  return { status: 440, body: requestErrorBody(code, text) }
}

/** The error of a rejected request, for the query log. */
function faultOfRequest(error: RequestError): ResponseFault {
  return requestFault(error, requestErrors[error.code].version10)
}

export function eventRequestErrorResponse(
  error: RequestError,
  metrics: QueryMetrics | undefined,
): RenderedResponse {
  const { code, description, status } = error
  const rendered = aggressiveDeadline(error, metrics) ?? { status, body: eventErrorBody(code, description) }
  return { ...rendered, fault: faultOfRequest(error) }
}

export function eventFailureResponse(failure: QueryFailure): RenderedResponse {
  const { code, message } = failure
  const body = `{"error":{"code":"${code}","message":${quoteJson(message)}}}`
  return { status: 400, body, fault: faultOf(failure) }
}

export function requestErrorResponse(
  error: RequestError,
  metrics: QueryMetrics | undefined,
  { tags }: RequestOptions,
): RenderedResponse {
  const { code, description, status } = error
  const aggressive = aggressiveDeadline(error, metrics)
  const fault = faultOfRequest(error)
  if (aggressive !== undefined) return { ...aggressive, fault }
  const body = requestErrorBody(code, description)
  const parts: string[] = []
  if (metrics !== undefined && metrics.rateLimited.length > 0) parts.push(`"stats":${statsText(metrics)}`)
  // As on the hosted service, only a wrong secret and invalid arguments repeat the tags.
  const echoes = code === 'unauthorized' || description.startsWith('Invalid argument ')
  if (tags !== undefined && echoes) parts.push(`"query_tags":${quoteJson(tags)}`)
  return { status, body: parts.length === 0 ? body : `${body.slice(0, -1)},${parts.join(',')}}`, fault }
}

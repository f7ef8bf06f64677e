// Builds the head of every response, and formats the body. The protocol defines the headers of each kind of answer.
// Transaction time, metrics and tags are in headers in version 4 and GraphQL; in version 10, they are in the body.
//
// The list describes endpoints of queries. Other endpoints, such as most of those under /api, omit the transaction time
// and the metrics.
//
// - `traceparent` and `x-faunadb-build`: all responses.
// - `x-txn-time`: all responses to requests with valid headers.
// - Headers of the metrics, such as `x-compute-ops`: all responses to requests with valid headers, except 401 and 500.
// - `x-faunadb-host`: all responses except 401 and 500, if the request has the header `x-trace`.
// - `x-fauna-tags`: all responses except the errors 408, 409, 413, 429, 500 and 503, and errors about an exceeded limit.
//   The bodies of these exceptions are always indented.
// - `access-control-expose-headers`: every `x-` header except `x-faunadb-build`, so that pages of other origins can
//   read these headers.

import type { RequestErrorCode } from '../../base/request-errors.ts'
import type { QueryMetrics } from '../../engine/engine-contract.ts'
import { prettyPrint } from '../../values/json-pretty.ts'
import { type Answer, jsonType } from './answer.ts'
import type { EndpointCall } from './endpoint.ts'
import type { HeaderList } from './exchange.ts'
import { echoTags, traceparent } from './request-context.ts'

const ordinaryErrors: ReadonlySet<RequestErrorCode> = new Set([
  'forbidden',
  'method not allowed',
  'not found',
  'unauthorized',
])

/** The context of all responses of a service. */
export interface ResponseContext {
  /** `x-faunadb-build`. */
  readonly build: string
  /** `x-faunadb-host`: the name of this machine. */
  readonly host: string
}

interface PreparedResponse {
  readonly headers: HeaderList
  /** Empty when the answer has a long body; undefined when the body is a stream. */
  readonly text: string | undefined
  /** Length of the whole body in UTF-8; 0 for a stream. */
  readonly bytes: number
}

export function prepareResponse(
  call: EndpointCall,
  answer: Answer,
  context: ResponseContext,
): PreparedResponse {
  const { challenges, hasQueryHeaders } = call.protocol
  const exceptional = hasQueryHeaders && isExceptional(answer)
  const text = textOf(call, answer, exceptional)
  const bytes = answer.longBody?.length ?? (text === undefined ? 0 : Buffer.byteLength(text))
  const headers: HeaderList = []
  if (text !== '' || bytes > 0) headers.push('content-type', answer.contentType ?? jsonType)
  if (text !== undefined) headers.push('content-length', bytes)
  if (hasQueryHeaders && answer.txnTime !== undefined) headers.push('x-txn-time', answer.txnTime)
  if (hasQueryHeaders && answer.metrics !== undefined)
    pushMetrics(headers, answer.metrics, call.bytesIn, bytes)
  if (hasQueryHeaders && !exceptional && call.tags.length > 0)
    headers.push('x-fauna-tags', echoTags(call.tags))
  headers.push('traceparent', traceparent(call.trace), 'x-faunadb-build', context.build)
  if (isTraced(call, answer)) headers.push('x-faunadb-host', context.host)
  if (answer.requestError === 'unauthorized' && challenges !== false)
    headers.push('www-authenticate', hasQueryHeaders ? 'Basic realm="Unauthorized"' : 'Bearer')
  if (answer.headers !== undefined) headers.push(...answer.headers)
  const { origin } = call.request.headers
  if (origin !== undefined) pushCors(headers, origin)
  return { headers, text, bytes }
}

/** True for responses without tags, whose bodies are always indented: see the list above. */
function isExceptional(answer: Answer): boolean {
  const { requestError } = answer
  // The response to a request with an invalid header has no transaction time, and the format of an ordinary error.
  if (requestError === undefined || answer.txnTime === undefined) return false
  return !ordinaryErrors.has(requestError)
}

function isTraced({ request }: EndpointCall, { status }: Answer): boolean {
  return request.headers['x-trace'] !== undefined && status !== 401 && status !== 500
}

/** Returns undefined when the body is a stream. */
function textOf(call: EndpointCall, answer: Answer, exceptional: boolean): string | undefined {
  const { body } = answer
  if (typeof body !== 'string' || answer.stream !== undefined) return undefined
  if (body === '' || answer.contentType !== undefined) return body
  return exceptional || call.wantsPrettyBody ? prettyPrint(body) : body
}

function pushMetrics(headers: HeaderList, metrics: QueryMetrics, bytesIn: number, bytesOut: number): void {
  headers.push(
    'x-compute-ops',
    metrics.computeOps,
    'x-byte-read-ops',
    metrics.byteReadOps,
    'x-byte-write-ops',
    metrics.byteWriteOps,
    'x-query-time',
    metrics.queryTimeMs,
    'x-query-bytes-in',
    bytesIn,
    'x-query-bytes-out',
    bytesOut,
    'x-storage-bytes-read',
    metrics.storageBytesRead,
    'x-storage-bytes-write',
    metrics.storageBytesWrite,
    'x-txn-retries',
    metrics.txnRetries,
  )
  if (metrics.rateLimited.length > 0) headers.push('x-rate-limited-ops', metrics.rateLimited.join(','))
}

/** The origin of the request, and the names of the headers that its pages can read. */
function pushCors(headers: HeaderList, origin: string): void {
  const isExposed = (name: string) => name.startsWith('x-') && name !== 'x-faunadb-build'
  const exposed = headers.filter((entry, at) => at % 2 === 0 && isExposed(String(entry)))
  headers.push(
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    exposed.join(', '),
  )
}

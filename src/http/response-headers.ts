// The head of every response, and how its body is laid out. Which answer carries which headers is a fact of the protocol:
//
// - `traceparent` and `x-faunadb-build`: all. `x-txn-time`: all but refused headers. Metrics: all but those and
//   401 and 500.
// - `x-faunadb-host`: all but 401 and 500, when the request asks for it with `x-trace`.
// - Tags are echoed except on the "exception path" (409, 413, 429, 503, limits, 500), whose bodies are always
//   laid out for people.
// - To pages of another origin every `x-` header but the build is exposed, or a browser could not read it.

import type { QueryMetrics } from '../engine/contract.ts'
import type { RequestErrorCode } from '../errors.ts'
import { prettyPrint } from '../values/json-pretty.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall } from './call.ts'
import type { HeaderList } from './exchange.ts'
import { echoTags } from './tags.ts'
import { traceparent } from './trace.ts'

/** The type of every body that is not said to be something else. */
export const jsonType = 'application/json;charset=utf-8'

const ordinaryErrors: ReadonlySet<RequestErrorCode> = new Set([
  'forbidden',
  'method not allowed',
  'not found',
  'unauthorized',
])

const metricNames = [
  'x-compute-ops',
  'x-byte-read-ops',
  'x-byte-write-ops',
  'x-query-time',
  'x-query-bytes-in',
  'x-query-bytes-out',
  'x-storage-bytes-read',
  'x-storage-bytes-write',
  'x-txn-retries',
].join(', ')

/** What all responses of one service have in common. */
export interface ResponseContext {
  /** The value of `x-faunadb-build`. */
  readonly build: string
  /** The value of `x-faunadb-host`. */
  readonly host: string
}

/** A response that is ready to be sent. */
interface PreparedResponse {
  readonly headers: HeaderList
  /** The whole body, unless the answer has a long one; undefined when it comes as a stream. */
  readonly text: string | undefined
  /** Of the whole body, in UTF-8; 0 for a stream. */
  readonly bytes: number
}

/** Lays out the response to `call`. */
export function prepareResponse(
  call: EndpointCall,
  answer: Answer,
  context: ResponseContext,
): PreparedResponse {
  const { challenges, factsInHead } = call.protocol
  const exceptional = factsInHead && isExceptional(answer)
  const text = textOf(call, answer, exceptional)
  const bytes = answer.longBody?.length ?? (text === undefined ? 0 : Buffer.byteLength(text))
  const headers: HeaderList = []
  if (text !== '' || bytes > 0) headers.push('content-type', answer.contentType ?? jsonType)
  if (text !== undefined) headers.push('content-length', bytes)
  if (factsInHead && answer.txnTime !== undefined) headers.push('x-txn-time', answer.txnTime)
  if (factsInHead && answer.metrics !== undefined) pushMetrics(headers, answer.metrics, call.bytesIn, bytes)
  const echoed = factsInHead && !exceptional && call.tags.length > 0
  if (echoed) headers.push('x-fauna-tags', echoTags(call.tags))
  headers.push('traceparent', traceparent(call.trace), 'x-faunadb-build', context.build)
  const traced = isTraced(call, answer)
  if (traced) headers.push('x-faunadb-host', context.host)
  if (answer.requestError === 'unauthorized' && challenges !== false)
    headers.push('www-authenticate', factsInHead ? 'Basic realm="Unauthorized"' : 'Bearer')
  if (answer.headers !== undefined) headers.push(...answer.headers)
  const { origin } = call.request.headers
  if (origin !== undefined) pushCors(headers, origin, answer, { echoed, factsInHead, traced })
  return { headers, text, bytes }
}

function isExceptional(answer: Answer): boolean {
  const { requestError } = answer
  // A refused header has no transaction time and is laid out like an ordinary error.
  if (requestError === undefined || answer.txnTime === undefined) return false
  return !ordinaryErrors.has(requestError)
}

function isTraced({ request }: EndpointCall, { status }: Answer): boolean {
  return request.headers['x-trace'] !== undefined && status !== 401 && status !== 500
}

/** The whole body, or undefined when it comes as a stream. */
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

/** Echoes the origin; the exposed headers are those of the `x-` headers that this response has. */
function pushCors(
  headers: HeaderList,
  origin: string,
  answer: Answer,
  {
    echoed,
    factsInHead,
    traced,
  }: { readonly echoed: boolean; readonly factsInHead: boolean; readonly traced: boolean },
): void {
  const exposed: string[] = []
  if (factsInHead && answer.txnTime !== undefined) exposed.push('x-txn-time')
  if (factsInHead && answer.metrics !== undefined) {
    exposed.push(metricNames)
    if (answer.metrics.rateLimited.length > 0) exposed.push('x-rate-limited-ops')
  }
  if (echoed) exposed.push('x-fauna-tags')
  if (traced) exposed.push('x-faunadb-host')
  const further = answer.headers ?? []
  for (let at = 0; at < further.length; at += 2) {
    const name = further[at] as string
    if (name.startsWith('x-')) exposed.push(name)
  }
  headers.push(
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    exposed.join(', '),
  )
}

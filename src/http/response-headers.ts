// The head and body of every response. Which answer carries which headers is a fact of the protocol:
//
// - `traceparent` and `x-faunadb-build`: all. `x-txn-time`: all but refused headers. Metrics: all but those and
//   401 and 500.
// - `x-faunadb-host`: all but 401 and 500, when the request asks for it with `x-trace`.
// - Tags are echoed except on the "exception path" (409, 413, 429, 503, limits, 500), whose bodies are always
//   laid out for people.
// - To pages of another origin every `x-` header but the build is exposed, or a browser could not read it.

import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Readable } from 'node:stream'
import type { QueryMetrics } from '../engine/contract.ts'
import type { RequestErrorCode } from '../errors.ts'
import { prettyPrint } from '../values/wire-pretty.ts'
import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import { wantsPrettyBody } from './request-headers.ts'
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
  /** HTTP/1.1 connections are closed after this response. */
  readonly closing: boolean
}

/** Whether nobody is there any more to answer. Node's responses of HTTP/2 do not say it themselves, but their streams. */
function isGone(response: ServerResponse): boolean {
  const { destroyed, stream } = response as ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>
  return destroyed || stream?.destroyed === true
}

/** Frees what a body that is not going to be sent holds: an event stream, an open file. */
export function discardBody({ body }: Answer): void {
  if (typeof body !== 'string') body.destroy()
}

/**
 * Sends `answer` and ends the response; answers the bytes of the body, 0 for a stream. The body of a stream that
 * fails half-way is cut off.
 */
export function writeAnswer(call: Call, answer: Answer, context: ResponseContext): number {
  const { request, response } = call
  if (isGone(response)) {
    discardBody(answer)
    return 0
  }
  const exceptional = isExceptional(answer)
  const body = textOf(call, answer, exceptional)
  const length = body === undefined ? 0 : Buffer.byteLength(body)
  const headers: (string | number)[] = ['content-type', answer.contentType ?? jsonType]
  if (body === '') headers.length = 0
  if (body !== undefined) headers.push('content-length', length)
  if (answer.txnTime !== undefined) headers.push('x-txn-time', answer.txnTime)
  if (answer.metrics !== undefined) pushMetrics(headers, answer.metrics, call.bytesIn, length)
  const echoed = !exceptional && call.tags.length > 0
  if (echoed) headers.push('x-fauna-tags', echoTags(call.tags))
  headers.push('traceparent', traceparent(call.trace), 'x-faunadb-build', context.build)
  const traced = isTraced(call, answer)
  if (traced) headers.push('x-faunadb-host', context.host)
  if (answer.requestError === 'unauthorized') headers.push('www-authenticate', 'Basic realm="Unauthorized"')
  if (answer.headers !== undefined) headers.push(...answer.headers)
  const origin = request.headers.origin
  if (origin !== undefined) pushCors(headers, origin, answer, { echoed, traced })
  if (context.closing && request.httpVersionMajor === 1) headers.push('connection', 'close')
  response.writeHead(answer.status, headers as string[])
  if (body === undefined) sendStream(call, answer.body as Readable)
  else if (request.method === 'HEAD') response.end()
  // Text that is all ASCII is the same in Latin-1, which is written without being transcoded.
  else response.end(body, length === body.length ? 'latin1' : 'utf8')
  return length
}

function isExceptional(answer: Answer): boolean {
  const { requestError } = answer
  // A refused header has no transaction time and is laid out like an ordinary error.
  if (requestError === undefined || answer.txnTime === undefined) return false
  return !ordinaryErrors.has(requestError)
}

function isTraced({ request }: Call, { status }: Answer): boolean {
  return request.headers['x-trace'] !== undefined && status !== 401 && status !== 500
}

/** The whole body, or undefined when it comes as a stream. */
function textOf(call: Call, answer: Answer, exceptional: boolean): string | undefined {
  const { body } = answer
  if (typeof body !== 'string') return undefined
  if (body === '' || answer.contentType !== undefined) return body
  return exceptional || wantsPrettyBody(call.request.headers) ? prettyPrint(body) : body
}

function pushMetrics(
  headers: (string | number)[],
  metrics: QueryMetrics,
  bytesIn: number,
  bytesOut: number,
): void {
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
  headers: (string | number)[],
  origin: string,
  answer: Answer,
  { echoed, traced }: { readonly echoed: boolean; readonly traced: boolean },
): void {
  const exposed: string[] = []
  if (answer.txnTime !== undefined) exposed.push('x-txn-time')
  if (answer.metrics !== undefined) exposed.push(metricNames)
  if (answer.metrics !== undefined && answer.metrics.rateLimited.length > 0)
    exposed.push('x-rate-limited-ops')
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

function sendStream(call: Call, body: Readable): void {
  const { request, response } = call
  if (request.method === 'HEAD') {
    body.destroy()
    response.end()
    return
  }
  body.on('error', () => response.destroy())
  response.once('close', () => body.destroy())
  // One piece at a time: the Python driver takes each DATA frame for one event, and waiting pieces share a frame.
  body.on('data', piece => {
    body.pause()
    response.write(piece, () => body.resume())
  })
  body.once('end', () => response.end())
}

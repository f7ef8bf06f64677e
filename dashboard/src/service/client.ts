// The client of the public API. Queries of version 4 and their responses are wire JSON (see `wire/json.ts`); results of
// version 10 have the format `tagged`. Each query contains the newest transaction time that the client has seen, so no
// node of the service returns older data than the page has shown.

import { at, type Json, parseJson, type Query, textAt, tryJson, writeJson } from '../wire/json.ts'
import { errorOf, ServiceError } from './faults.ts'

/** Costs of a request, by the name of the header without `x-`. */
type Costs = Readonly<Record<string, number>>

export interface QueryResult {
  readonly value: Json
  /** Body of the response. */
  readonly text: string
  readonly costs: Costs
  /** The time from the request to the last byte, measured in the browser. */
  readonly elapsedMs: number
}

/** The body is not parsed. */
export type TextResult = Omit<QueryResult, 'value'>

/** The secret with which a request is sent, and whether a user has written the request. */
export interface RequestSecret {
  readonly secret: string
  readonly isFromUser?: boolean
}

/**
 * Tags distinguish the dashboard's own requests from queries of users in the query log. Each language has its own
 * header for tags, so both are sent.
 */
function tagHeadersOf({ isFromUser }: RequestSecret): Readonly<Record<string, string>> {
  const tags = isFromUser ? 'source=shell' : 'source=dashboard'
  return { 'x-fauna-tags': tags, 'x-query-tags': tags }
}

let lastSeenTxn = 0

function headersOf(as: RequestSecret): Headers {
  const headers = new Headers({
    authorization: `Bearer ${as.secret}`,
    'x-faunadb-api-version': '4',
    ...tagHeadersOf(as),
  })
  if (lastSeenTxn > 0) headers.set('x-last-seen-txn', String(lastSeenTxn))
  return headers
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, cache: 'no-store', credentials: 'omit' })
  } catch (cause) {
    if (init.signal?.aborted) throw new DOMException('The page was closed.', 'AbortError')
    throw new ServiceError(0, `The service cannot be reached (${(cause as Error).message}).`)
  }
}

function costsOf(headers: Headers): Costs {
  const costs: Record<string, number> = {}
  for (const [name, value] of headers) if (/^x-/.test(name)) costs[name.slice(2)] = Number(value)
  return costs
}

/**
 * Runs a query given as JSON text, or sends a body to another endpoint at `path`. Throws {@link ServiceError}, or an
 * AbortError.
 */
export async function runText(
  body: string,
  as: RequestSecret,
  signal?: AbortSignal,
  path = '/',
): Promise<TextResult> {
  const started = performance.now()
  const init = { method: 'POST', headers: headersOf(as), body, signal: signal ?? null }
  const response = await reach(path, init)
  const text = await response.text()
  const elapsedMs = performance.now() - started
  const costs = costsOf(response.headers)
  lastSeenTxn = Math.max(lastSeenTxn, costs['txn-time'] ?? 0)
  if (!response.ok) throw errorOf(response.status, tryJson(text))
  return { text, costs, elapsedMs }
}

/** Cost header of version 4 for each member of `stats` in version 10. */
const costsOfStats: Readonly<Record<string, string>> = {
  query_time_ms: 'query-time',
  compute_ops: 'compute-ops',
  read_ops: 'byte-read-ops',
  write_ops: 'byte-write-ops',
  storage_bytes_read: 'storage-bytes-read',
  storage_bytes_write: 'storage-bytes-write',
  contention_retries: 'txn-retries',
}

interface Version10Result extends QueryResult {
  /** Log lines and hints. */
  readonly summary: string
}

/** The result and the arguments (`given`) are in the format `tagged`. Throws {@link ServiceError}, or an AbortError. */
export async function runVersion10(
  query: string,
  as: RequestSecret,
  signal: AbortSignal,
  given: Readonly<Record<string, Query>> = {},
): Promise<Version10Result> {
  const started = performance.now()
  const headers = new Headers({
    authorization: `Bearer ${as.secret}`,
    'x-format': 'tagged',
    // Tests cover the dashboard's own queries, so a check of their types would only cost time.
    ...(!as.isFromUser && { 'x-typecheck': 'false' }),
    ...tagHeadersOf(as),
  })
  if (lastSeenTxn > 0) headers.set('x-last-txn-ts', String(lastSeenTxn))
  const response = await reach('/query/1', {
    method: 'POST',
    headers,
    body: writeJson({ query, arguments: given }),
    signal,
  })
  const text = await response.text()
  const elapsedMs = performance.now() - started
  const body = tryJson(text)
  const time = at(body, 'txn_ts')
  if (typeof time === 'bigint') lastSeenTxn = Math.max(lastSeenTxn, Number(time))
  if (!response.ok) throw errorOf(response.status, body)
  const costs: Record<string, number> = {}
  for (const [stat, name] of Object.entries(costsOfStats)) {
    const value = at(body, 'stats', stat)
    if (value !== undefined) costs[name] = Number(value)
  }
  return { value: at(body, 'data') ?? null, text, costs, elapsedMs, summary: textAt(body, 'summary') ?? '' }
}

/** Runs a query of version 4. Throws {@link ServiceError}, or an AbortError when `signal` is aborted. */
export async function run(query: Query, as: RequestSecret, signal?: AbortSignal): Promise<QueryResult> {
  const result = await runText(writeJson(query), as, signal)
  const body = parseJson(result.text) as ReadonlyMap<string, Json>
  return { ...result, value: body.get('resource') ?? null }
}

/** Calls an endpoint without queries, with plain JSON. A `FormData` body is sent as a form. `more`: further headers. */
export async function callApi<T>(
  method: 'GET' | 'POST',
  path: string,
  as: RequestSecret,
  body?: unknown,
  signal?: AbortSignal,
  more?: Readonly<Record<string, string>>,
): Promise<T> {
  const sent = body === undefined || body instanceof FormData ? body : JSON.stringify(body)
  const { status, text } = await callText(method, path, as, sent, signal, more)
  if (status >= 300) throw errorOf(status, tryJson(text))
  // The caller asserts the type `T`, according to the documentation of the endpoint.
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** Sends plain text or a form, and receives plain text. Returns responses with any status. `more`: further headers. */
export async function callText(
  method: string,
  path: string,
  as: RequestSecret,
  body: string | FormData | undefined,
  signal?: AbortSignal,
  more?: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { authorization: `Bearer ${as.secret}`, ...tagHeadersOf(as), ...more }
  const response = await reach(path, { method, headers, body: body ?? null, signal: signal ?? null })
  return { status: response.status, text: await response.text() }
}

/**
 * Opens a stream with `query` as the request body, and calls `onEvent` for each event, a line of JSON. Returns when the
 * service ends the stream. Throws {@link ServiceError}, an AbortError when `signal` is aborted, or the error of a lost
 * connection.
 */
export async function follow(
  query: Query,
  as: RequestSecret,
  onEvent: (event: Json) => void,
  signal: AbortSignal,
  path = '/stream',
): Promise<void> {
  const init = { method: 'POST', headers: headersOf(as), body: writeJson(query), signal }
  const response = await reach(path, init)
  if (!response.ok || !response.body) throw errorOf(response.status, tryJson(await response.text()))
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let incomplete = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    incomplete += decoder.decode(value, { stream: true })
    const lines = incomplete.split('\n')
    incomplete = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') onEvent(parseJson(line))
  }
}

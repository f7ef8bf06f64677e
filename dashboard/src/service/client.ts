// The client of the public API: one POST per query, wire JSON both ways, with what it has cost. It remembers the newest
// transaction time it has seen, so that a page never shows a state older than one before, on whichever node.

import { at, type Json, parseJson, type Query, textAt, writeJson } from '../wire/json.ts'
import { errorOf, ServiceError } from './faults.ts'

/** The numbers that the service sends with a response, by their header without `x-`. */
type Costs = Readonly<Record<string, number>>

/** What a query returned. */
export interface QueryResult {
  readonly value: Json
  /** The body as it came. */
  readonly text: string
  readonly costs: Costs
  /** Milliseconds from sending to the last byte, as the browser saw it. */
  readonly elapsedMs: number
}

/** A result whose body has not been read into values. */
export type TextResult = Omit<QueryResult, 'value'>

/** Where and as whom a request runs. */
export interface Scope {
  readonly secret: string
  /** A person has written the query: the dashboard only passes it on. */
  readonly isWritten?: boolean
}

const costHeaders = [
  'x-query-time',
  'x-compute-ops',
  'x-byte-read-ops',
  'x-byte-write-ops',
  'x-storage-bytes-read',
  'x-storage-bytes-write',
  'x-query-bytes-in',
  'x-query-bytes-out',
  'x-txn-retries',
  'x-txn-time',
] as const

/**
 * Tells the dashboard's own requests from those that people have written, in the query log. Each language has a header for
 * tags, and an endpoint reads that of its language.
 */
function tagHeadersOf({ isWritten }: Scope): Readonly<Record<string, string>> {
  const tags = isWritten ? 'source=shell' : 'source=dashboard'
  return { 'x-fauna-tags': tags, 'x-query-tags': tags }
}

let lastSeenTxn = 0

function headersOf(scope: Scope): Headers {
  const headers = new Headers({
    authorization: `Bearer ${scope.secret}`,
    'x-faunadb-api-version': '4',
    ...tagHeadersOf(scope),
  })
  if (lastSeenTxn > 0) headers.set('x-last-seen-txn', String(lastSeenTxn))
  return headers
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, cache: 'no-store', credentials: 'omit' })
  } catch (cause) {
    if (init.signal?.aborted) throw new DOMException('The page was left.', 'AbortError')
    throw new ServiceError(0, `The service cannot be reached (${(cause as Error).message}).`)
  }
}

function bodyOf(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

function costsOf(headers: Headers): Costs {
  const costs: Record<string, number> = {}
  for (const name of costHeaders) {
    const value = headers.get(name)
    if (value !== null) costs[name.slice(2)] = Number(value)
  }
  return costs
}

/**
 * Runs a query given as JSON text, or what another endpoint takes as such; the response's body stays text. Throws
 * {@link ServiceError}, or an AbortError.
 */
export async function runText(
  body: string,
  scope: Scope,
  signal?: AbortSignal,
  path = '/',
): Promise<TextResult> {
  const started = performance.now()
  const init: RequestInit = { method: 'POST', headers: headersOf(scope), body }
  const response = await reach(path, signal ? { ...init, signal } : init)
  const text = await response.text()
  const costs = costsOf(response.headers)
  lastSeenTxn = Math.max(lastSeenTxn, costs['txn-time'] ?? 0)
  if (!response.ok) throw errorOf(response.status, bodyOf(text))
  return { text, costs, elapsedMs: performance.now() - started }
}

/** The header that says the same of a query of version 4, by the member of `stats` that says it of one of version 10. */
const costsOfStats: Readonly<Record<string, string>> = {
  query_time_ms: 'query-time',
  compute_ops: 'compute-ops',
  read_ops: 'byte-read-ops',
  write_ops: 'byte-write-ops',
  storage_bytes_read: 'storage-bytes-read',
  storage_bytes_write: 'storage-bytes-write',
  contention_retries: 'txn-retries',
}

/** What a query of version 10 gave. */
interface Version10Result extends QueryResult {
  /** What was logged, and hints. */
  readonly summary: string
}

/**
 * Runs a query of version 10; values come and its arguments (`given`) go in the format `tagged`. Throws
 * {@link ServiceError}, or an AbortError.
 */
export async function runVersion10(
  query: string,
  scope: Scope,
  signal: AbortSignal,
  given: Readonly<Record<string, Query>> = {},
): Promise<Version10Result> {
  const started = performance.now()
  const headers = new Headers({
    authorization: `Bearer ${scope.secret}`,
    'x-format': 'tagged',
    ...tagHeadersOf(scope),
  })
  if (lastSeenTxn > 0) headers.set('x-last-txn-ts', String(lastSeenTxn))
  const response = await reach('/query/1', {
    method: 'POST',
    headers,
    body: writeJson({ query, arguments: given }),
    signal,
  })
  const text = await response.text()
  const body = bodyOf(text)
  const time = at(body, 'txn_ts')
  if (typeof time === 'bigint') lastSeenTxn = Math.max(lastSeenTxn, Number(time))
  if (!response.ok) throw errorOf(response.status, body)
  const costs: Record<string, number> = {}
  for (const [stat, name] of Object.entries(costsOfStats)) {
    const value = at(body, 'stats', stat)
    if (value !== undefined) costs[name] = Number(value)
  }
  const elapsedMs = performance.now() - started
  return { value: at(body, 'data') ?? null, text, costs, elapsedMs, summary: textAt(body, 'summary') ?? '' }
}

/** Runs a query. Throws {@link ServiceError}, or an AbortError when `signal` is aborted. */
export async function run(query: Query, scope: Scope, signal?: AbortSignal): Promise<QueryResult> {
  const answer = await runText(writeJson(query), scope, signal)
  const body = parseJson(answer.text) as ReadonlyMap<string, Json>
  return { ...answer, value: body.get('resource') ?? null }
}

/** One of the endpoints beside queries, with plain JSON both ways; a form is sent as one. */
export async function callApi<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  scope: Scope,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const headers = { authorization: `Bearer ${scope.secret}`, ...tagHeadersOf(scope) }
  const init: RequestInit = { method, headers }
  if (body !== undefined) init.body = body instanceof FormData ? body : JSON.stringify(body)
  const response = await reach(path, signal ? { ...init, signal } : init)
  const text = await response.text()
  if (!response.ok) throw errorOf(response.status, bodyOf(text))
  // The shape of each endpoint's answer is part of the interface; the caller names it.
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/**
 * Follows an event stream until `signal` is aborted or the service ends it; `subject` is what the endpoint takes. Each event
 * is a line of wire JSON.
 */
export async function follow(
  subject: Query,
  scope: Scope,
  onEvent: (event: Json) => void,
  signal: AbortSignal,
  path = '/stream',
): Promise<void> {
  const init = { method: 'POST', headers: headersOf(scope), body: writeJson(subject), signal }
  const response = await reach(path, init)
  if (!response.ok || !response.body) throw errorOf(response.status, bodyOf(await response.text()))
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let held = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    held += decoder.decode(value, { stream: true })
    const lines = held.split('\n')
    held = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') onEvent(parseJson(line))
  }
}

// Reads the query log: sums, single records and exports. The endpoints of the log need the secret as the user entered
// it, and the database as a path from the root.

import { databasePath } from '../router.ts'
import { session } from '../session.ts'
import { callApi } from './client.ts'

export interface LogSums {
  readonly requests: number
  readonly client_errors: number
  readonly server_errors: number
  readonly query_time_ms: number
  readonly query_time_max_ms: number
  readonly byte_read_ops: number
  readonly byte_write_ops: number
  readonly compute_ops: number
  readonly bytes_in: number
  readonly bytes_out: number
}

/** Milliseconds. */
export const meanTime = ({ query_time_ms, requests }: LogSums): number =>
  requests === 0 ? 0 : query_time_ms / requests

/** Read, write and compute operations. */
export const operations = (sums: LogSums): number =>
  sums.byte_read_ops + sums.byte_write_ops + sums.compute_ops

interface LatencySums extends LogSums {
  readonly p50_ms: number | null
  readonly p99_ms: number | null
}

export interface LogSummary {
  readonly totals: LatencySums
  readonly points: readonly (LatencySums & { readonly time: string })[]
  readonly shapes: readonly (LogSums & { readonly shape: string })[]
  /** `error`: status, code and text. */
  readonly errors: readonly (LogSums & { readonly error: string })[]
}

/** Record in the export format. */
export interface LogRecord {
  readonly API_VERSION: string
  readonly TS: string
  readonly RESPONSE_CODE: string
  readonly QUERY_TIME_MS: number
  readonly FQL_SHAPE: string
  readonly DATABASE: readonly string[]
  readonly BYTES_IN: number
  readonly BYTES_OUT: number
  readonly BYTE_READ_OPS: number
  readonly BYTE_WRITE_OPS: number
  readonly COMPUTE_OPS: number
  readonly RATE_LIMITS_HIT: readonly string[]
  readonly TAGS: Readonly<Record<string, string>>
  readonly REQUEST_HEADERS: string
  readonly TRACEPARENT: string
  readonly TXN_RETRIES: number
}

/** Details of a request that the export format does not contain. */
export interface LogDetails {
  /** The shape contains the names of collections, indexes and functions. */
  readonly shape: string
  readonly endpoint: string
  readonly address: string
  readonly lane: 'ordinary' | 'slow'
  /** Microseconds of a write; null for a request without writes. */
  readonly txn_ts: number | null
  readonly collections: readonly string[]
  readonly indexes: readonly string[]
  readonly functions: readonly string[]
  readonly error: { readonly code: string; readonly description: string; readonly position: string } | null
  readonly caller: LogCaller | null
}

export interface LogCaller {
  readonly kind: 'root' | 'key' | 'token' | 'provider'
  readonly is_outer: boolean
  readonly id: string | null
  readonly name: string | null
  readonly roles: readonly string[]
  readonly identity: string | null
}

/** A record of the query log with its details, or without details if they are damaged. */
export interface LoggedRequest {
  readonly record: LogRecord
  readonly details: LogDetails | null
}

interface RecordPage {
  readonly requests: readonly LoggedRequest[]
  readonly next: string | null
}

/** A query shape or an error whose sums differ clearly from the previous span. */
export interface LogChange {
  readonly name: string
  readonly changes: readonly ('new' | 'more often' | 'slower' | 'costlier')[]
  readonly now: LogSums
  readonly before: LogSums | null
}

export interface LogChanges {
  readonly totals: LogSums
  readonly totals_before: LogSums
  readonly queries: readonly LogChange[]
  readonly errors: readonly LogChange[]
}

export interface ExportRequest {
  readonly request_id: string
  readonly state: string
  readonly time_start: string
  readonly time_end: string
  readonly presigned_url?: string
}

/** ISO 8601; `from` is inclusive, `to` is exclusive. */
export interface Span {
  readonly from: string
  readonly to: string
}

/** The database whose log is read; at the root, the logs of all databases. */
function logDatabase(): object {
  const principal = session.value?.principal
  const region = principal?.region_group ?? ''
  const path = [...(principal?.database ?? []), ...databasePath.value]
  return path.length === 0 ? { region_group: region } : { database: `${region}/${path.join('/')}` }
}

/** The secret of the session, not limited to the current database. */
const unlimitedSecret = () => ({ secret: session.value?.secret ?? '' })

const regionParameter = () => `regionGroup=${encodeURIComponent(session.value?.principal.region_group ?? '')}`

function post<T>(path: string, { from, to }: Span, more: object, signal?: AbortSignal): Promise<T> {
  const body = { ...logDatabase(), time_start: from, time_end: to, ...more }
  return callApi<T>('POST', `${path}?type=query`, unlimitedSecret(), body, signal)
}

const dashboardParameter = (includesDashboardRequests: boolean) =>
  includesDashboardRequests ? {} : { dashboard: false }

export function summarize(
  span: Span,
  includesDashboardRequests: boolean,
  signal: AbortSignal,
): Promise<LogSummary> {
  return post('/api/v1/logs/_summary', span, dashboardParameter(includesDashboardRequests), signal)
}

/** Compares a span with the previous span of the same length. */
export function changesIn(
  span: Span,
  includesDashboardRequests: boolean,
  signal: AbortSignal,
): Promise<LogChanges> {
  return post('/api/v1/logs/_changes', span, dashboardParameter(includesDashboardRequests), signal)
}

/** Members are parameters in addresses. Empty and absent members do not filter. */
export interface RecordFilter {
  readonly text?: string
  /** A status, or `2xx`, `4xx`, `5xx`. */
  readonly status?: string
  readonly error?: string
  readonly collection?: string
  readonly index?: string
  readonly function?: string
  readonly who?: string
  readonly tag?: string
  readonly address?: string
  readonly lane?: string
  readonly shape?: string
  readonly slower?: string
  readonly costlier?: string
  readonly retried?: string
}

interface RecordsBody {
  readonly records: readonly LogRecord[]
  readonly details: readonly (LogDetails | null)[]
  readonly next_token: string | null
  readonly searched_since: string
}

const requestsOf = ({ details, records }: RecordsBody) =>
  records.map((record, at): LoggedRequest => ({ record, details: details[at] ?? null }))

/** Records on a page of the search. */
const pageSize = 50

export interface SearchProgress {
  readonly found: number
  /** Share of the span that has been searched, from 0 to 1. */
  readonly share: number
}

/**
 * Returns the records that match a search, the newest first. Each request reads only a part of a large log, so the search
 * continues until the page is full. `onProgress` is called after each incomplete part.
 */
export async function searchRecords(
  span: Span,
  { costlier, retried, slower, status, ...texts }: RecordFilter,
  includesDashboardRequests: boolean,
  next: string | undefined,
  signal: AbortSignal,
  onProgress: (progress: SearchProgress) => void,
): Promise<RecordPage> {
  const filter = {
    ...dashboardParameter(includesDashboardRequests),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(status && { [status.endsWith('xx') ? 'status_class' : 'status']: status }),
    ...(slower && { slower_than_ms: Number(slower) }),
    ...(costlier && { operations_above: Number(costlier) }),
    ...(retried && { retried: retried === 'yes' }),
  }
  const [from, to] = [Date.parse(span.from), Date.parse(span.to)]
  const requests: LoggedRequest[] = []
  for (let token = next; ; ) {
    const pageFields = {
      max_results: pageSize - requests.length,
      ...(token !== undefined && { next_token: token }),
    }
    const page = await post<RecordsBody>('/api/v1/logs/_records', span, { ...filter, ...pageFields }, signal)
    requests.push(...requestsOf(page))
    if (page.next_token === null || requests.length >= pageSize) return { requests, next: page.next_token }
    token = page.next_token
    onProgress({ found: requests.length, share: (to - Date.parse(page.searched_since)) / (to - from) })
  }
}

/** Log records of the requests that wrote versions of a document. */
export interface Writers {
  /** By the time of the version in microseconds. */
  readonly byTime: ReadonlyMap<bigint, LoggedRequest>
  /** Oldest record in the log, in milliseconds since the Unix epoch; undefined for an empty log. */
  readonly keptSince: number | undefined
}

/** Maximum of the milliseconds from a commit to its response. The log lists requests by the time of the response. */
const answeredMs = 3_600_000

/** Milliseconds of one search, a little less than the limit of the service. */
const writersSpanMs = 80 * 86_400_000

/** Accepts at most 500 times of versions. */
export async function readWriters(times: readonly bigint[], signal: AbortSignal): Promise<Writers> {
  const byTime = new Map<bigint, LoggedRequest>()
  let keptSince: number | undefined
  let left = [...times].sort((one, other) => Number(other - one))
  while (left.length > 0) {
    const to = msOf(left[0] as bigint)
    const from = Math.max(msOf(left.at(-1) as bigint), to - writersSpanMs)
    const page = await readSomeWriters(
      left.filter(time => msOf(time) >= from),
      { from: new Date(from).toISOString(), to: new Date(to + answeredMs).toISOString() },
      signal,
    )
    for (const [time, request] of page.found) byTime.set(time, request)
    keptSince = page.keptSince
    // Requests before `keptSince` are no longer in the log.
    left = left.filter(time => msOf(time) < from && keptSince !== undefined && msOf(time) >= keptSince)
  }
  return { byTime, keptSince }
}

const msOf = (time: bigint) => Number(time / 1000n)

async function readSomeWriters(times: readonly bigint[], span: Span, signal: AbortSignal) {
  type Body = RecordsBody & { readonly kept_since: string | null }
  const wanted = { txn_ts: times.map(Number), max_results: times.length }
  const found: [bigint, LoggedRequest][] = []
  for (let token = {}; ; ) {
    const page = await post<Body>('/api/v1/logs/_records', span, { ...wanted, ...token }, signal)
    for (const request of requestsOf(page)) {
      const time = request.details?.txn_ts
      if (typeof time === 'number') found.push([BigInt(time), request])
    }
    if (page.next_token === null || found.length >= times.length)
      return { found, keptSince: page.kept_since === null ? undefined : Date.parse(page.kept_since) }
    token = { next_token: page.next_token }
  }
}

export function requestExport(span: Span, signal: AbortSignal): Promise<ExportRequest> {
  return post('/api/v1/logs', span, {}, signal)
}

/** Newest exports that the secret may see. */
export async function listExports(signal: AbortSignal): Promise<readonly ExportRequest[]> {
  const path = `/api/v1/logs/_list?type=query&${regionParameter()}`
  type Body = { readonly results: readonly ExportRequest[] }
  const { results } = await callApi<Body>('POST', path, unlimitedSecret(), { max_results: 20 }, signal)
  return results
}

/** Reads the state of an export, with a valid download address if the export is complete. */
export function readExport(id: string, signal: AbortSignal): Promise<ExportRequest> {
  const path = `/api/v1/logs/${encodeURIComponent(id)}?type=query&${regionParameter()}`
  return callApi('GET', path, unlimitedSecret(), undefined, signal)
}

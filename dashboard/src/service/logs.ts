// The query log: sums, single records and exports, by the endpoints beside queries. They take the secret as it was
// typed in, and the database as a path from the root.

import { databasePath } from '../router.ts'
import { session } from '../session.ts'
import { callApi } from './client.ts'

/** Sums over some requests. */
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

interface TimedSums extends LogSums {
  readonly p50_ms: number | null
  readonly p99_ms: number | null
}

export interface LogSummary {
  readonly totals: TimedSums
  readonly step_ms: number
  readonly points: readonly (TimedSums & { readonly time: string })[]
  readonly shapes: readonly (LogSums & { readonly shape: string })[]
}

/** A record of the log, in the format in which it is exported. */
export interface LogRecord {
  readonly TS: string
  readonly RESPONSE_CODE: string
  readonly QUERY_TIME_MS: number
  readonly FQL_SHAPE: string
  readonly DATABASE: readonly string[]
  readonly BYTE_READ_OPS: number
  readonly BYTE_WRITE_OPS: number
  readonly COMPUTE_OPS: number
  readonly TAGS: Readonly<Record<string, string>>
}

interface RecordPage {
  readonly records: readonly LogRecord[]
  readonly next_token: string | null
}

export interface ExportRequest {
  readonly request_id: string
  readonly state: string
  readonly time_start: string
  readonly time_end: string
  readonly presigned_url?: string
}

/** A span of time: ISO 8601, first inclusive and last exclusive. */
export interface Span {
  readonly from: string
  readonly to: string
}

/** What the log is of: the database looked at, or everything for who looks at the root. */
function subject(): object {
  const principal = session.value?.principal
  const region = principal?.region_group ?? ''
  const path = [...(principal?.database ?? []), ...databasePath.value]
  return path.length === 0 ? { region_group: region } : { database: `${region}/${path.join('/')}` }
}

function post<T>(path: string, { from, to }: Span, more: object, signal?: AbortSignal): Promise<T> {
  const body = { ...subject(), time_start: from, time_end: to, ...more }
  return callApi<T>('POST', `${path}?type=query`, { secret: session.value?.secret ?? '' }, body, signal)
}

/** Sums over a span. */
export function summarize(span: Span, signal: AbortSignal): Promise<LogSummary> {
  return post('/api/v1/logs/_summary', span, {}, signal)
}

/** What single records are searched by. */
export interface RecordFilter {
  readonly text: string
  /** `2xx`, `4xx`, `5xx`; empty for all. */
  readonly statusClass: string
  readonly slowerThanMs: number
}

/** A page of single records, the newest first. */
export function searchRecords(
  span: Span,
  { text, statusClass, slowerThanMs }: RecordFilter,
  next: string | undefined,
  signal: AbortSignal,
): Promise<RecordPage> {
  const filter = {
    ...(text !== '' && { text }),
    ...(statusClass !== '' && { status_class: statusClass }),
    slower_than_ms: slowerThanMs,
    ...(next !== undefined && { next_token: next }),
  }
  return post('/api/v1/logs/_records', span, filter, signal)
}

/** Asks for an export of a span. */
export function requestExport(span: Span, signal: AbortSignal): Promise<ExportRequest> {
  return post('/api/v1/logs', span, {}, signal)
}

/** The newest exports that the secret may see. */
export async function listExports(signal: AbortSignal): Promise<readonly ExportRequest[]> {
  const region = encodeURIComponent(session.value?.principal.region_group ?? '')
  const path = `/api/v1/logs/_list?type=query&regionGroup=${region}`
  const scope = { secret: session.value?.secret ?? '' }
  const { results } = await callApi<{ results: readonly ExportRequest[] }>(
    'POST',
    path,
    scope,
    { max_results: 20 },
    signal,
  )
  return results
}

/** One export as it is now, with an address that is valid. */
export function readExport(id: string, signal: AbortSignal): Promise<ExportRequest> {
  const region = encodeURIComponent(session.value?.principal.region_group ?? '')
  const path = `/api/v1/logs/${encodeURIComponent(id)}?type=query&regionGroup=${region}`
  return callApi('GET', path, { secret: session.value?.secret ?? '' }, undefined, signal)
}

// Reads and checks the bodies and parameters of log requests. Each error is a 400 that names the field.

import { limits } from '../../base/limits.ts'
import { microsPerDay } from '../../base/micros.ts'
import { type ExportState, exportStates } from '../../query-log/export-request.ts'
import { isRegionGroup } from '../../query-log/region-groups.ts'
import { timestampBounds } from '../../query-log/timestamp.ts'
import { nanosOfTime, parseTime } from '../../values/time.ts'
import { apiTraits, badRequest } from './api.ts'
import type { EndpointCall } from './endpoint.ts'
import { queryParameter } from './url.ts'

/** A log request whose database names have not been looked up yet. */
export interface LogRequest {
  readonly regionGroup: string
  /** Names of a database, outermost first; undefined for the whole region group. */
  readonly database: { readonly path: string; readonly names: readonly string[] } | undefined
  readonly timeStart: string
  readonly timeEnd: string
  /** Milliseconds since the Unix epoch. */
  readonly from: number
  readonly to: number
  readonly idempotencyToken: string | undefined
}

/** The requested part of the list of exports. */
interface ListRequest {
  readonly states: ReadonlySet<ExportState> | undefined
  readonly nextToken: string | undefined
  readonly maxResults: number
}

/** The fields of a body. */
export type Fields = Readonly<Record<string, unknown>>

/** The traits of the endpoints of the query log. */
export const logTraits = { ...apiTraits, bodyBytesMax: limits.logBodyBytesMax } as const

const nanosPerMilli = 1_000_000n
const spanNanosMax = BigInt(limits.logExportDaysMax) * BigInt(microsPerDay) * 1000n
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const pageSizeDefault = 50

/** Throws unless the call requests the only type of log. */
export function checkType(call: EndpointCall): void {
  const type = queryParameter(call.request.url, 'type')
  if (type === 'query') return
  throw badRequest(
    type === undefined ? 'the parameter "type" is missing' : 'the parameter "type" has to be "query"',
  )
}

/** The JSON object in the body of a call. */
export function bodyOf(call: EndpointCall): Fields {
  let body: unknown
  try {
    body = JSON.parse(call.body ?? '')
  } catch {
    throw badRequest('the body has to be JSON')
  }
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw badRequest('the body has to be a JSON object')
  }
  return body as Fields
}

/** Reads a log request. `own` is the region group of this service. */
export function readLogRequest(fields: Fields, own: string): LogRequest {
  const path = text(fields, 'database')
  const database = path === undefined ? undefined : databaseOf(path)
  const named = text(fields, 'region_group') ?? text(fields, 'regionGroup')
  const regionGroup = database?.regionGroup ?? named
  if (regionGroup === undefined) throw badRequest('one of "database" and "region_group" is needed')
  checkRegionGroup(regionGroup, own)
  const start = timeOf(fields, 'time_start')
  const end = timeOf(fields, 'time_end')
  if (start.nanos >= end.nanos) throw badRequest('"time_start" has to be before "time_end"')
  if (end.nanos - start.nanos > spanNanosMax) {
    throw badRequest(`"time_end" may be at most ${limits.logExportDaysMax} days after "time_start"`)
  }
  const idempotencyToken = text(fields, 'idempotency_token')
  if (idempotencyToken !== undefined && !uuidPattern.test(idempotencyToken)) {
    throw badRequest('"idempotency_token" has to be a UUID')
  }
  return {
    regionGroup,
    database: database && { path: path as string, names: database.names },
    timeStart: start.text,
    timeEnd: end.text,
    from: firstMillisecond(start.nanos),
    to: firstMillisecond(end.nanos),
    idempotencyToken: idempotencyToken?.toLowerCase(),
  }
}

/** Throws for an unknown region group. */
export function checkRegionGroup(name: string, own: string): void {
  if (!isRegionGroup(name, own)) throw badRequest('there is no region group of that name')
}

/** Reads a list request. An empty body requests the first page. */
export function readListRequest(call: EndpointCall): ListRequest {
  const fields = call.body === undefined || call.body === '' ? {} : bodyOf(call)
  const nextToken = text(fields, 'next_token')
  const maxResults = wholeNumber(fields, 'max_results', 1, limits.logExportsPageMax) ?? pageSizeDefault
  return { states: statesOf(fields.states), nextToken, maxResults }
}

function statesOf(states: unknown): ReadonlySet<ExportState> | undefined {
  if (states === undefined || states === null) return undefined
  if (!Array.isArray(states) || !states.every(state => exportStates.includes(state))) {
    throw badRequest(`"states" has to be a list of ${exportStates.join(', ')}`)
  }
  return states.length === 0 ? undefined : new Set(states)
}

/** A text field; null counts as absent. */
export function text(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '' || value.length > limits.logFilterCharsMax) {
    throw badRequest(`"${name}" has to be a text`)
  }
  return value
}

/** An integer field; null counts as absent. */
export function wholeNumber(fields: Fields, name: string, min: number, max: number): number | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined) return undefined
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw badRequest(`"${name}" has to be a whole number from ${min} to ${max}`)
  }
  return value as number
}

function databaseOf(path: string): { regionGroup: string; names: readonly string[] } {
  const [regionGroup = '', ...names] = path.split('/')
  if (names.length === 0 || names.includes('') || regionGroup === '') {
    throw badRequest('"database" has to be a region group and names of databases, such as us-std/app/child')
  }
  return { regionGroup, names }
}

function timeOf(fields: Fields, name: string): { text: string; nanos: bigint } {
  const written = text(fields, name)
  if (written === undefined) throw badRequest(`"${name}" is missing`)
  const time = parseTime(written)
  const nanos = time && nanosOfTime(time)
  const isInBounds =
    nanos !== undefined &&
    nanos >= BigInt(timestampBounds.min) * nanosPerMilli &&
    nanos <= BigInt(timestampBounds.max) * nanosPerMilli
  if (!isInBounds) throw badRequest(`"${name}" has to be an ISO 8601 time such as 2024-01-31T00:00:00Z`)
  return { text: written, nanos }
}

/** The first whole millisecond at or after a time in nanoseconds, because records have times in milliseconds. */
function firstMillisecond(nanos: bigint): number {
  const down = nanos / nanosPerMilli
  return Number(down * nanosPerMilli < nanos ? down + 1n : down)
}

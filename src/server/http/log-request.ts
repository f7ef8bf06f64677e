// Reads, checks and authorizes requests to the endpoints of the query log. An invalid field or parameter gets the
// status 400 with its name in the message. The root secret may read all logs, an account key the logs of its region
// groups, and an admin key the logs of its database and of the databases below it. Only the HTTP bearer scheme is
// accepted.

import { microsPerDay } from '../../base/micros.ts'
import { type AccountKey, isRegionGroup } from '../../query-log/account-keys.ts'
import {
  type ExportDatabase,
  type ExportRequest,
  type ExportState,
  exportStates,
} from '../../query-log/export-request.ts'
import { timestampBounds } from '../../query-log/exported-record.ts'
import { nanosOfTime, parseTime } from '../../values/time.ts'
import { rootDatabase } from '../../values/value.ts'
import { ApiError, apiProtocol, badRequest, principalOf } from './api.ts'
import type { EndpointCall, LogServices } from './endpoint.ts'
import { queryParameter } from './url.ts'

const logRequestLimits = {
  /** Maximum number of bytes of a request body at the endpoints of the query log; own limit. */
  logBodyBytesMax: 65_536,
  /** Maximum number of days that an export of the query log spans. */
  logExportDaysMax: 90,
  /** Maximum number of exports on one page of the export list. */
  logExportsPageMax: 1000,
  /** Maximum number of characters of a text field in a request. */
  logFilterCharsMax: 4096,
} as const

/** The database names have not been looked up yet. */
interface LogRequest {
  readonly regionGroup: string
  /** Outermost first; undefined for the whole region group. */
  readonly database: { readonly path: string; readonly names: readonly string[] } | undefined
  readonly timeStart: string
  readonly timeEnd: string
  /** Milliseconds since the Unix epoch. */
  readonly from: number
  readonly to: number
  readonly idempotencyToken: string | undefined
}

/** A part of the list of exports. */
interface ListRequest {
  readonly states: ReadonlySet<ExportState> | undefined
  readonly nextToken: string | undefined
  readonly maxResults: number
}

/** Fields of a request body. */
export type Fields = Readonly<Record<string, unknown>>

export const logTraits = { protocol: apiProtocol, bodyBytesMax: logRequestLimits.logBodyBytesMax } as const

const nanosPerMilli = 1_000_000n
const spanNanosMax = BigInt(logRequestLimits.logExportDaysMax) * BigInt(microsPerDay) * 1000n
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const pageSizeDefault = 50

/** Throws if the parameter `type` is not `query`, the only type of log. */
export function checkType(call: EndpointCall): void {
  const type = queryParameter(call.request.url, 'type')
  if (type === 'query') return
  throw badRequest(
    type === undefined ? 'the parameter "type" is missing' : 'the parameter "type" has to be "query"',
  )
}

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

/** `own`: the region group of this service. */
function readLogRequest(fields: Fields, own: string): LogRequest {
  const path = textField(fields, 'database')
  const database = path === undefined ? undefined : databaseOf(path)
  const named = textField(fields, 'region_group') ?? textField(fields, 'regionGroup')
  const regionGroup = database?.regionGroup ?? named
  if (regionGroup === undefined) throw badRequest('one of "database" and "region_group" is needed')
  checkRegionGroup(regionGroup, own)
  const start = timeOf(fields, 'time_start')
  const end = timeOf(fields, 'time_end')
  if (start.nanos >= end.nanos) throw badRequest('"time_start" has to be before "time_end"')
  if (end.nanos - start.nanos > spanNanosMax) {
    throw badRequest(`"time_end" may be at most ${logRequestLimits.logExportDaysMax} days after "time_start"`)
  }
  const idempotencyToken = textField(fields, 'idempotency_token')
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

/** An empty body requests the first page. */
export function readListRequest(call: EndpointCall): ListRequest {
  const fields = call.body === undefined || call.body === '' ? {} : bodyOf(call)
  const nextToken = textField(fields, 'next_token')
  const maxResults =
    integerField(fields, 'max_results', 1, logRequestLimits.logExportsPageMax) ?? pageSizeDefault
  return { states: statesOf(fields.states), nextToken, maxResults }
}

function statesOf(states: unknown): ReadonlySet<ExportState> | undefined {
  if (states === undefined || states === null) return undefined
  if (!Array.isArray(states) || !states.every(state => exportStates.includes(state))) {
    throw badRequest(`"states" has to be a list of ${exportStates.join(', ')}`)
  }
  return states.length === 0 ? undefined : new Set(states)
}

/** Treats null as absent. */
export function textField(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'string' || value === '' || value.length > logRequestLimits.logFilterCharsMax) {
    throw badRequest(`"${name}" has to be a text`)
  }
  return value
}

/** Treats null as absent. */
export function integerField(fields: Fields, name: string, min: number, max: number): number | undefined {
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
  const written = textField(fields, name)
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

/**
 * Returns the first whole millisecond at or after a time in nanoseconds, because records have times in milliseconds.
 */
function firstMillisecond(nanos: bigint): number {
  const down = nanos / nanosPerMilli
  return Number(down * nanosPerMilli < nanos ? down + 1n : down)
}

/** A client that has access to exports of some databases or region groups. */
export interface LogClient {
  /** Scope of an idempotency token: equal tokens of different subjects are independent. */
  readonly subject: string
  /** The operator, or the name of the client's outermost database. Exports of different requesters take turns. */
  readonly requester: string
  readonly isRoot: boolean
  /** Database of an admin key; undefined for the operator's credentials. */
  readonly database: { readonly id: string; readonly path: readonly string[] } | undefined
  mayUseRegion(regionGroup: string): boolean
  maySee(request: ExportRequest): boolean
}

const bearer = /^bearer[ \t]+(\S+)[ \t]*$/i

/** Throws 401 or 403. */
export async function logClient(call: EndpointCall, services: LogServices): Promise<LogClient> {
  const { queryLog } = services
  const secret = bearer.exec(call.request.headers.authorization ?? '')?.[1]
  if (secret === undefined) {
    throw new ApiError('unauthorized', 'A bearer credential is needed in the authorization header.')
  }
  // Waits for the newest account keys, because another machine may have created the key just before.
  await queryLog.waitUntilCurrent()
  const key = queryLog.accountKeys.find(secret)
  if (key) return operator(key, false)
  const principal = await principalOf(call, services, `Bearer ${secret}`)
  if (!principal.isAdmin) {
    throw new ApiError('forbidden', 'Query logs need the root secret, an account key or an admin key.')
  }
  if (principal.database === rootDatabase) return operator(undefined, principal.isRoot)
  const id = String(principal.database)
  return {
    subject: `database ${id}`,
    requester: `database ${principal.place.names[0]}`,
    isRoot: false,
    database: { id, path: principal.place.names },
    mayUseRegion: () => false,
    maySee: ({ database }) => database?.ids.includes(id) === true,
  }
}

function operator(key: AccountKey | undefined, isRoot: boolean): LogClient {
  const mayUseRegion = (regionGroup: string) => key?.regionGroups?.includes(regionGroup) ?? true
  return {
    subject: 'account',
    requester: 'account',
    isRoot,
    database: undefined,
    mayUseRegion,
    maySee: ({ regionGroup }) => mayUseRegion(regionGroup),
  }
}

/** An authorized request for the log of a database or of a whole region group. */
export interface LogAccess {
  readonly client: LogClient
  readonly fields: Fields
  readonly wanted: LogRequest
  /** The database of the logs. Undefined for a whole region group. */
  readonly database: ExportDatabase | undefined
}

/** Throws 400 for invalid fields, 401 or 403 if the client has no access, and 404 for an unknown database. */
export async function logAccess(call: EndpointCall, services: LogServices): Promise<LogAccess> {
  const client = await logClient(call, services)
  checkType(call)
  const fields = bodyOf(call)
  const wanted = readLogRequest(fields, services.queryLog.regionGroup)
  return { client, fields, wanted, database: allowedDatabase(wanted, client, services) }
}

/**
 * Returns undefined for a whole region group. Throws 403 when the client may not see the log, whether or not the
 * database exists. Throws 404 when the database does not exist.
 */
function allowedDatabase(
  { database, regionGroup }: LogRequest,
  client: LogClient,
  { engine, queryLog }: LogServices,
): ExportDatabase | undefined {
  if (!database) {
    if (!client.mayUseRegion(regionGroup)) throw forbiddenLogs()
    return undefined
  }
  const own = client.database
  const isHere = regionGroup === queryLog.regionGroup
  const isAllowed = own
    ? isHere && own.path.every((name, level) => name === database.names[level])
    : client.mayUseRegion(regionGroup)
  if (!isAllowed) throw forbiddenLogs()
  const ids = isHere ? engine.databasesAlong(database.names) : undefined
  if (!ids) throw new ApiError('not found', `There is no database ${database.path}.`)
  return { ...database, ids: ids.map(String) }
}

export function forbiddenLogs(): ApiError {
  return new ApiError('forbidden', 'The credential gives no access to these logs.')
}

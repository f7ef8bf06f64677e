// Views of the query log without an export, with the permission of an export: `POST /api/v1/logs/_summary` returns the
// totals of a time span, `_changes` compares a time span with the preceding one, and `_records` finds single records
// with details: the caller with its current names, the schema objects that the query used, and the error.

import { GenerationCache } from '../../../base/generation-cache.ts'
import { micros } from '../../../base/micros.ts'
import type { Engine, NamedCaller } from '../../../engine/engine-contract.ts'
import { databaseFilter } from '../../../query-log/export-request.ts'
import type { LogCaller } from '../../../query-log/facts.ts'
import type { LogChanges, NamedChange } from '../../../query-log/log-changes.ts'
import type { LogRecord, RecordConditions, RecordFacts } from '../../../query-log/log-search.ts'
import type { LogSummary } from '../../../query-log/log-summary.ts'
import type { RecordFilter } from '../../../query-log/segment-reader.ts'
import { isOfDashboard } from '../../../query-log/segment-record.ts'
import { rootDatabase } from '../../../values/value.ts'
import { type Answer, jsonAnswer } from '../answer.ts'
import { ApiError, badRequest, isoTime } from '../api.ts'
import type { Endpoint, EndpointCall, LogServices, Services } from '../endpoint.ts'
import { type Fields, integerField, type LogAccess, logAccess, logTraits, textField } from '../log-request.ts'

const logViewsLimits = {
  /** Maximum number of records on one page of the query log; own limit. */
  logRecordsPageMax: 500,
  /** Maximum offset in a `next_token`: the number of records to skip before the first record of a page; own limit. */
  logRecordsSkipMax: 10_000,
} as const

const recordsDefault = 50

export function logViewEndpoints(services: LogServices): readonly Endpoint[] {
  const { queryLog } = services
  const view = (name: string, run: View): Endpoint => ({
    ...logTraits,
    path: `/api/v1/logs/${name}`,
    readsBody: true,
    methods: { POST: call => answer(call, run, services) },
  })
  return [
    view('_summary', async ({ fields, filter, signal }) =>
      describe(await queryLog.summary({ ...filter, withoutDashboard: isWithoutDashboard(fields) }, signal)),
    ),
    view('_changes', async ({ fields, filter, signal }) =>
      describeChanges(
        await queryLog.changes({ ...filter, withoutDashboard: isWithoutDashboard(fields) }, signal),
      ),
    ),
    view('_records', async ({ client, fields, filter, signal }) => {
      const details = new RecordDetails(services.engine, client.database?.id)
      const search = {
        ...filter,
        ...readSearch(fields, filter),
        ...details.callersNamed(textField(fields, 'who')),
      }
      const { records, next } = await queryLog.search(search, signal)
      const oldestTime = await queryLog.oldestTime()
      return {
        records: records.map(({ record }) => record),
        details: records.map(each => details.describe(each)),
        next_token: next ? `${next.to}.${next.skip}` : null,
        searched_since: new Date(next?.to ?? filter.from).toISOString(),
        kept_since: oldestTime === undefined ? null : isoTime(oldestTime),
      }
    }),
  ]
}

/** Computes the response body for an authorized request. */
type View = (
  request: Pick<LogAccess, 'client' | 'fields'> & {
    readonly filter: RecordFilter
    readonly signal: AbortSignal
  },
) => Promise<object>

async function answer(call: EndpointCall, view: View, services: LogServices): Promise<Answer> {
  const { client, database, fields, wanted } = await logAccess(call, services)
  const { from, to, regionGroup } = wanted
  const filter = { from, to, regionGroup, ...databaseFilter(database) }
  const signal = abortSignalOf(call, services)
  try {
    return jsonAnswer(200, await view({ client, fields, filter, signal }))
  } catch (cause) {
    if (signal.aborted) throw new ApiError('service unavailable', 'The service is stopping.')
    throw cause
  }
}

/** Aborts when the client has disconnected or the service stops. The view then stops reading the log. */
function abortSignalOf(call: EndpointCall, { stopping }: Services): AbortSignal {
  const gone = new AbortController()
  call.request.onClose(() => gone.abort())
  return AbortSignal.any([gone.signal, stopping])
}

function readSearch(body: Fields, filter: RecordFilter) {
  const next = textField(body, 'next_token')
  const [, to, skip] = /^(\d{1,15})\.(\d{1,5})$/.exec(next ?? '') ?? []
  if (next !== undefined && to === undefined)
    throw badRequest('"next_token" is not a token of an earlier page')
  return {
    to: to === undefined ? filter.to : Math.min(Number(to), filter.to),
    skip: Math.min(Number(skip ?? 0), logViewsLimits.logRecordsSkipMax),
    text: textField(body, 'text'),
    limit: integerField(body, 'max_results', 0, logViewsLimits.logRecordsPageMax) ?? recordsDefault,
    ...readConditions(body),
  }
}

/** Filters that compare a field of a record with a text. */
const plainFilters = ['tag', 'error', 'collection', 'index', 'function', 'address', 'shape'] as const

function readConditions(body: Fields): RecordConditions {
  const status = oneOf(body, 'status_class', /^[2345]xx$/, '2xx, 3xx, 4xx or 5xx')
  const lane = oneOf(body, 'lane', /^(?:ordinary|slow)$/, 'ordinary or slow')
  return {
    status: status ?? oneOf(body, 'status', /^[1-5]\d\d$/, 'a status such as 404'),
    lane: lane as RecordConditions['lane'],
    slowerThanMs: integerField(body, 'slower_than_ms', 0, Number.MAX_SAFE_INTEGER) ?? 0,
    ...('operations_above' in body && {
      opsAbove: integerField(body, 'operations_above', 0, Number.MAX_SAFE_INTEGER) ?? 0,
    }),
    isRetried: flag(body, 'retried'),
    withoutDashboard: isWithoutDashboard(body),
    commitTimes: commitTimesOf(body),
    ...Object.fromEntries(plainFilters.map(name => [name, textField(body, name)])),
  }
}

function commitTimesOf({ txn_ts: given }: Fields): RecordConditions['commitTimes'] {
  if (given === undefined || given === null) return undefined
  const isList = Array.isArray(given) && given.length <= logViewsLimits.logRecordsPageMax
  if (isList && given.every(each => Number.isSafeInteger(each) && each >= 0))
    return new Set(given.map(micros))
  throw badRequest(
    `"txn_ts" has to be a list of at most ${logViewsLimits.logRecordsPageMax} times in microseconds`,
  )
}

function isWithoutDashboard(body: Fields): boolean {
  return flag(body, 'dashboard') === false
}

function flag(body: Fields, name: string): boolean | undefined {
  const value = body[name] ?? undefined
  if (value !== undefined && typeof value !== 'boolean') throw badRequest(`"${name}" has to be true or false`)
  return value
}

function oneOf(body: Fields, name: string, pattern: RegExp, wanted: string): string | undefined {
  const value = textField(body, name)
  if (value !== undefined && !pattern.test(value)) throw badRequest(`"${name}" has to be ${wanted}`)
  return value
}

type Sums = LogSummary['totals']

function sums({ p50, p99, ...totals }: Sums): object {
  return { ...plain(totals), p50_ms: p50 ?? null, p99_ms: p99 ?? null }
}

function plain(totals: Omit<Sums, 'p50' | 'p99'>): object {
  return {
    requests: totals.requests,
    client_errors: totals.clientErrors,
    server_errors: totals.serverErrors,
    query_time_ms: totals.queryTimeMs,
    query_time_max_ms: totals.queryTimeMaxMs,
    byte_read_ops: totals.readOps,
    byte_write_ops: totals.writeOps,
    compute_ops: totals.computeOps,
    bytes_in: totals.bytesIn,
    bytes_out: totals.bytesOut,
  }
}

function describe({ totals, stepMs, points, shapes, errors }: LogSummary): object {
  return {
    totals: sums(totals),
    step_ms: stepMs,
    points: points.map(point => ({ time: new Date(point.time).toISOString(), ...sums(point) })),
    shapes: shapes.map(({ shape, ...each }) => ({ shape, ...plain(each) })),
    errors: errors.map(({ error, ...each }) => ({ error, ...plain(each) })),
  }
}

function describeChanges({ errors, queries, totals, totalsBefore }: LogChanges): object {
  const entry = ({ before, changes, name, now }: NamedChange) => ({
    name,
    changes,
    now: plain(now),
    before: before ? plain(before) : null,
  })
  return {
    totals: plain(totals),
    totals_before: plain(totalsBefore),
    queries: queries.map(entry),
    errors: errors.map(entry),
  }
}

/** Cached callers for one request. */
const cacheSize = 10_000

/** A caller with the properties that the client of this view may see. */
interface VisibleCaller extends NamedCaller {
  /** The credential belongs to a database above the client's database. */
  readonly isOuter: boolean
}

/**
 * Adds details to records, for the admin of a database or for the operator. A record contains only the ids of its
 * caller; the engine looks up the current names.
 */
class RecordDetails {
  readonly #engine: Engine
  readonly #readerDatabase: string | undefined
  readonly #named = new GenerationCache<string, VisibleCaller>(cacheSize)

  /** `readerDatabase`: the id of the client's database; undefined for the operator. */
  constructor(engine: Engine, readerDatabase: string | undefined) {
    this.#engine = engine
    this.#readerDatabase = readerDatabase
  }

  /**
   * Returns a condition for a search: `who` must equal the caller's id, name, identity, kind or one of its roles,
   * ignoring case.
   */
  callersNamed(who: string | undefined): { isWantedCaller?: (found: RecordFacts) => boolean } {
    if (who === undefined) return {}
    const wanted = who.toLowerCase()
    return {
      isWantedCaller: found => {
        const caller = this.#callerOf(found)
        if (caller === undefined) return false
        const { id, identity, kind, name, roles } = caller
        return [id, name, identity, kind, ...roles].some(each => each?.toLowerCase() === wanted)
      },
    }
  }

  /** Null if the record has no facts (an old version of Terrarium wrote it), or damaged facts. */
  describe(found: LogRecord): object | null {
    const { facts, record } = found
    if (facts === undefined) return null
    const names = (kind: string) => facts.named.filter(each => each.kind === kind).map(({ name }) => name)
    const caller = this.#callerOf(found)
    return {
      shape: facts.shape,
      endpoint: facts.endpoint,
      address: facts.address,
      lane: facts.isSlow ? 'slow' : 'ordinary',
      is_dashboard: isOfDashboard({ tags: record.TAGS }),
      txn_ts: facts.commitTime ?? null,
      collections: names('collection'),
      indexes: names('index'),
      functions: names('function'),
      error: facts.fault
        ? { code: facts.fault.code, description: facts.fault.text, position: facts.fault.position }
        : null,
      caller: caller
        ? {
            kind: caller.kind,
            is_outer: caller.isOuter,
            id: caller.id ?? null,
            name: caller.name ?? null,
            roles: caller.roles,
            identity: caller.identity ?? null,
          }
        : null,
    }
  }

  #callerOf({ facts, trail }: RecordFacts): VisibleCaller | undefined {
    const caller = facts?.caller
    if (caller === undefined) return undefined
    const key = `${trail} ${caller.credential} ${caller.roles} ${caller.identity}`
    const known = this.#named.get(key)
    if (known !== undefined) return known
    const visible = this.#nameOf(caller, trail)
    this.#named.set(key, visible)
    return visible
  }

  #nameOf(caller: LogCaller, trail: string): VisibleCaller {
    const trailIds = trail.split('/').filter(id => id !== '')
    const database = BigInt(trailIds.at(-1) ?? rootDatabase)
    const named = this.#engine.nameOf(caller, database)
    const isOuter = this.#isOuter(caller.credential, trailIds)
    // Hides the id and the name of a key of an outer database.
    return { ...named, isOuter, ...(isOuter && { id: undefined, name: undefined }) }
  }

  /** True if the credential belongs to a database above the client's database. */
  #isOuter(credential: string, trailIds: readonly string[]): boolean {
    if (this.#readerDatabase === undefined) return false
    const [, holder = String(rootDatabase)] = credential.split('/')
    const within = trailIds.slice(trailIds.indexOf(this.#readerDatabase))
    return credential !== 'provider' && !within.includes(holder)
  }
}

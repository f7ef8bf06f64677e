// Looking into the query log without an export: `POST /api/v1/logs/_summary` adds up a span of time, and
// `POST /api/v1/logs/_records` finds single records. Whoever may request an export may look.

import { limits } from '../../limits.ts'
import { loggedDatabase } from '../../query-log/export-request.ts'
import type { LogSummary } from '../../query-log/log-summary.ts'
import type { QueryLog } from '../../query-log/query-log.ts'
import type { RecordFilter } from '../../query-log/segment-reader.ts'
import type { Answer } from '../answer.ts'
import type { EndpointCall } from '../call.ts'
import type { Endpoint, Services } from '../endpoint.ts'
import { logClient } from '../log-access.ts'
import { allowedDatabase } from '../log-database.ts'
import { bodyOf, checkType, readLogRequest, text } from '../log-request.ts'
import { edgeErrorBody, jsonAnswer, MessageError, refusing } from '../message-answer.ts'

const recordsDefault = 50

/** The endpoints of the views. */
export function logViewEndpoints(services: Services, queryLog: QueryLog): readonly Endpoint[] {
  const shared = {
    authenticated: false,
    bodyBytesMax: limits.logBodyBytesMax,
    errorBody: edgeErrorBody,
    readsBody: true,
  } as const
  const filtered = (view: (filter: RecordFilter, body: Fields, signal: AbortSignal) => Promise<object>) => ({
    POST: (call: EndpointCall): Promise<Answer> =>
      refusing(async () => {
        const client = await logClient(call, services, queryLog)
        checkType(call)
        const body = bodyOf(call)
        const order = readLogRequest(body, queryLog.regionGroup)
        const database = allowedDatabase(order, client, services, queryLog)
        const { from, to, regionGroup } = order
        const filter = { from, to, regionGroup, ...(database && { database: loggedDatabase(database) }) }
        const signal = untilGone(call, services)
        try {
          return jsonAnswer(200, await view(filter, body, signal))
        } catch (cause) {
          if (signal.aborted) throw new MessageError('service unavailable', 'The service is stopping.')
          throw cause
        }
      }),
  })
  return [
    {
      ...shared,
      path: '/api/v1/logs/_summary',
      methods: filtered(async (filter, _, signal) => describe(await queryLog.summary(filter, signal))),
    },
    {
      ...shared,
      path: '/api/v1/logs/_records',
      methods: filtered(async (filter, body, signal) => {
        const { records, next } = await queryLog.search({ ...filter, ...readSearch(body, filter) }, signal)
        return { records, next_token: next ? `${next.to}.${next.skip}` : null }
      }),
    },
  ]
}

type Fields = Readonly<Record<string, unknown>>

/** Reading the log for a client that has gone, or for a service that stops, would be for nothing. */
function untilGone(call: EndpointCall, { stopping }: Services): AbortSignal {
  const gone = new AbortController()
  call.request.onClose(() => gone.abort())
  return AbortSignal.any([gone.signal, stopping])
}

function readSearch(body: Fields, filter: RecordFilter) {
  const next = text(body, 'next_token')
  const [, to, skip] = /^(\d{1,15})\.(\d{1,5})$/.exec(next ?? '') ?? []
  if (next !== undefined && to === undefined) throw bad('"next_token" is none that was given out')
  const statusClass = text(body, 'status_class')
  if (statusClass !== undefined && !/^[2345]xx$/.test(statusClass)) {
    throw bad('"status_class" has to be 2xx, 3xx, 4xx or 5xx')
  }
  return {
    to: to === undefined ? filter.to : Math.min(Number(to), filter.to),
    skip: Math.min(Number(skip ?? 0), limits.logRecordsSkipMax),
    statusClass: statusClass?.[0],
    text: text(body, 'text'),
    slowerThanMs: wholeNumber(body, 'slower_than_ms', 0, Number.MAX_SAFE_INTEGER),
    limit: wholeNumber(body, 'max_results', recordsDefault, limits.logRecordsPageMax),
  }
}

function wholeNumber(body: Fields, name: string, absent: number, max: number): number {
  const value = body[name] ?? absent
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > max) {
    throw bad(`"${name}" has to be a whole number from 0 to ${max}`)
  }
  return value as number
}

function bad(message: string): MessageError {
  return new MessageError('bad request', `Bad request: ${message}.`)
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

function describe({ totals, stepMs, points, shapes }: LogSummary): object {
  return {
    totals: sums(totals),
    step_ms: stepMs,
    points: points.map(point => ({ time: new Date(point.time).toISOString(), ...sums(point) })),
    shapes: shapes.map(({ shape, ...each }) => ({ shape, ...plain(each) })),
  }
}

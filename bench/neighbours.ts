// The case `neighbours`: the effect of a tenant's worst queries on another tenant's reads. Measures single `Get`s at a
// fixed rate, while the queries run in another database, one after the other. The time of a request counts from the
// moment when it was due, so that requests which wait for an earlier one are counted, too.

import { request as httpRequest } from 'node:http'
import { importSchema } from '../tests/support/graphql.ts'
import { keyOfNewDatabase, query } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { median } from './measure.ts'
import type { Times } from './neighbour-reader.ts'
import { type Reader, readerOf } from './reader.ts'
import { worstGraphql, worstSdl } from './worst-graphql.ts'
import { largest, preparation, worstQueries } from './worst-queries.ts'
import { worstQueries10 } from './worst-queries-10.ts'
import { worstChecks } from './worst-typing.ts'

export interface NeighbourResult {
  readonly name: string
  /** Durations of the reads beside the query. */
  readonly times: Times
  /** Status of the query itself, and its median duration in milliseconds. */
  readonly status: number
  readonly tookMs: number
}

export interface NeighbourOptions {
  readonly data: string
  /** Interval between two reads. */
  readonly everyMs: number
  /** Time limit of each of the worst queries. */
  readonly timeoutMs: number
  /** Words in the names of queries. The default is all queries. */
  readonly kinds?: readonly string[] | undefined
  readonly onResult: (result: NeighbourResult) => void
}

/** Duration of a measurement beside each query and without a query, so that all have the same number of reads. */
const measuredMs = 5000

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Returns the durations of reads without other load. */
export async function measureNeighbours(options: NeighbourOptions): Promise<Times> {
  const server = await startProcess({ data: options.data })
  try {
    const loud = await keyOfNewDatabase(server, 'loud', 'admin')
    const reader = await readerOf(server, options.everyMs)
    for (const step of preparation(largest)) await query(server, loud, step)
    await importSchema(server, loud, worstSdl)
    await warmUp(reader, server, loud)
    reader.begin()
    await wait(measuredMs)
    const alone = await reader.stop()
    const { kinds } = options
    const chosen = allWorst().filter(({ name }) => kinds?.some(word => name.includes(word)) ?? true)
    for (const worst of chosen) options.onResult(await beside(worst, reader, server, loud, options))
    await reader.close()
    return alone
  } finally {
    await server.stop()
  }
}

/** Runs a query and reads before the measurement, so that code is compiled and processes are started. */
async function warmUp(reader: Reader, server: ServerProcess, loud: string): Promise<void> {
  reader.begin()
  const [first] = allWorst()
  if (first) await run(server, loud, first, first.body(0), 1000)
  await wait(measuredMs)
  await reader.stop()
}

interface WorstRequest {
  readonly name: string
  readonly path: '/' | (typeof worstChecks)[number]['path'] | (typeof worstGraphql)[number]['path']
  /** True if the types of the query are checked. */
  readonly isChecked?: boolean
  /** The body of the `n`-th request. Requests of the same kind have the same body if the function has no parameter. */
  readonly body: (n: number) => Buffer
}

/** Returns the worst requests of all languages. */
function allWorst(): readonly WorstRequest[] {
  const version4 = worstQueries.map(
    ({ name, query }): WorstRequest => ({
      name,
      path: '/',
      body: () => Buffer.from(JSON.stringify(query(largest))),
    }),
  )
  const version10 = worstQueries10.map(
    ({ name, query }): WorstRequest => ({
      name,
      path: '/query/1',
      body: () => Buffer.from(JSON.stringify({ query: query(largest) })),
    }),
  )
  const graphql = worstGraphql.map(
    ({ body, name, path }): WorstRequest => ({ name, path, body: n => Buffer.from(body(n)) }),
  )
  const checks = worstChecks.map(
    ({ body, name, path }): WorstRequest => ({
      name,
      path,
      isChecked: true,
      body: n => Buffer.from(body(n)),
    }),
  )
  return [...version4, ...version10, ...graphql, ...checks]
}

/** Repeats a query, like a page that polls, while the reader reads. */
async function beside(
  worst: WorstRequest,
  reader: Reader,
  server: ServerProcess,
  loud: string,
  { timeoutMs }: NeighbourOptions,
): Promise<NeighbourResult> {
  const isFixed = worst.body.length === 0
  const fixed = worst.body(0)
  const took: number[] = []
  let status = 0
  reader.begin()
  const endMs = performance.now() + measuredMs
  while (performance.now() < endMs) {
    const body = isFixed ? fixed : worst.body(took.length)
    const sentMs = performance.now()
    status = await run(server, loud, worst, body, timeoutMs)
    took.push(performance.now() - sentMs)
  }
  const times = await reader.stop()
  return { name: worst.name, times, status, tookMs: median(took) }
}

/** Reads the response to its end; resolves with the status. */
function run(
  server: ServerProcess,
  secret: string,
  { isChecked, path }: Pick<WorstRequest, 'isChecked' | 'path'>,
  body: Buffer,
  timeoutMs: number,
): Promise<number> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'x-faunadb-api-version': '4',
    [path === '/query/1' || isChecked ? 'x-query-timeout-ms' : 'x-query-timeout']: String(timeoutMs),
    ...(isChecked && { 'x-typecheck': 'true' }),
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(path, server.url), { method: 'POST', headers }, response => {
      response.resume()
      response.once('end', () => resolve(response.statusCode as number))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

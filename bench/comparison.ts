// Compares Terrarium with the bare servers of Node and with the Fastify + PostgreSQL service, case by case. With
// several processes, the whole comparison is repeated with new processes of every subject, so that the subjects take
// turns; the figures are then the medians.

import { keyOfNewDatabase, send } from '../tests/support/http.ts'
import { postgresPrograms } from '../tests/support/postgres.ts'
import { BenchServer } from './bench-server.ts'
import { type BenchCase, type CaseRequest, cases } from './cases.ts'
import { type Baseline, startBaseline } from './child.ts'
import { createSchema, loadDocuments } from './documents.ts'
import { type LoadPlan, type LoadResult, measure, medianOf, memoryMebibytes, post } from './measure.ts'
import { options } from './options.ts'
import { type Postgres, startPostgres } from './postgres.ts'
import { heading, Report } from './report.ts'

/** The processes of a round. */
interface Subjects {
  readonly server: BenchServer
  readonly secret: string
  readonly bare: Baseline
  readonly postgres: Baseline | undefined
}

/** A subject's results, one for each process so far, and the last process's memory. */
interface Figures {
  readonly results: LoadResult[]
  /** The subjects with which this subject is compared. */
  readonly beside: readonly string[]
  remark?: string
}

/** The figures of a case by the name of the subject, in the order of the report. */
type CaseFigures = Map<string, Figures>

type LoadOptions = Partial<Pick<LoadPlan, 'connections' | 'pids' | 'protocol' | 'ratePerSecond'>>

/** Measures the requests of a case against a port. */
export function load(port: number, requests: readonly string[], more: LoadOptions = {}): Promise<LoadResult> {
  return measure({
    port,
    requests,
    connections: Number(options.connections),
    ...more,
    seconds: Number(options.seconds),
    warmupSeconds: Number(options.warmup),
  })
}

export const headersFor = (secret: string) => ({
  authorization: `Bearer ${secret}`,
  'x-faunadb-api-version': '4',
})

/** Runs the cases with these names and prints the results. */
export async function compareCases(wanted: readonly string[]): Promise<void> {
  const rounds = Number(options.processes)
  const server = await BenchServer.start(options.folder)
  let postgres: Postgres | undefined
  try {
    const secret = await keyOfNewDatabase(server.process, 'bench', 'server')
    await createSchema(server.process.url, secret)
    const documents = Number(options.documents)
    const ids = await loadDocuments(server.process.url, secret, 0, documents)
    console.log(`${ids.length} documents loaded`)
    postgres = await startedPostgres(documents)
    const chosen = cases.filter(({ name }) => wanted.includes(name))
    const figures = new Map(chosen.map(({ name }): [string, CaseFigures] => [name, new Map()]))
    const report = new Report(options.compare)
    console.log(`\n${heading}`)
    for (let round = 1; round <= rounds; round++) {
      if (round > 1) await server.restart()
      await withBaselines(postgres, async baselines => {
        for (const each of chosen) {
          const ofCase = figures.get(each.name) as CaseFigures
          await measureCase(each, each.requests({ ids }), { server, secret, ...baselines }, ofCase)
          if (round === rounds) print(each, ofCase, report)
        }
      })
      if (round < rounds) console.log(`process ${round} of ${rounds} measured`)
    }
    if (options.json !== undefined) report.write(options.json)
  } finally {
    await postgres?.stop()
    await server.stop()
  }
}

async function startedPostgres(documents: number): Promise<Postgres | undefined> {
  if (options['no-postgres']) return undefined
  const programs = postgresPrograms()
  if (programs) return startPostgres(programs, options.folder, documents)
  console.log('PostgreSQL is NOT INSTALLED: no comparison with Fastify + pg in this run')
  return undefined
}

/** Runs `work` with new processes of the baselines. */
async function withBaselines(
  postgres: Postgres | undefined,
  work: (baselines: Pick<Subjects, 'bare' | 'postgres'>) => Promise<void>,
): Promise<void> {
  const bare = await startBaseline('baseline-http.ts')
  let service: Baseline | undefined
  try {
    if (postgres) {
      const { pid, socket } = postgres
      const fastify = await startBaseline('baseline-postgres.ts', { BENCH_PG_SOCKET: socket })
      service = { ...fastify, pids: [...fastify.pids, pid] }
    }
    await work({ bare, postgres: service })
  } finally {
    await service?.stop()
    await bare.stop()
  }
}

/** Measures a case with the processes of a round, and adds the results to `figures`. */
async function measureCase(
  benchCase: BenchCase,
  requests: readonly CaseRequest[],
  subjects: Subjects,
  figures: CaseFigures,
): Promise<void> {
  const { server, secret, bare } = subjects
  const { name } = benchCase
  const isHttp2 = benchCase.protocol === 'h2'
  const protocol = isHttp2 ? ({ protocol: 'h2' } as const) : {}
  const headers = headersFor(secret)
  const add = (subject: string, result: LoadResult, beside: readonly string[] = [], remark?: string) => {
    const known = figures.get(subject) ?? { results: [], beside }
    known.results.push(result)
    if (remark !== undefined) known.remark = remark
    figures.set(subject, known)
  }
  // The baseline responds with as many bytes as Terrarium.
  const probe = await send(server.process, { secret, query: requests[0]?.query })
  if (probe.status >= 300) throw new Error(`${name}: status ${probe.status}: ${probe.text}`)
  const bytes = Buffer.byteLength(probe.text)
  const floor = isHttp2 ? 'node:http2' : 'node:http'
  const bareLoad = (more: LoadOptions) =>
    load(
      isHttp2 ? (bare.http2Port as number) : bare.port,
      requests.map(({ query }) => post(`/${bytes}`, query, headers)),
      { pids: bare.pids, ...protocol, ...more },
    )
  const ourLoad = (more: LoadOptions) =>
    load(
      server.port,
      requests.map(({ query }) => post('/', query, headers)),
      { pids: [server.process.pid], ...protocol, ...more },
    )
  add(floor, await bareLoad({}))
  const ours = await ourLoad({})
  const { mapped, own } = memoryMebibytes(server.process.pid)
  const theirs = await measurePostgres(requests, subjects)
  for (const [subject, result] of theirs) add(subject, result)
  const memory = `memory ${own.toFixed(0)} MiB, and ${mapped.toFixed(0)} MiB of files mapped`
  add('Terrarium', ours, [floor, ...theirs.keys()], memory)
  const ratePerSecond = Number(options.rate ?? Math.round(ours.requestsPerSecond / 2))
  add(`${floor}, open loop`, await bareLoad({ ratePerSecond }))
  add('Terrarium, open loop', await ourLoad({ ratePerSecond }))
}

/** Measures the Fastify + PostgreSQL service, with the minimum for the request and with the same work. */
async function measurePostgres(
  requests: readonly CaseRequest[],
  { postgres }: Subjects,
): Promise<ReadonlyMap<string, LoadResult>> {
  const minimal = requests.flatMap(request => request.postgres ?? [])
  const differs = requests.some(({ postgresSameWork }) => postgresSameWork !== undefined)
  const kinds = [
    ['Fastify + pg', minimal],
    // Reads of a mixture are the same for both kinds.
    [
      'Fastify + pg, same work',
      differs ? requests.flatMap(each => each.postgresSameWork ?? each.postgres ?? []) : [],
    ],
  ] as const
  const results = new Map<string, LoadResult>()
  for (const [subject, theirs] of kinds) {
    if (!postgres || theirs.length === 0) continue
    const posts = theirs.map(({ path, body }) => post(path, body))
    results.set(subject, await load(postgres.port, posts, { pids: postgres.pids }))
  }
  return results
}

/** Prints the medians of a case. */
function print({ about, name }: BenchCase, figures: CaseFigures, report: Report): void {
  console.log(`\n${name}: ${about}`)
  const medians = new Map(Array.from(figures, ([subject, { results }]) => [subject, medianOf(results)]))
  for (const [subject, { beside, remark }] of figures) {
    const others = beside.map(other => [other, medians.get(other)])
    report.add(name, subject, medians.get(subject) as LoadResult, Object.fromEntries(others), remark)
  }
}

// `npm run bench`: compares Terrarium with a bare `node:http` server and, if PostgreSQL is installed, with a Fastify +
// `pg` service. All run on this machine in the same run, so that the ratios are meaningful. `--help` lists the options.

import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { keyOfNewDatabase } from '../tests/support/http.ts'
import { noPostgres } from '../tests/support/postgres.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { cases } from './cases.ts'
import { measureCold } from './cold.ts'
import { compareCases, headersFor, load } from './comparison.ts'
import { measureDashboard } from './dashboard.ts'
import { measureDatabases } from './databases.ts'
import { createSchema, loadDocuments } from './documents.ts'
import { measureFootprint } from './footprint.ts'
import { runGraphql } from './graphql.ts'
import { type HourSegment, measureHour } from './hour.ts'
import { runLanguages } from './languages.ts'
import { measureLog } from './log.ts'
import { type LoadResult, post } from './measure.ts'
import { measureAttacks } from './neighbour-attacks.ts'
import type { Times } from './neighbour-reader.ts'
import { measureNeighbours } from './neighbours.ts'
import { measureNodes } from './nodes.ts'
import { help, names, options, standalone } from './options.ts'
import { runRecording } from './query-log.ts'
import { line } from './report.ts'
import { measureSize } from './size.ts'
import { measureSmallPieces, type PiecesResult, piecesBounds } from './small-pieces.ts'
import { measureStart } from './start.ts'
import { measureStreams, streamLanguages } from './streams.ts'
import { runTyping } from './typing.ts'
import { measureWide } from './wide.ts'

/** Cases that run with several workers: cheap reads, expensive reads, pure evaluation, writes. */
const workerCases = ['get', 'page', 'compute', 'create']

const ratio = (ours: LoadResult, theirs: LoadResult) =>
  (ours.requestsPerSecond / theirs.requestsPerSecond).toFixed(2)

/** Reads and writes with one process and with one per core, each on a data directory of its own. */
async function compareWorkers(): Promise<void> {
  const count = availableParallelism()
  console.log(
    `\nworkers: one process beside ${count}; the load process uses a part of the same cores,\nso the last column is the throughput per core of the service`,
  )
  const [one, several] = [await measureWorkers(1), await measureWorkers(count)]
  for (const [at, { name, result }] of one.entries()) {
    const other = (several[at] as (typeof several)[number]).result
    const cores = (of: LoadResult) =>
      `load ${of.cores.toFixed(2)} cores, service ${of.serverCores.toFixed(2)}`
    const perCore = (of: LoadResult) => of.requestsPerSecond / of.serverCores
    const efficiency = (perCore(other) / perCore(result)).toFixed(2)
    console.log(`${line(`${name}, 1 worker`, result)}   ${cores(result)}`)
    console.log(
      `${line(`${name}, ${count} workers`, other)}   ${cores(other)}   ${ratio(other, result)} of one worker, ${efficiency} per core`,
    )
  }
}

async function measureWorkers(count: number) {
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  const server = await startProcess({ data, flags: ['--workers', String(count)] })
  try {
    const secret = await keyOfNewDatabase(server, 'bench', 'server')
    await createSchema(server.url, secret)
    const loaded = { ids: await loadDocuments(server.url, secret, 0, Number(options.documents)) }
    const results: { readonly name: string; readonly result: LoadResult }[] = []
    for (const { name, requests } of cases.filter(({ name }) => workerCases.includes(name))) {
      const posts = requests(loaded).map(({ query }) => post('/', query, headersFor(secret)))
      results.push({
        name,
        result: await load(Number(new URL(server.url).port), posts, { pids: [server.pid] }),
      })
    }
    return results
  } finally {
    await server.stop()
    await rm(data, { recursive: true, force: true })
  }
}

/** Silent streams must be cheap, and a write must reach all of them soon. */
async function runStreams(): Promise<void> {
  for (const language of streamLanguages) await runStreamsOf(language)
}

async function runStreamsOf(language: (typeof streamLanguages)[number]): Promise<void> {
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  try {
    const result = await measureStreams(data, Number(options.streams), language)
    const { kibibytesPerFurtherStream, kibibytesPerStream, p50Ms, p99Ms, writeAloneMs, writeMs } = result
    console.log(`\nstreams: ${result.streams} event streams of one document, version ${language}`)
    const further = kibibytesPerFurtherStream.toFixed(1)
    console.log(
      `  memory per silent stream ${kibibytesPerStream.toFixed(1)} KiB, each of the second half ${further} KiB`,
    )
    console.log(`  from a write to its events: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`)
    console.log(`  the write itself ${writeMs.toFixed(1)} ms, without streams ${writeAloneMs.toFixed(1)} ms`)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

const times = ({ p50, p99, max }: Times) => [p50, p99, max].map(ms => ms.toFixed(1).padStart(8)).join('')

/** The attacks of one tenant must not delay the reads of another, nor make them fail. */
async function runAttacks(): Promise<void> {
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  const line = ({ errors, ...measured }: Times) =>
    `${times({ errors, ...measured })}${String(errors).padStart(8)}`
  console.log('\nneighbours: reads of one database during attacks of another, and after them (milliseconds)')
  console.log(`${''.padEnd(78)}     p50     p99     max  errors`)
  try {
    const alone = await measureAttacks(data, options.kinds?.split(','), ({ after, counts, during, name }) => {
      console.log(
        `${name.padEnd(78)}${line(during)}   ${counts.rejected} of ${counts.sent} requests rejected`,
      )
      console.log(`${'  the ten seconds after it'.padEnd(78)}${line(after)}`)
    })
    console.log(`${'nothing beside'.padEnd(78)}${line(alone)}`)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** The worst queries of one tenant must not delay the reads of another. */
async function runNeighbours(): Promise<void> {
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  console.log(
    '\nneighbours: reads of one database, 200 a second, beside the worst queries of another (milliseconds)',
  )
  console.log(`${''.padEnd(42)}     p50     p99     max   the query itself`)
  try {
    const all: Times[] = []
    const alone = await measureNeighbours({
      data,
      everyMs: 5,
      timeoutMs: 10_000,
      kinds: options.kinds?.split(','),
      onResult: ({ name, status, times: beside, tookMs }) => {
        all.push(beside)
        console.log(`${name.padEnd(42)}${times(beside)}   ${status} in ${Math.round(tookMs)} ms`)
      },
    })
    console.log(`${'nothing beside'.padEnd(42)}${times(alone)}`)
    const mean = all.reduce((sum, { p99 }) => sum + p99, 0) / all.length
    const above = all.filter(({ p99 }) => p99 > alone.p99 + 20).length
    const longest = Math.max(...all.map(({ max }) => max))
    console.log(
      `p99 ${mean.toFixed(1)} on the average, above quiet + 20 beside ${above} of ${all.length}; longest wait ${longest.toFixed(1)}`,
    )
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** A restarted service should respond soon, and its first slow query should not take longer than the next. */
async function runStart(): Promise<void> {
  console.log('\nstart: CPU milliseconds, best of three starts; the very first one compiles')
  const starts = [await measureStart(), await measureStart(), await measureStart()]
  const least = (of: (start: (typeof starts)[number]) => number) => Math.min(...starts.map(of))
  console.log(
    `  from the start to the first response, empty directory ${least(({ startMs }) => startMs).toFixed(0)} ms`,
  )
  const [first, later] = [least(({ firstSlowMs }) => firstSlowMs), least(({ laterSlowMs }) => laterSlowMs)]
  console.log(
    `  the first slow query ${first.toFixed(0)} ms, later ${later.toFixed(0)} ms: ${(first / later).toFixed(2)} times`,
  )
}

/** The memory and disk space of a service, and the cost of a restart. */
async function runFootprint(): Promise<void> {
  const documents = Number(options.scale)
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  try {
    const result = await measureFootprint(data, documents)
    console.log(`\nfootprint: ${documents} documents, created one by one`)
    console.log(`  memory, empty: ${result.emptyMemory}`)
    console.log(`  memory, empty, two workers: ${result.emptyWorkersMemory}`)
    console.log(`  memory, with the documents: ${result.filledMemory}`)
    console.log(`  on disk ${result.bytesPerDocument.toFixed(0)} bytes for each document`)
    console.log(
      `  after kill -9 to the first response, median of five: ${result.restartProcessorMs.toFixed(0)} ms of CPU, ${result.restartMs.toFixed(0)} ms`,
    )
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** The memory and the latency of a service after a long time. */
async function runHour(): Promise<void> {
  const [documents, minutes] = [Number(options.scale), Number(options.minutes)]
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  console.log(
    `\nhour: ${minutes} minutes of steady load on ${documents} documents that do not expire; p50 and p99 in milliseconds`,
  )
  const times = ({ p50Micros, p99Micros }: LoadResult) =>
    `${(p50Micros / 1000).toFixed(1)} ${(p99Micros / 1000).toFixed(1)}`
  const onSegment = ({ diskMebibytes, mappedMebibytes, memory, minutes, results }: HourSegment) => {
    const { creates, reads, updates } = results
    console.log(
      `  to minute ${minutes.toFixed(0)}: creates ${times(creates)}, updates ${times(updates)}, reads ${times(reads)}`,
    )
    const mapped = `${mappedMebibytes.toFixed(0)} MiB of files mapped`
    console.log(`    ${memory}; ${mapped}, ${diskMebibytes.toFixed(0)} MiB on disk`)
  }
  try {
    await measureHour({ data, documents, minutes, onSegment })
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** Clients that send bodies byte by byte must not delay others, and must not fill the memory. */
async function runSmallPieces(): Promise<void> {
  const data = await mkdtemp(join(options.folder, 'terrarium-bench-pieces-'))
  console.log(
    '\npieces: reads of one database, 100 a second, beside bodies in chunks of a byte (milliseconds)',
  )
  console.log(`${''.padEnd(42)}     p50     p99     max   memory grows by`)
  try {
    const all: PiecesResult[] = []
    const alone = await measureSmallPieces(data, 10, result => {
      all.push(result)
      console.log(`${result.name.padEnd(42)}${times(result.times)}   ${result.grownBy.toFixed(0)} MiB`)
    })
    console.log(`${'nothing beside'.padEnd(42)}${times(alone)}`)
    const { mebibytes, p99Ms } = piecesBounds
    const within = all.filter(beside => beside.times.p99 <= alone.p99 + p99Ms && beside.grownBy < mebibytes)
    console.log(
      `p99 within quiet + ${p99Ms} ms and memory within ${mebibytes} MiB: ${within.length} of ${all.length}`,
    )
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

/** The cost of serving one database from several machines. */
async function runNodes(): Promise<void> {
  if (noPostgres !== undefined) {
    console.log(`nodes: NOT MEASURED, ${noPostgres}`)
    return
  }
  await measureNodes({
    folder: options.folder,
    connections: Number(options.connections),
    seconds: Number(options.seconds),
    warmupSeconds: Number(options.warmup),
    documents: Number(options.documents),
    copied: Number(options.copied),
  })
}

async function main(): Promise<void> {
  const wanted = options.cases.split(',')
  const unknown = wanted.find(name => !names.includes(name))
  if (unknown !== undefined) throw new Error(`no case ${unknown}; there are ${names.join(', ')}`)
  console.log(
    `Node ${process.version}, ${availableParallelism()} cores, ${options.connections} connections, ${options.seconds} s per case, data below ${options.folder}`,
  )
  if (wanted.includes('workers')) await compareWorkers()
  if (wanted.includes('streams')) await runStreams()
  if (wanted.includes('recording')) {
    await runRecording({
      connections: Number(options.connections),
      documents: Number(options.documents),
    })
  }
  if (wanted.includes('neighbours')) {
    await runNeighbours()
    await runAttacks()
  }
  if (wanted.includes('typing')) await runTyping()
  const comparison = {
    folder: options.folder,
    documents: Number(options.documents),
    plan: {
      connections: Number(options.connections),
      seconds: Number(options.seconds),
      warmupSeconds: Number(options.warmup),
      processes: Number(options.processes),
    },
  }
  if (wanted.includes('languages')) await runLanguages(comparison)
  if (wanted.includes('graphql')) await runGraphql(comparison)
  if (wanted.includes('nodes')) await runNodes()
  if (wanted.includes('start')) await runStart()
  if (wanted.includes('footprint')) await runFootprint()
  if (wanted.includes('hour')) await runHour()
  if (wanted.includes('pieces')) await runSmallPieces()
  if (wanted.includes('size'))
    await measureSize({
      folder: options.folder,
      scales: options.scale.split(',').map(Number),
      side: Number(options.side),
      isKept: options.keep,
    })
  if (wanted.includes('databases'))
    await measureDatabases({
      folder: options.folder,
      count: Number(options.databases),
      isKept: options.keep,
    })
  if (wanted.includes('cold'))
    await measureCold({
      folder: options.folder,
      count: Number(options.scale.split(',')[0]),
      memoryMebibytes: options['memory-mb'] === undefined ? undefined : Number(options['memory-mb']),
      isKept: options.keep,
    })
  if (wanted.includes('wide'))
    await measureWide({
      folder: options.folder,
      kinds: options.kinds?.split(','),
      scale: Number(options.scale.split(',')[0]),
    })
  if (wanted.includes('dashboard'))
    await measureDashboard({
      folder: options.folder,
      count: Number(options.scale.split(',')[0]),
      kinds: options.kinds?.split(','),
      isKept: options.keep,
    })
  if (wanted.includes('log'))
    await measureLog({ folder: options.folder, records: Number(options.records), isKept: options.keep })
  if (wanted.every(name => standalone.includes(name))) return
  await compareCases(wanted)
}

if (options.help) console.log(help)
else await main()

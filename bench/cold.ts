// The case `cold`: a database that is larger than the memory, and the reads of a small database beside it. The memory
// of the service is limited by a control group, in which the page cache counts, too. A control measures the same
// requests while the data fits into the memory.

import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { query } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { Client, type Kind } from './client.ts'
import { literal } from './documents.ts'
import { privateMebibytes, processesOf } from './measure.ts'
import { createMemoryGroup, dropFromCache, type MemoryGroup, readAheadFile } from './memory-group.ts'
import { timesOf } from './neighbour-reader.ts'
import { Reader } from './reader.ts'
import { createSized, createSizedSchema, sizedDocument } from './size-data.ts'
import { diskBytesRead, mainThreadTimes, reference } from './size-requests.ts'

export interface ColdOptions {
  readonly folder: string
  /** Documents that are loaded if the folder has no data directory of the case `size`. */
  readonly count: number
  /** The memory limit. The default is the private memory of the service, and a tenth of the data. */
  readonly memoryMebibytes?: number | undefined
  /** A data directory that this case has loaded remains. */
  readonly isKept: boolean
}

const hotDocuments = 300
/** Interval between two reads of the hot database. */
const everyMs = 5
/** The duration of each measurement. */
const measuredMs = 10_000
/** Duration of the warm-up of each kind of request, in which code is compiled and caches get their size. */
const warmUpMs = 4000
/** Connections of the client of the cold database. */
const connections = 4
/** A read-ahead that transfers little beside the page that a request needs. */
const smallReadAhead = 64
const mebibyte = 2 ** 20

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Requests of random documents of the cold database, in the order of the measurement. */
function kindsFor(count: number): readonly Kind[] {
  let created = Date.now()
  return [
    { name: 'get', path: '/', body: random => ({ get: reference(random(count)) }) },
    {
      name: 'page of 64 documents',
      path: '/query/1',
      body: random => ({ query: `documents.byBucket(${random(1000)}).pageSize(64)` }),
    },
    {
      name: 'create',
      path: '/',
      body: () => ({
        create: { collection: 'documents' },
        params: literal({ data: literal(sizedDocument(created++)) }),
      }),
    },
  ]
}

/** Prints a table for the control and for each read-ahead of the disk. */
export async function measureCold({ folder, count, isKept, memoryMebibytes }: ColdOptions): Promise<void> {
  let group: MemoryGroup
  try {
    group = createMemoryGroup()
  } catch (error) {
    console.log(`cold: NOT MEASURED, ${(error as Error).message}`)
    return
  }
  const root = join(folder, 'terrarium-size')
  const data = join(root, 'data')
  const isNew = !existsSync(join(data, 'data.mdb'))
  try {
    await prepare(data, isNew ? count : 0)
    await measureInMemory(data, group)
    await withEachReadAhead(data, () => measureLimited(data, group, memoryMebibytes))
  } finally {
    group.remove()
    if (isNew && !isKept) await rm(root, { recursive: true, force: true })
  }
}

const start = (data: string, controlGroup?: string) =>
  startProcess({
    program: join(repository, 'bin/terrarium.js'),
    data,
    ...(controlGroup !== undefined && { controlGroup }),
  })

const hot = (server: ServerProcess) => `${server.rootSecret}:hot:admin`
const cold = (server: ServerProcess) => `${server.rootSecret}:size:admin`

/** Loads `count` documents into a new data directory, and creates the hot database if it is missing. */
async function prepare(data: string, count: number): Promise<void> {
  await mkdir(data, { recursive: true })
  const server = await start(data)
  const run = (expression: unknown) => query(server, server.rootSecret, expression)
  const create = (name: string) => run({ create_database: literal({ name }) })
  try {
    if (count > 0) {
      await create('size')
      await createSizedSchema(server, cold(server))
      await createSized(server, cold(server), { collection: 'documents', from: 0, to: count })
    }
    if (await run({ exists: { database: 'hot' } })) return
    await create('hot')
    await query(server, hot(server), { create_collection: literal({ name: 'documents' }) })
    await createSized(server, hot(server), { collection: 'documents', from: 0, to: hotDocuments })
  } finally {
    await server.stop()
  }
}

/** The control: the data file is in the page cache, and the memory is not limited. */
async function measureInMemory(data: string, group: MemoryGroup): Promise<void> {
  const file = createReadStream(join(data, 'data.mdb'), { highWaterMark: mebibyte })
  await finished(file.resume())
  console.log('\ncold: all data in the memory')
  await measureService(data, group, () => {})
}

async function measureLimited(data: string, group: MemoryGroup, memoryMebibytes?: number): Promise<void> {
  const file = join(data, 'data.mdb')
  dropFromCache(file)
  const dataMebibytes = statSync(file).size / mebibyte
  await measureService(data, group, server => {
    const own = privateMebibytes(server.pid)
    const limit = memoryMebibytes ?? own + dataMebibytes / 10
    group.limit(limit * mebibyte)
    const sizes = [limit, own, dataMebibytes].map(size => size.toFixed(0))
    console.log(`  memory limit ${sizes[0]} MiB; private memory ${sizes[1]} MiB, data ${sizes[2]} MiB`)
  })
}

/** Measures with the read-ahead of the disk as it is, and with a small one, if the disk allows that. */
async function withEachReadAhead(data: string, measure: () => Promise<void>): Promise<void> {
  const file = readAheadFile(data)
  const usual = file === undefined ? undefined : readFileSync(file, 'utf8').trim()
  console.log(`\ncold: data larger than the memory, read-ahead ${usual ?? 'unknown'} KiB`)
  await measure()
  if (file === undefined || usual === undefined || Number(usual) <= smallReadAhead) return
  try {
    writeFileSync(file, String(smallReadAhead))
  } catch (error) {
    console.log(`\ncold: NOT MEASURED with a smaller read-ahead, ${(error as Error).message}`)
    return
  }
  const restore = () => writeFileSync(file, usual)
  const exit = () => process.exit(1)
  // A signal would otherwise end the process before `finally`.
  process.once('exit', restore).once('SIGINT', exit).once('SIGTERM', exit)
  try {
    console.log(`\ncold: data larger than the memory, read-ahead ${smallReadAhead} KiB`)
    await measure()
  } finally {
    restore()
    process.off('exit', restore).off('SIGINT', exit).off('SIGTERM', exit)
  }
}

/**
 * Starts a service, because Linux assigns the read-ahead to a file when a process opens the file. `limit` is called
 * after the warm-up.
 */
async function measureService(
  data: string,
  group: MemoryGroup,
  limit: (server: ServerProcess) => void,
): Promise<void> {
  group.limit(Number.MAX_SAFE_INTEGER)
  const server = await start(data, group.folder)
  const client = new Client(server, cold(server), connections)
  const reader = new Reader({
    port: Number(new URL(server.url).port),
    secret: hot(server),
    bodies: Array.from({ length: hotDocuments }, (_, n) => JSON.stringify({ get: reference(n) })),
    everyMs,
  })
  try {
    const kinds = kindsFor(await loadedCount(server))
    reader.begin()
    for (const kind of kinds) await client.runFor(kind, warmUpMs)
    await reader.stop()
    limit(server)
    await measureKinds(server, { client, kinds, reader })
    console.log(`  private memory at the end ${privateMebibytes(server.pid).toFixed(0)} MiB`)
  } finally {
    await reader.close()
    client.close()
    await server.stop()
  }
}

/** Counts the documents that the case `size` has loaded: their ids are consecutive from 1. */
export async function loadedCount(server: ServerProcess): Promise<number> {
  const isLoaded = (count: number) => query(server, cold(server), { exists: reference(count - 1) })
  let [loaded, missing] = [1, 2 ** 30]
  while (missing - loaded > 1) {
    const middle = Math.floor((loaded + missing) / 2)
    if (await isLoaded(middle)) loaded = middle
    else missing = middle
  }
  return loaded
}

interface Clients {
  readonly client: Client
  readonly kinds: readonly Kind[]
  readonly reader: Reader
}

/** Columns: reads of the hot database in ms; the main thread; requests of the cold database, times in ms. */
const columns = [
  ...['hot p50', 'p99', 'max', 'errors'],
  ...['CPU %', 'no core %'],
  ...['cold/s', 'p50', 'p99', 'faults', 'KiB read'],
]

async function measureKinds(server: ServerProcess, { client, kinds, reader }: Clients): Promise<void> {
  console.log(`  ${''.padEnd(22)}${columns.map(name => name.padStart(10)).join('')}`)
  const measured = async (name: string, run: () => Promise<readonly number[]>) => {
    const [before, fromMs] = [usage(server), performance.now()]
    reader.begin()
    const durations = await run()
    const { errors, max, p50, p99 } = await reader.stop()
    const elapsedMs = performance.now() - fromMs
    const after = usage(server)
    const of = (key: keyof typeof after) => after[key] - before[key]
    const shares = [of('ranMs'), of('queuedMs')].map(ms => (100 * ms) / elapsedMs)
    const own = timesOf(durations, 0)
    const costs = [of('faults'), of('bytes') / 1024].map(total => total / durations.length)
    const cold = [durations.length / (elapsedMs / 1000), own.p50, own.p99, ...costs]
    const values = [p50, p99, max, errors, ...shares, ...(durations.length > 0 ? cold : [])]
    console.log(`  ${name.padEnd(22)}${values.map(value => value.toFixed(1).padStart(10)).join('')}`)
  }
  await measured('nothing beside', async () => {
    await wait(measuredMs)
    return []
  })
  for (const kind of kinds) await measured(kind.name, () => client.runFor(kind, measuredMs))
}

/** So far: major page faults and bytes read from the disk of all processes of the service, and its main thread. */
function usage(server: ServerProcess) {
  const pids = processesOf(server.pid)
  const sum = (of: (pid: number) => number) => pids.reduce((total, pid) => total + of(pid), 0)
  return {
    faults: sum(majorFaults),
    bytes: sum(diskBytesRead),
    ...mainThreadTimes(server.pid),
  }
}

/** Field 12 of proc_pid_stat(5). The words after the name of the program, in parentheses, begin with the third field. */
const majorFaults = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[9])

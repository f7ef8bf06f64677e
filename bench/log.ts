// The case `log`: searches, charts, exports and removal in a query log with very many records, and the reads of a
// database meanwhile. The records are written directly to segments, with times in the past 30 days, by the code that
// the service uses.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { mkdir, utimes } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { type Micros, micros } from '../src/base/micros.ts'
import { systemTimers } from '../src/base/timers.ts'
import { version4 } from '../src/fql4/language.ts'
import { makeRecordFolder, recordFolder } from '../src/query-log/record-folder.ts'
import { type RecordedAnswer, type RecordedCall, RecordWriter } from '../src/query-log/record-writer.ts'
import { listSegments } from '../src/query-log/segment-files.ts'
import { SegmentWriter } from '../src/query-log/segment-writer.ts'
import { decodeGlobalId } from '../src/values/names.ts'
import { query, send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { literal } from './documents.ts'
import { privateMebibytes, processorMs, serverMs } from './measure.ts'
import { Reader } from './reader.ts'
import { measuredStart } from './size-work.ts'

export interface LogOptions {
  readonly folder: string
  readonly records: number
  /** Keeps the data directory, so that another run only measures. It has fewer records, because removal is measured. */
  readonly isKept: boolean
}

const dayMs = 86_400_000
const days = 30
const databases = 20
const shapes = 40
/** Records between two flushes, so that the writer's buffer is never full. */
const flushedTogether = 50_000
/** Milliseconds between two measurements of the memory, and between two reads of the other database. */
const sampleMs = 100
const everyMs = 5
const pollMs = 200

const start = (data: string, flags: readonly string[] = []) =>
  startProcess({
    program: join(repository, 'bin/terrarium.js'),
    data,
    flags: ['--query-log-megabytes', '100000', ...flags],
  })

const nameOf = (number: number) => `tenant-${number}`

/** Prints the figures. */
export async function measureLog({ folder, isKept, records }: LogOptions): Promise<void> {
  const root = join(folder, 'terrarium-log')
  const data = join(root, 'data')
  if (!isKept) rmSync(root, { recursive: true, force: true })
  const isNew = !existsSync(data)
  await mkdir(data, { recursive: true })
  try {
    if (isNew) await writeLog(data, records)
    await measureStart(data)
    await measureViews(data)
    await measureRemoval(data)
  } finally {
    if (!isKept) rmSync(root, { recursive: true, force: true })
  }
}

/** Creates the databases, and writes records with the permanent ids of the databases. */
async function writeLog(data: string, count: number): Promise<void> {
  const server = await start(data)
  const ids: bigint[] = []
  try {
    for (let number = 0; number < databases; number++) {
      const create = { create_database: literal({ name: nameOf(number) }) }
      const id = await query(server, server.rootSecret, { select: 'global_id', from: create })
      ids.push(decodeGlobalId(String(id)) ?? 0n)
    }
    const tenant = `${server.rootSecret}:${nameOf(0)}:admin`
    await query(server, tenant, { create_collection: literal({ name: 'things' }) })
    await query(server, tenant, { create: thing, params: literal({ data: literal({ n: 1 }) }) })
  } finally {
    await server.stop()
  }
  const folder = join(data, 'query-log')
  makeRecordFolder(folder)
  const fromMs = performance.now()
  const cpu = process.cpuUsage()
  await writeRecords(join(folder, recordFolder), count, ids)
  const { system, user } = process.cpuUsage(cpu)
  console.log(`\nlog: ${count} records of ${days} days and ${databases} databases`)
  const bytes = recordBytes(data) / count
  console.log(
    `written in ${((performance.now() - fromMs) / 1000).toFixed(0)} s, ${((system + user) / count).toFixed(2)} µs of CPU and ${bytes.toFixed(1)} bytes for each record`,
  )
}

const thing = { ref: { collection: 'things' }, id: '1' }

async function writeRecords(folder: string, count: number, ids: readonly bigint[]): Promise<void> {
  const stepMicros = Math.floor((days * dayMs * 1000) / count)
  let now = micros(Date.now() * 1000 - count * stepMicros)
  const clock = { now: () => now, elapsedMs: () => performance.now() }
  const writer = new SegmentWriter({
    folder,
    regionGroup: 'us-std',
    writer: 'be',
    clock,
    timers: systemTimers,
    segmentBytes: 64_000_000,
    segmentMs: 3_600_000,
    onLoss: (lost, cause) => {
      throw new Error(`lost ${lost} records`, { cause })
    },
  })
  const records = new RecordWriter(writer, { '4': version4 })
  for (let n = 0; n < count; n++) {
    now = micros(now + stepMicros)
    const [call, answer] = requestOf(n, n === 0, ids, now)
    records.write(call, answer, 200 + (n % 500))
    if (n % flushedTogether === 0) await writer.flush()
  }
  await writer.close()
  await setEndTimes(folder)
}

/** Sets the times of the files to the times of their last records, which the retention and searches use. */
async function setEndTimes(folder: string): Promise<void> {
  const segments = await listSegments(folder)
  for (const [at, { path }] of segments.entries()) {
    const endSeconds = (segments[at + 1]?.from ?? Date.now() * 1000) / 1e6
    await utimes(path, endSeconds, endSeconds)
  }
}

/** Multiplies by an odd number, which spreads neighbouring numbers over 32 bits. */
const scattered = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0

/** The only record with {@link rareText} and the trace {@link rareTrace} is the oldest, so a search reads all records. */
const rareText = 'seldom-seen-agent'
const rareTrace = 'abad1deaabad1deaabad1deaabad1dea'

function requestOf(
  n: number,
  isRare: boolean,
  ids: readonly bigint[],
  time: Micros,
): readonly [RecordedCall, RecordedAnswer] {
  const random = scattered(n)
  const tenant = random % databases
  const shape = (random >>> 8) % shapes
  const isWrite = shape % 4 === 0
  const isFailed = (random >>> 16) % 50 === 0
  const name = `collection_${shape}`
  const reference = `{"ref":{"collection":"${name}"},"id":"${n}"}`
  const hex = random.toString(16).padStart(8, '0')
  const call = {
    request: {
      method: 'POST',
      headers: {
        'user-agent': isRare ? rareText : `app/${shape % 5}`,
        'x-driver-env': 'driver=javascript-4.8.0; runtime=nodejs-20; env=Unknown; os=linux',
        'x-last-seen-txn': String(time),
      },
      client: `10.0.${tenant}.${shape}`,
    },
    protocol: { language: '4' as const },
    settings: { dialect: '4' },
    endpoint: { path: '/' },
    body: isWrite
      ? `{"update":${reference},"params":{"object":{"data":{"object":{"n":${n}}}}}}`
      : `{"get":${reference}}`,
    longBody: undefined,
    bytesIn: 60 + shape,
    tags: [['job', `worker-${shape % 7}`]] as const,
    trace: { traceId: isRare ? rareTrace : hex.repeat(4), spanId: hex.repeat(2) },
  }
  const answer = {
    status: isFailed ? 404 : 200,
    metrics: {
      computeOps: 1,
      byteReadOps: 1 + (random % 20),
      byteWriteOps: isWrite ? 1 : 0,
      queryTimeMs: random % 97 === 0 ? random % 2000 : random % 9,
      txnRetries: 0,
      rateLimited: [],
    },
    place: { names: [nameOf(tenant)], ids: [ids[tenant] ?? 0n] },
    caller: { credential: `${1000 + tenant}/${ids[tenant]}`, roles: ['server'], identity: undefined },
    named: [{ kind: 'collection' as const, name }],
    ...(isWrite && !isFailed && { txnTime: time }),
  }
  return [call, answer]
}

const recordsIn = (data: string) => join(data, 'query-log', recordFolder)

function recordBytes(data: string): number {
  const folder = recordsIn(data)
  const files = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isFile())
  return files.reduce((sum, { name }) => sum + statSync(join(folder, name)).size, 0)
}

function row(name: string, values: Readonly<Record<string, string | number>>): void {
  const texts = Object.entries(values).map(
    ([key, value]) => `${key} ${typeof value === 'number' ? value.toFixed(value < 10 ? 1 : 0) : value}`,
  )
  console.log(`${name.padEnd(46)}${texts.join(', ')}`)
}

async function measureStart(data: string): Promise<void> {
  const { cost, server } = await measuredStart(() => start(data))
  row('start of the service', { 'CPU ms': cost.cpuMs, ms: cost.ms, load: loadavg()[0] ?? 0 })
  await server.stop()
}

type Body = Readonly<Record<string, unknown>>

async function measureViews(data: string): Promise<void> {
  const server = await start(data)
  const reader = new Reader({
    port: Number(new URL(server.url).port),
    secret: `${server.rootSecret}:${nameOf(0)}:admin`,
    bodies: [JSON.stringify({ get: thing })],
    everyMs,
  })
  const endMs = Date.now()
  const last = (spanDays: number): Body => ({
    region_group: 'us-std',
    time_start: new Date(endMs - spanDays * dayMs).toISOString(),
    time_end: new Date(endMs).toISOString(),
  })
  const all = last(days + 1)
  const post = async (path: string, body: Body) => {
    const answer = await send(server, {
      secret: server.rootSecret,
      path: `/api/v1/logs${path}?type=query`,
      body: JSON.stringify(body),
    })
    if (answer.status !== 200) throw new Error(`status ${answer.status}: ${answer.text}`)
    return answer.json as Record<string, unknown>
  }
  const measured = (name: string, work: () => Promise<string>) => measuredWork(server, reader, name, work)
  /** Continues until a record is found or the whole log is searched. */
  const found = async (body: Body) => {
    for (let requests = 1, token: unknown = null; ; requests++) {
      const continuation = token === null ? {} : { next_token: token }
      const page = await post('/_records', { ...all, ...body, ...continuation })
      token = page.next_token
      const count = (page.records as unknown[]).length
      if (count > 0 || token === null) return `${count} found, ${requests} requests`
    }
  }
  const search = (name: string, body: Body) => measured(name, () => found(body))
  const chart = (name: string, span: Body) =>
    measured(
      name,
      async () => `${((await post('/_summary', span)).totals as { requests: number }).requests} requests`,
    )
  const exported = (name: string, body: Body) =>
    measured(name, async () => {
      let { request_id: id, state } = await post('', { ...all, ...body })
      while (state === 'Requested' || state === 'Pending' || state === 'CreatingNewUrl') {
        await new Promise(resolve => setTimeout(resolve, pollMs))
        const path = `/api/v1/logs/${id}?type=query&regionGroup=us-std`
        const { json } = await send(server, { method: 'GET', secret: server.rootSecret, path })
        state = (json as { state: unknown }).state
      }
      return `${state}, ${(exportBytes(data) / 2 ** 20).toFixed(0)} MiB of exports`
    })
  try {
    const idle = async () => {
      await new Promise(resolve => setTimeout(resolve, 10_000))
      return ''
    }
    await measured('nothing beside (warm-up)', idle)
    await measured('nothing beside', idle)
    await search('newest 50 records', {})
    await search('newest 50 errors', { status_class: '4xx' })
    await search('text in one record', { text: rareText })
    await search('trace id of one record', { text: rareTrace })
    await search('text in no record', { text: 'never-written' })
    await search('caller of one database', { who: 'nobody' })
    await chart('chart of a day, first time', last(1))
    await chart('chart of a day, again', last(1))
    await chart('chart of all days, first time', all)
    await chart('chart of all days, again', all)
    await measured('changes of 15 days', async () => {
      const { queries } = await post('/_changes', last(15))
      return `${(queries as unknown[]).length} queries`
    })
    await exported('export of one database', { database: `us-std/${nameOf(1)}`, region_group: undefined })
    await exported('export of all records', {})
    await measured('nothing beside', idle)
  } finally {
    await reader.close()
    await server.stop()
  }
}

function exportBytes(data: string): number {
  const folder = join(data, 'query-log', 'exports')
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

async function measuredWork(
  server: ServerProcess,
  reader: Reader,
  name: string,
  work: () => Promise<string>,
): Promise<void> {
  const [before, startedMs] = [serverMs(server.pid), performance.now()]
  let mebibytes = 0
  const sample = setInterval(() => {
    mebibytes = Math.max(mebibytes, privateMebibytes(server.pid))
  }, sampleMs)
  reader.begin()
  const result = await work()
  const elapsedMs = performance.now() - startedMs
  clearInterval(sample)
  const { max, p50, p99 } = await reader.stop()
  row(name, {
    ms: elapsedMs,
    'CPU ms': serverMs(server.pid) - before,
    MiB: mebibytes,
    p50,
    p99,
    max,
    load: loadavg()[0] ?? 0,
    result,
  })
}

/** Removes the older half of the records by their age, and then half of the rest by their size. */
async function measureRemoval(data: string): Promise<void> {
  const removal = async (name: string, flags: readonly string[]) => {
    const [bytes, segments] = [recordBytes(data), readdirSync(recordsIn(data)).length]
    const { cost, server } = await measuredStart(() => start(data, flags))
    try {
      const startedMs = performance.now()
      for (let before = -1; before !== recordBytes(data); ) {
        before = recordBytes(data)
        await new Promise(resolve => setTimeout(resolve, 2000))
      }
      row(name, {
        'CPU ms': processorMs(server.pid) - cost.cpuMs,
        'ms at most': performance.now() - startedMs,
        segments: segments - readdirSync(recordsIn(data)).length,
        MiB: (bytes - recordBytes(data)) / 2 ** 20,
        load: loadavg()[0] ?? 0,
      })
    } finally {
      await server.stop()
    }
  }
  await removal('removal by age', ['--query-log-days', String(days / 2)])
  // The least value of the setting.
  const half = Math.max(8, Math.ceil(recordBytes(data) / 2 ** 21))
  await removal('removal by size', ['--query-log-megabytes', String(half)])
}

// The case `databases`: a service with many small databases, compared with an empty service. Each database has three
// collections, two indexes, a key and a document.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { query, send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { literal } from './documents.ts'
import { diskBytes, median, privateMebibytes, processorMs } from './measure.ts'
import { command, measuredStart, untilQuiet } from './size-work.ts'

export interface DatabasesOptions {
  /** The folder for the data directory. */
  readonly folder: string
  readonly count: number
  /** Keeps the data directory, so that another run only measures. */
  readonly isKept: boolean
}

const createdAtOnce = 8
/** The time over which the idle service is measured, after a pause of the same length, in milliseconds. */
const idleMs = 10_000
/** Number of queries that warm up the service, and then of queries of random databases. Most are the first query. */
const firstQueries = 50
/** Number of further queries of random databases. */
const randomQueries = 2000

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const nameOf = (number: number) => `database-${number}`
/** The secret of the administrator of a database. */
const secretOf = (server: ServerProcess, number: number) => `${server.rootSecret}:${nameOf(number)}:admin`

const start = (data: string) => startProcess({ program: join(repository, 'bin/terrarium.js'), data })

function report(name: string, value: number, unit: string): void {
  const shown = value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })
  console.log(`${name.padEnd(56)}${shown.padStart(10)} ${unit}`)
}

/** Creates the databases, and prints the figures. */
export async function measureDatabases({ count, folder, isKept }: DatabasesOptions): Promise<void> {
  const root = join(folder, 'terrarium-databases')
  if (!isKept) await rm(root, { recursive: true, force: true })
  await mkdir(join(root, 'data'), { recursive: true })
  const data = join(root, 'data')
  try {
    const empty = await measureIdle('empty service', join(root, 'empty'))
    await createAll(data, count)
    const full = await measureIdle(`${count} databases`, data)
    report('start: many databases ÷ empty service', full.startMs / empty.startMs, '')
    report('bytes on disk for each database', diskBytes(data) / count, 'bytes')
    await measureQueries(data, count)
  } finally {
    if (!isKept) await rm(root, { recursive: true, force: true })
  }
}

async function createAll(data: string, count: number): Promise<void> {
  const server = await start(data)
  try {
    const existing = Number(await query(server, server.rootSecret, { count: { databases: null } }))
    // After an interrupted run, numbers may be missing, and databases may be incomplete.
    if (existing > 0 && existing !== count)
      throw new Error(`${data} has ${existing} databases instead of ${count}. Remove the directory.`)
    let next = existing
    const fromMs = performance.now()
    const worker = async () => {
      while (next < count) await createOne(server, next++)
    }
    await Promise.all(Array.from({ length: createdAtOnce }, worker))
    if (existing === 0) report('creation', count / ((performance.now() - fromMs) / 1000), 'databases/s')
    // The background work must be done before the service is measured.
    await untilQuiet(() => [server.pid])
  } finally {
    await server.stop()
  }
}

async function createOne(server: ServerProcess, number: number): Promise<void> {
  await query(server, server.rootSecret, {
    create_database: literal({ name: nameOf(number) }),
  })
  const secret = secretOf(server, number)
  const collection = (name: string) => ({ create_collection: literal({ name }) })
  await query(server, secret, {
    do: [...['users', 'orders', 'products'].map(collection), { create_key: literal({ role: 'server' }) }],
  })
  const index = (name: string, source: string) => ({
    create_index: literal({
      name,
      source: { collection: source },
      terms: [literal({ field: ['data', 'n'] })],
    }),
  })
  const document = {
    create: { ref: { collection: 'users' }, id: '1' },
    params: literal({ data: literal({ n: 1 }) }),
  }
  await query(server, secret, {
    do: [index('users_by_n', 'users'), index('orders_by_n', 'orders'), document],
  })
}

async function measureIdle(name: string, data: string): Promise<{ readonly startMs: number }> {
  await mkdir(data, { recursive: true })
  // The first start of a directory or of a program creates files that later starts find.
  await (await start(data)).stop()
  const { cost, server } = await measuredStart(() => start(data))
  try {
    report(`${name}: start`, cost.cpuMs, 'ms CPU')
    await wait(idleMs)
    report(
      `${name}: first ${idleMs / 1000} s after the start`,
      processorMs(server.pid) - cost.cpuMs,
      'ms CPU',
    )
    const before = processorMs(server.pid)
    await wait(idleMs)
    report(`${name}: idle`, (processorMs(server.pid) - before) / (idleMs / 1000), 'ms CPU/s')
    report(`${name}: private memory`, privateMebibytes(server.pid), 'MiB')
    return { startMs: cost.cpuMs }
  } finally {
    await server.stop()
  }
}

async function measureQueries(data: string, count: number): Promise<void> {
  const server = await start(data)
  try {
    const get = { get: { ref: { collection: 'users' }, id: '1' } }
    const timed = async (secret: string, expression: unknown) => {
      const fromMs = performance.now()
      const { status, text } = await send(server, { secret, query: expression })
      if (status >= 300) throw new Error(`status ${status}: ${text}`)
      return performance.now() - fromMs
    }
    const random = () => Math.floor(Math.random() * count)
    for (let warm = 0; warm < firstQueries; warm++) await timed(secretOf(server, 0), get)
    const firsts: number[] = []
    for (let each = 0; each < firstQueries; each++) firsts.push(await timed(secretOf(server, random()), get))
    report('first query of a database', median(firsts), 'ms (median)')
    const before = processorMs(server.pid)
    const times: number[] = []
    for (let each = 0; each < randomQueries; each++) times.push(await timed(secretOf(server, random()), get))
    report('random query over all databases', median(times), 'ms (median)')
    report('random query over all databases', (processorMs(server.pid) - before) / randomQueries, 'ms CPU')
    report('private memory after these queries', privateMebibytes(server.pid), 'MiB')
    const page = { paginate: { databases: null }, size: 1000 }
    report('a page of 1000 databases', await timed(server.rootSecret, page), 'ms')
    const words = ['database', 'list', '--url', server.url, '--secret', server.rootSecret]
    const listed = await command('database list', count, words)
    report('terrarium database list', listed.seconds * 1000, 'ms')
  } finally {
    await server.stop()
  }
}

// The case `size`: what grows with the number of documents, and what does not. One data directory grows from scale to
// scale. At each scale, the case measures requests, starts, background work and commands, as ratios to the smallest
// scale of the run. A directory that is kept (`--keep`) continues at its size in the next run.

import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { query } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { groupSize } from './documents.ts'
import { diskBytes, privateMebibytes } from './measure.ts'
import { createSized, createSizedSchema } from './size-data.ts'
import { measureRequests } from './size-requests.ts'
import {
  bytesByPart,
  command,
  countInPages,
  createExpiring,
  measuredStart,
  measureExpiry,
  measureWork,
  type WorkRate,
} from './size-work.ts'

export interface SizeOptions {
  readonly folder: string
  /** Numbers of documents in ascending order. */
  readonly scales: readonly number[]
  /** Number of documents in collections that are dropped, migrated, imported or expire. */
  readonly side: number
  /** The directory remains for the next run. */
  readonly isKept: boolean
}

/** A measurement with one value for each scale. */
interface Figure {
  readonly name: string
  readonly unit: string
  readonly values: number[]
}

/** Prints a table after each scale. */
export async function measureSize({ folder, scales, side, isKept }: SizeOptions): Promise<void> {
  const data = join(folder, 'terrarium-size', 'data')
  if (!isKept) await rm(join(data, '..'), { recursive: true, force: true })
  await mkdir(data, { recursive: true })
  const figures = new Map<string, Figure>()
  const add = (name: string, unit: string, value: number) => {
    const figure = figures.get(name) ?? { name, unit, values: [] }
    figure.values.push(value)
    figures.set(name, figure)
    console.log(`${name}: ${shortNumber(value)} ${unit}`)
  }
  try {
    for (const [at, count] of scales.entries()) {
      await measureScale(
        data,
        { count, side: Math.min(side, count), isLargest: at === scales.length - 1 },
        add,
      )
      print(scales.slice(0, at + 1), figures)
    }
  } finally {
    if (!isKept) await rm(join(data, '..'), { recursive: true, force: true })
  }
}

type Add = (name: string, unit: string, value: number) => void

const start = (data: string) => startProcess({ program: join(repository, 'bin/terrarium.js'), data })

/** `isLargest`: also measures what takes a quarter of an hour at any scale. */
async function measureScale(
  data: string,
  { count, isLargest, side }: { count: number; side: number; isLargest: boolean },
  add: Add,
): Promise<void> {
  const isNew = !existsSync(join(data, 'data.mdb'))
  let server = await start(data)
  try {
    const secret = await databaseKey(server, isNew)
    if (isNew) await createSizedSchema(server, secret)
    const loaded = isNew ? 0 : await countInPages(server, secret)
    const fromMs = performance.now()
    await createSized(server, secret, { collection: 'documents', from: loaded, to: count })
    if (count > loaded)
      add('load in queries of 250', 'documents/s', (count - loaded) / ((performance.now() - fromMs) / 1000))
    server = await measureStarts(server, data, add)
    for (const cost of await measureRequests(server, secret, { count, groupSize })) {
      add(`${cost.name}, main thread`, 'µs CPU', cost.mainMicros)
      add(`${cost.name}, all threads`, 'µs CPU', cost.allMicros)
      if (cost.writtenBytes > 0) add(`${cost.name}, written to files`, 'bytes', cost.writtenBytes)
    }
    add('private memory of the service', 'MiB', privateMebibytes(server.pid))
    const report = (work: WorkRate) => addWork(work, add)
    const target = { server, data, secret }
    const expiring = isLargest ? await createExpiring(target, side) : undefined
    await measureWork(target, count, side, report)
    if (expiring) report(await measureExpiry(server, expiring))
    await server.stop()
    await measureCommands(data, count, report)
    add('bytes on disk per document', 'bytes', diskBytes(data) / count)
    for (const [part, bytes] of Object.entries(await bytesByPart(data)))
      add(`bytes per document: ${part}`, 'bytes', bytes / count)
  } finally {
    await server.stop()
  }
}

function addWork({ documentsPerSecond, name, peakMebibytes }: WorkRate, add: Add): void {
  add(name, 'documents/s', documentsPerSecond)
  add(`${name}: peak of private memory`, 'MiB', peakMebibytes)
}

/** Returns a key of the database `size`, which is created first if the directory is new. */
async function databaseKey(server: ServerProcess, isNew: boolean): Promise<string> {
  const root = (expression: unknown) => query(server, server.rootSecret, expression)
  if (isNew) await root({ create_database: { object: { name: 'size' } } })
  const key = await root({ create_key: { object: { role: 'admin', database: { database: 'size' } } } })
  return (key as { secret: string }).secret
}

/** Stops and starts the service, kills and starts it; returns the running service. */
async function measureStarts(before: ServerProcess, data: string, add: Add): Promise<ServerProcess> {
  await before.stop()
  const clean = await measuredStart(() => start(data))
  add('start after a clean stop', 'ms CPU', clean.cost.cpuMs)
  await clean.server.kill()
  const killed = await measuredStart(() => start(data))
  add('start after kill -9', 'ms CPU', killed.cost.cpuMs)
  add('start after kill -9, elapsed', 'ms', killed.cost.ms)
  return killed.server
}

/** Commands on the data directory of a stopped service. */
async function measureCommands(data: string, count: number, report: (work: WorkRate) => void): Promise<void> {
  const [backup, restored] = [join(data, '..', 'backup'), join(data, '..', 'restored')]
  report(await command('check', count, ['check', '--data', data]))
  report(await command('backup', count, ['backup', backup, '--data', data]))
  report(await command('restore', count, ['restore', backup, '--data', restored]))
  for (const folder of [backup, restored]) await rm(folder, { recursive: true, force: true })
}

function print(scales: readonly number[], figures: ReadonlyMap<string, Figure>): void {
  const columns = scales.map(scale => scale.toLocaleString('en').padStart(12)).join('')
  console.log(`\n${'documents'.padEnd(52)}${columns}   largest ÷ smallest`)
  for (const { name, unit, values } of figures.values()) {
    const missing = new Array<string>(scales.length - values.length).fill('')
    const texts = [...missing, ...values.map(shortNumber)].map(text => text.padStart(12))
    const [first = 0, last = 0] = [values[0], values.at(-1)]
    const growth = values.length > 1 && first > 0 ? (last / first).toFixed(2) : ''
    console.log(`${`${name} (${unit})`.padEnd(52)}${texts.join('')}   ${growth}`)
  }
}

const shortNumber = (value: number) =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 })

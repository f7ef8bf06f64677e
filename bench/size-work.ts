// The background work and the commands of the case `size`: documents per second, and the peak of the private memory.

import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { open } from 'lmdb'
import { retentionLimits } from '../src/storage/store/retention.ts'
import { fql, query, send } from '../tests/support/http.ts'
import { program } from '../tests/support/program.ts'
import type { ServerProcess } from '../tests/support/server-process.ts'
import { literal } from './documents.ts'
import { memoryMebibytes, processesOf, processorMs } from './measure.ts'
import { createSized, sizedDocument } from './size-data.ts'

export interface WorkRate {
  readonly name: string
  readonly documentsPerSecond: number
  readonly seconds: number
  /** Private memory (`RssAnon`) of all processes of the step. */
  readonly peakMebibytes: number
}

/** The service and the data that the steps use. */
export interface SizeTarget {
  readonly server: ServerProcess
  readonly data: string
  readonly secret: string
}

const pollMs = 100

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

const ownMebibytes = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + memoryMebibytes(pid).own, 0)

/** Samples the memory of the processes during a step on `documents` documents. */
async function rated(
  name: string,
  documents: number,
  pids: () => readonly number[],
  step: () => Promise<void>,
): Promise<WorkRate> {
  let peakMebibytes = 0
  const timer = setInterval(() => {
    peakMebibytes = Math.max(peakMebibytes, ownMebibytes(pids()))
  }, pollMs)
  const fromMs = performance.now()
  try {
    await step()
  } finally {
    clearInterval(timer)
  }
  const seconds = (performance.now() - fromMs) / 1000
  return { name, documentsPerSecond: documents / seconds, seconds, peakMebibytes }
}

/** Rejects unless the command succeeds. */
export async function command(
  name: string,
  documents: number,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<WorkRate> {
  const child = spawn(process.execPath, ['--stack-size=3600', program, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000)
    })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  return rated(
    name,
    documents,
    () => processesOf(child.pid as number),
    async () => {
      const status = await ended
      if (status !== 0) throw new Error(`${words[0]} ended with status ${status}: ${output}`)
    },
  )
}

/** Steps that run in the service, on its own documents (`count`) or on `side` documents of another collection. */
export async function measureWork(
  target: SizeTarget,
  count: number,
  side: number,
  report: (work: WorkRate) => void,
): Promise<void> {
  const { data, secret, server } = target
  const ofService = () => processesOf(server.pid)
  const add = async (name: string, documents: number, step: () => Promise<void>) => {
    report(await rated(name, documents, ofService, step))
  }
  await add('count of all documents', count, async () => {
    await countInPages(server, secret)
  })
  await add('adding an index', count, async () => {
    const index = {
      name: 'added',
      source: { collection: 'documents' },
      terms: [literal({ field: ['data', 'bucket'] })],
    }
    await query(server, secret, { create_index: literal(index) })
    await untilIdle(server)
  })
  await add('removing an index', count, async () => {
    await query(server, secret, { delete: { index: 'added' } })
    await untilIdle(server)
  })
  await fql(
    server,
    secret,
    `Collection.create({
      name: "side",
      fields: {
        key: { signature: "String" },
        group: { signature: "Int" },
        number: { signature: "Int" },
        bucket: { signature: "Int" },
        text: { signature: "String" }
      },
      indexes: { byBucket: { terms: [{ field: ".bucket" }] } }
    })`,
  )
  await add('creates of 250 in a query', side, () =>
    createSized(server, secret, { collection: 'side', from: 0, to: side }),
  )
  await add('a migration', side, async () => {
    await fql(
      server,
      secret,
      `Collection.byName("side")!.update({
        fields: { added: { signature: "Int", default: "1" } },
        migrations: [{ add: { field: ".added" } }, { backfill: { field: ".added", value: "1" } }]
      })`,
    )
    await untilIdle(server)
  })
  await add('dropping a collection', side, async () => {
    await fql(server, secret, 'Collection.byName("side")!.delete()')
    await untilIdle(server)
  })
  report(await measureImport(target, side))
  await query(server, secret, { delete: { collection: 'imported' } })
  await untilIdle(server)
  const folder = join(data, '..', 'size-export')
  report(
    await command('export', count, ['export', folder, '--url', server.url], {
      TERRARIUM_SECRET: server.rootSecret,
    }),
  )
  await rm(folder, { recursive: true, force: true })
}

/** A single query may not count a million documents: it exceeds the limit of compute operations. */
export async function countInPages(server: ServerProcess, secret: string): Promise<number> {
  const documents = { documents: { collection: 'documents' } }
  let total = 0
  let after: unknown
  do {
    const page = { paginate: documents, size: 100_000, ...(after === undefined ? {} : { after }) }
    const counted = {
      count: { count: { select: 'data', from: { var: 'page' } } },
      after: { select: 'after', from: { var: 'page' }, default: null },
    }
    const result = await query(server, secret, { let: { page }, in: literal(counted) })
    const { after: next, count } = result as { after: unknown; count: number }
    total += count
    after = next ?? undefined
  } while (after !== undefined)
  return total
}

/** Resolves when the service builds and removes nothing. */
export async function untilIdle(server: ServerProcess): Promise<void> {
  for (;;) {
    const health = await send(server, { method: 'GET', path: '/api/v1/health', secret: server.rootSecret })
    const { builds, removals } = (health.json as { work: { builds: readonly unknown[]; removals: number } })
      .work
    if (builds.length === 0 && removals === 0) return
    await wait(pollMs)
  }
}

/** Documents that expire, and the time from which the service removes them. */
interface Expiring {
  readonly count: number
  readonly removableMs: number
}

/** Creates documents whose ttl passes at once. Their removal begins when the grace period of the history has passed. */
export async function createExpiring({ secret, server }: SizeTarget, count: number): Promise<Expiring> {
  await fql(server, secret, 'Collection.create({ name: "expiring", history_days: 0 })')
  const ttl = { '@ts': new Date().toISOString() }
  await createSized(server, secret, { collection: 'expiring', from: 0, to: count, more: { ttl } })
  return { count, removableMs: Date.now() + retentionLimits.historyGraceMicros / 1000 }
}

/**
 * The removal of documents whose ttl has passed. Queries hide these documents at once, so the removal counts as complete
 * when the service no longer uses the processor.
 */
export async function measureExpiry(server: ServerProcess, expiring: Expiring): Promise<WorkRate> {
  const pids = () => processesOf(server.pid)
  await wait(Math.max(0, expiring.removableMs - Date.now()))
  let quietMs = 0
  const work = await rated('removal by ttl', expiring.count, pids, async () => {
    quietMs = await untilQuiet(pids)
  })
  const seconds = work.seconds - quietMs / 1000
  return { ...work, seconds, documentsPerSecond: expiring.count / seconds }
}

/** Longer than the interval at which the sweeper looks for expired documents. */
const quietEnoughMs = 5_000
/** Share of a processor, below that of a service with requests or background work. */
const quietShare = 0.05

/** Resolves after the processes have been quiet for some seconds, with this time in milliseconds. */
export async function untilQuiet(pids: () => readonly number[]): Promise<number> {
  const usedMs = () => pids().reduce((sum, pid) => sum + processorMs(pid), 0)
  let [used, quietSinceMs] = [usedMs(), performance.now()]
  for (;;) {
    await wait(pollMs * 5)
    const now = usedMs()
    if (now - used > pollMs * 5 * quietShare) quietSinceMs = performance.now()
    used = now
    const quietMs = performance.now() - quietSinceMs
    if (quietMs > quietEnoughMs) return quietMs
  }
}

/** `terrarium import` of a file with documents that have ids. */
async function measureImport({ data, server, secret }: SizeTarget, side: number): Promise<WorkRate> {
  const file = join(data, '..', 'size-import.json')
  const stream = createWriteStream(file)
  for (let n = 0; n < side; n++) {
    const row = JSON.stringify(sizedDocument(n))
    if (!stream.write(`${row}\n`)) await new Promise(resolve => stream.once('drain', resolve))
  }
  stream.end()
  await finished(stream)
  await fql(
    server,
    secret,
    'Collection.create({ name: "imported", indexes: { byBucket: { terms: [{ field: ".bucket" }] } } })',
  )
  const words = ['import', file, '--collection', 'imported', '--url', server.url, '--database', 'size']
  const result = await command('import', side, words, { TERRARIUM_SECRET: server.rootSecret })
  await rm(file)
  return result
}

/** Costs from the start of the process to the first response. */
export interface StartCost {
  readonly cpuMs: number
  readonly ms: number
}

/** Waits for the first response, and returns the costs with the running service. */
export async function measuredStart(
  start: () => Promise<ServerProcess>,
): Promise<{ readonly server: ServerProcess; readonly cost: StartCost }> {
  const fromMs = performance.now()
  const server = await start()
  await send(server, { secret: server.rootSecret, query: { add: [1, 2] } })
  const ms = performance.now() - fromMs
  return { server, cost: { ms, cpuMs: processorMs(server.pid) } }
}

/** Kinds of data by the first letter of the names of the store's trees. */
const parts: Readonly<Record<string, string>> = {
  D: 'documents',
  H: 'history',
  I: 'index entries',
  E: 'ended index entries',
  J: 'ended index entries',
  R: 'change log',
  C: 'change log',
}

/** Pages of the store, by part. The service must not run. */
export async function bytesByPart(data: string): Promise<Readonly<Record<string, number>>> {
  const store = open({ path: data, readOnly: true, maxDbs: 64 })
  const bytes: Record<string, number> = {}
  // Opening a tree ends the read transaction of an iteration, so the names are read first.
  for (const name of [...store.getKeys()]) {
    if (typeof name !== 'string' || !/^(?:[A-Z]\d+|other)$/.test(name)) continue
    const stats = store.openDB({ name, encoding: 'binary' }).getStats() as Record<string, number>
    const pages = ['treeBranchPageCount', 'treeLeafPageCount', 'overflowPages']
    const size = pages.reduce((sum, key) => sum + (stats[key] ?? 0), 0) * (stats.pageSize ?? 0)
    const part = parts[name[0] as string] ?? 'other'
    bytes[part] = (bytes[part] ?? 0) + size
  }
  await store.close()
  return bytes
}

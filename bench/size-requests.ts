// The requests of the case `size`: CPU time per request of the main thread and of the whole service, beside a control
// whose work does not depend on the data.

import { readdirSync, readFileSync } from 'node:fs'
import type { ServerProcess } from '../tests/support/server-process.ts'
import { Client, type Kind } from './client.ts'
import { literal } from './documents.ts'
import { median, processesOf, serverMs } from './measure.ts'
import { sizedDocument } from './size-data.ts'

/** Average costs of a request. */
export interface RequestCost {
  readonly name: string
  /** CPU microseconds of the main thread: the median of the rounds. */
  readonly mainMicros: number
  /** CPU microseconds of all threads and processes of the service. */
  readonly allMicros: number
  /** Bytes that each request writes to files, including the apply thread's writes to LMDB; 0 for reads. */
  readonly writtenBytes: number
}

export const reference = (n: number) => ({ ref: { collection: 'documents' }, id: String(n + 1) })

/** New documents get numbers above all loaded documents. */
const newFrom = 1_000_000_000

interface SizeKind extends Kind {
  readonly isWrite?: boolean
}

/** Returns the requests for a collection with `count` documents. */
function kindsFor(count: number, groupSize: number): readonly SizeKind[] {
  let created = 0
  let deleted = 0
  const group = (random: (below: number) => number) => random(Math.max(1, Math.floor(count / groupSize)))
  const newReference = (at: number) => reference(newFrom + at)
  return [
    { name: 'control', path: '/', body: () => ({ add: [1, 2] }) },
    { name: 'get', path: '/', body: random => ({ get: reference(random(count)) }) },
    {
      name: 'page of 64',
      path: '/',
      body: random => ({ paginate: { match: { index: 'by_group' }, terms: group(random) }, size: 64 }),
    },
    {
      name: 'first of an index (version 10)',
      path: '/query/1',
      body: random => ({ query: `documents.byBucket(${random(1000)}).first()?.number` }),
    },
    {
      name: 'get by the unique index',
      path: '/',
      body: random => ({
        get: { match: { index: 'by_key' }, terms: sizedDocument(random(count)).key },
      }),
    },
    {
      name: 'create',
      path: '/',
      isWrite: true,
      body: () => ({
        create: newReference(created),
        params: literal({ data: literal(sizedDocument(newFrom + created++)) }),
      }),
    },
    {
      name: 'update',
      path: '/',
      isWrite: true,
      body: random => ({
        update: reference(random(count)),
        params: literal({ data: literal({ number: random(count) }) }),
      }),
    },
    {
      name: 'delete',
      path: '/',
      isWrite: true,
      body: () => ({ delete: newReference(deleted++) }),
    },
  ]
}

const warmUpRequests = 2000
const requestsPerRound = 1000
const rounds = 5
/** More than the commit log's segments hold, so that the apply thread writes as in continuous operation. */
const writtenRequests = 10_000
/** More than the time after which the apply thread writes an incomplete segment. */
const idleMs = 6_000
const connections = 8

export async function measureRequests(
  server: ServerProcess,
  secret: string,
  { count, groupSize }: { count: number; groupSize: number },
): Promise<readonly RequestCost[]> {
  const client = new Client(server, secret, connections)
  const costs: RequestCost[] = []
  for (const kind of kindsFor(count, groupSize)) {
    await client.run(kind, warmUpRequests)
    const seen: Omit<RequestCost, 'name' | 'writtenBytes'>[] = []
    for (let round = 0; round < rounds; round++) seen.push(await measureRound(server, client, kind))
    costs.push({
      name: kind.name,
      mainMicros: median(seen.map(({ mainMicros }) => mainMicros)),
      allMicros: median(seen.map(({ allMicros }) => allMicros)),
      writtenBytes: kind.isWrite ? await measureWritten(server, client, kind) : 0,
    })
  }
  client.close()
  return costs
}

async function measureRound(server: ServerProcess, client: Client, kind: Kind) {
  const before = { main: mainThreadMs(server.pid), all: serverMs(server.pid) }
  await client.run(kind, requestsPerRound)
  return {
    mainMicros: ((mainThreadMs(server.pid) - before.main) * 1000) / requestsPerRound,
    allMicros: ((serverMs(server.pid) - before.all) * 1000) / requestsPerRound,
  }
}

/** Resolves with the bytes per request. All records of the commit log are applied before and after the requests. */
async function measureWritten(server: ServerProcess, client: Client, kind: Kind): Promise<number> {
  const written = async () => {
    await new Promise(resolve => setTimeout(resolve, idleMs))
    return processesOf(server.pid).reduce((sum, pid) => sum + fileBytesWritten(pid), 0)
  }
  const before = await written()
  await client.run(kind, writtenRequests)
  return ((await written()) - before) / writtenRequests
}

const nanosPerMs = 1e6

const mainThreadMs = (pid: number) => mainThreadTimes(pid).ranMs

/** Milliseconds that the main thread of the process has run so far, and those that it was ready but had no core. */
export function mainThreadTimes(pid: number): { readonly ranMs: number; readonly queuedMs: number } {
  const [ran, queued] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return { ranMs: (ran ?? 0) / nanosPerMs, queuedMs: (queued ?? 0) / nanosPerMs }
}

/**
 * Returns the bytes that the threads of the process, except the main thread, have passed to system calls so far. The
 * main thread writes to sockets. The counter `write_bytes` would count whole folios of the page cache, which Linux
 * makes larger than a page: on ext4 with Linux 6.18, it was 12 times the bytes that the disk received.
 */
function fileBytesWritten(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).filter(thread => thread !== `${pid}`)
  return threads.reduce((sum, thread) => sum + counterOf(`/proc/${pid}/task/${thread}/io`, 'wchar'), 0)
}

/** Bytes that the process has read from the disk so far; 0 if the process has exited. */
export const diskBytesRead = (pid: number): number => counterOf(`/proc/${pid}/io`, 'read_bytes')

function counterOf(path: string, counter: 'read_bytes' | 'wchar'): number {
  try {
    return Number(new RegExp(`^${counter}: (\\d+)$`, 'm').exec(readFileSync(path, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

// The requests of the case `size`: CPU time per request of the main thread and of the whole service, beside a control
// whose work does not depend on the data.

import { readFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import type { ServerProcess } from '../tests/support/server-process.ts'
import { literal } from './documents.ts'
import { median, processesOf, processorMs } from './measure.ts'
import { sizedDocument } from './size-data.ts'

/** Average costs of a request. */
export interface RequestCost {
  readonly name: string
  /** CPU microseconds of the main thread: the median of the rounds. */
  readonly mainMicros: number
  /** CPU microseconds of all threads and processes of the service. */
  readonly allMicros: number
  /** Bytes that each request writes to the disk; 0 for reads. */
  readonly writtenBytes: number
}

interface Kind {
  readonly name: string
  readonly path: '/' | '/query/1'
  readonly body: (random: (below: number) => number) => object
}

const reference = (n: number) => ({ ref: { collection: 'documents' }, id: String(n + 1) })

/** New documents get numbers above all loaded documents. */
const newFrom = 1_000_000_000

/** Returns the requests for a collection with `count` documents. */
function kindsFor(count: number, groupSize: number): readonly Kind[] {
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
      body: () => ({
        create: newReference(created),
        params: literal({ data: literal(sizedDocument(newFrom + created++)) }),
      }),
    },
    {
      name: 'update',
      path: '/',
      body: random => ({
        update: reference(random(count)),
        params: literal({ data: literal({ number: random(count) }) }),
      }),
    },
    { name: 'delete', path: '/', body: () => ({ delete: newReference(deleted++) }) },
  ]
}

const warmUpRequests = 2000
const requestsPerRound = 1000
const rounds = 5
const connections = 8

export async function measureRequests(
  server: ServerProcess,
  secret: string,
  { count, groupSize }: { count: number; groupSize: number },
): Promise<readonly RequestCost[]> {
  const client = new Client(server, secret)
  const costs: RequestCost[] = []
  for (const kind of kindsFor(count, groupSize)) {
    await client.run(kind, warmUpRequests)
    const seen: Omit<RequestCost, 'name'>[] = []
    for (let round = 0; round < rounds; round++) seen.push(await measureRound(server, client, kind))
    costs.push({
      name: kind.name,
      mainMicros: median(seen.map(({ mainMicros }) => mainMicros)),
      allMicros: median(seen.map(({ allMicros }) => allMicros)),
      writtenBytes: seen.reduce((sum, { writtenBytes }) => sum + writtenBytes, 0) / rounds,
    })
  }
  client.close()
  return costs
}

async function measureRound(server: ServerProcess, client: Client, kind: Kind) {
  const pids = processesOf(server.pid)
  const all = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0)
  const written = () => pids.reduce((sum, pid) => sum + writtenBytesOf(pid), 0)
  const before = { main: mainThreadMs(server.pid), all: all(), written: written() }
  await client.run(kind, requestsPerRound)
  return {
    mainMicros: ((mainThreadMs(server.pid) - before.main) * 1000) / requestsPerRound,
    allMicros: ((all() - before.all) * 1000) / requestsPerRound,
    writtenBytes: (written() - before.written) / requestsPerRound,
  }
}

const nanosPerMs = 1e6

function mainThreadMs(pid: number): number {
  const [ran] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(ran) / nanosPerMs
}

/** Returns the bytes that the process has passed to the disk so far. */
export function writtenBytesOf(pid: number): number {
  try {
    return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Sends requests on several connections, each after the previous response. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections })
  readonly #server: ServerProcess
  readonly #headers: Readonly<Record<string, string>>
  #seed = 1

  constructor(server: ServerProcess, secret: string) {
    this.#server = server
    this.#headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  }

  async run(kind: Kind, requests: number): Promise<void> {
    let left = requests
    const worker = async () => {
      while (left-- > 0) await this.#send(kind.path, JSON.stringify(kind.body(this.#random)))
    }
    await Promise.all(Array.from({ length: connections }, worker))
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Multiplicative congruential generator, modulus 2^31 - 1: every run sends the same requests. */
  readonly #random = (below: number) => {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647
    return this.#seed % below
  }

  #send(path: string, body: string): Promise<void> {
    const options = { agent: this.#agent, method: 'POST', headers: this.#headers }
    return new Promise((resolve, reject) => {
      const sent = httpRequest(new URL(path, this.#server.url), options, response => {
        let text = ''
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk
        })
        response.once('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve()
          else
            reject(new Error(`${path} ${body.slice(0, 200)}: ${response.statusCode} ${text.slice(0, 300)}`))
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }
}

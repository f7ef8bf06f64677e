// Attacks of one tenant for the case `neighbours`: each fills a shared limit of the service as far as it can, with many
// requests at once. The queries in worst-queries.ts run one after the other instead.

import { setMaxListeners } from 'node:events'
import { Agent, type ClientRequest, request as httpRequest } from 'node:http'
import { fql, keyOfNewDatabase, query } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import type { Times } from './neighbour-reader.ts'
import { readerOf } from './reader.ts'

/** The secrets of the attacking database. */
interface AttackSecrets {
  readonly admin: string
  /** The secret of a key with the role `client`, which has no rights. */
  readonly client: string
}

/** Counts of the answers to the attacker. */
interface AttackCounts {
  sent: number
  rejected: number
}

export interface AttackResult {
  readonly name: string
  /** Reads of another database during the attack, and in the seconds after its end. */
  readonly during: Times
  readonly after: Times
  readonly counts: AttackCounts
}

const measuredMs = 10_000
/** Time between the beginning of an attack and the measurement, in which the attacker sends its long bodies. */
const leadMs = 5000
/** The memory for queries. The long bodies of an attack exceed it, whatever the memory of the machine. */
const memoryFlags = ['--query-memory-mb', '256']

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Measures the reads of another database beside each attack; returns those without an attack. */
export async function measureAttacks(
  data: string,
  kinds: readonly string[] | undefined,
  onResult: (result: AttackResult) => void,
): Promise<Times> {
  const server = await startProcess({ data, flags: memoryFlags })
  try {
    const reader = await readerOf(server, 5)
    const measured = async () => {
      reader.begin()
      await wait(measuredMs)
      return reader.stop()
    }
    await measured()
    const alone = await measured()
    const secrets = {
      admin: await keyOfNewDatabase(server, 'attacker', 'admin'),
      client: await keyOfNewDatabase(server, 'attacker-of-clients', 'client'),
    }
    const chosen = attacks.filter(({ name }) => kinds?.some(word => name.includes(word)) ?? true)
    for (const { name, run } of chosen) {
      const stopping = new AbortController()
      setMaxListeners(0, stopping.signal)
      const counts = { sent: 0, rejected: 0 }
      const ended = run(server, secrets, counts, stopping.signal)
      await wait(leadMs)
      const during = await measured()
      stopping.abort()
      await ended
      onResult({ name, during, after: await measured(), counts })
    }
    await reader.close()
    return alone
  } finally {
    await server.stop()
  }
}

/** An attack. `run` sends requests until `signal` is aborted, and then closes its connections. */
interface Attack {
  readonly name: string
  readonly run: (
    server: ServerProcess,
    secrets: AttackSecrets,
    counts: AttackCounts,
    signal: AbortSignal,
  ) => Promise<void>
}

const longBodyBytes = 8_000_000
/** Number of requests with long bodies at once. Together, their bodies exceed the memory for queries. */
const longBodies = 33
const slowQueries = 3000
const streams = 3000

/** A query without reads that takes about a second. `padding` makes its body longer, which is short otherwise. */
function slowQuery(padding: number): Buffer {
  const mapped = (depth: number): object =>
    depth === 0
      ? { add: [1, 1] }
      : { map: { lambda: 'x', expr: mapped(depth - 1) }, collection: { var: 'a' } }
  const numbers = Array.from({ length: 15 }, (_, n) => n)
  return Buffer.from(
    JSON.stringify({
      let: [{ a: numbers }, { pad: 'x'.repeat(padding) }],
      in: { count: mapped(5) },
    }),
  )
}

/** The long bodies take the memory for queries, and the short ones take what the long ones leave. */
const fillingBodies = [
  [longBodyBytes, longBodies],
  [500_000, longBodies],
  [10_000, 100],
  [0, 200],
] as const

const attacks: readonly Attack[] = [
  {
    name: `${longBodies} bodies of 8 MB at once, then smaller ones, with a client key without rights`,
    async run(server, { client }, counts, signal) {
      await Promise.all(
        fillingBodies.flatMap(([padding, count]) => {
          const body = slowQuery(padding)
          return Array.from({ length: count }, () => repeat(server, client, body, counts, signal))
        }),
      )
    },
  },
  {
    name: `${longBodies} bodies of 8 MB that arrive slowly`,
    async run(server, { client }, counts, signal) {
      await Promise.all(
        Array.from({ length: longBodies }, () => repeatSlowly(server, client, counts, signal)),
      )
    },
  },
  {
    name: `${slowQueries} slow queries at once`,
    async run(server, { client }, counts, signal) {
      const body = slowQuery(0)
      await Promise.all(
        Array.from({ length: slowQueries }, () => repeat(server, client, body, counts, signal)),
      )
    },
  },
  {
    name: `${streams} event streams at once`,
    async run(server, { admin }, counts, signal) {
      await query(server, admin, { create_collection: { object: { name: 'streamed' } } })
      const source = await fql(server, admin, 'streamed.all().eventSource()')
      const body = Buffer.from(JSON.stringify({ token: tokenOf(source) }))
      await Promise.all(
        Array.from({ length: streams }, () => repeat(server, admin, body, counts, signal, '/stream/1')),
      )
    },
  },
]

function tokenOf(source: unknown): unknown {
  return typeof source === 'object' && source !== null && '@stream' in source ? source['@stream'] : source
}

/** Pause in milliseconds after a rejected request, as a client without backoff would make at least. */
const pauseMs = 20

/** Sends long bodies, a piece every 100 ms. */
async function repeatSlowly(
  server: ServerProcess,
  secret: string,
  counts: AttackCounts,
  signal: AbortSignal,
): Promise<void> {
  const first = Buffer.alloc(longBodyBytes - 1_000_000, ' ')
  const piece = Buffer.alloc(2000, ' ')
  const headers = { authorization: `Bearer ${secret}`, 'content-length': longBodyBytes }
  while (!signal.aborted) {
    counts.sent++
    const status = await new Promise<number | undefined>(resolve => {
      const sent = httpRequest(new URL('/', server.url), { method: 'POST', headers, signal }, response => {
        response.resume()
        resolve(response.statusCode)
      })
      const timer = setInterval(() => sent.write(piece), 100)
      sent.once('close', () => {
        clearInterval(timer)
        resolve(undefined)
      })
      sent.once('error', () => undefined)
      sent.write(first)
    })
    if (status !== 200 && !signal.aborted) counts.rejected++
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
}

async function repeat(
  server: ServerProcess,
  secret: string,
  body: Buffer,
  counts: AttackCounts,
  signal: AbortSignal,
  path = '/',
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  while (!signal.aborted) {
    counts.sent++
    const status = await sendOnce(server, agent, secret, body, signal, path)
    if (status === 200) continue
    if (!signal.aborted) counts.rejected++
    await new Promise(resolve => setTimeout(resolve, pauseMs))
  }
  agent.destroy()
}

/** Resolves with the status; undefined if the connection has failed. */
function sendOnce(
  server: ServerProcess,
  agent: Agent,
  secret: string,
  body: Buffer,
  signal: AbortSignal,
  path: string,
): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'x-faunadb-api-version': '4',
    'x-query-timeout': '30000',
    'content-length': body.length,
  }
  return new Promise(resolve => {
    const sent: ClientRequest = httpRequest(
      new URL(path, server.url),
      { method: 'POST', agent, headers, signal },
      response => {
        response.resume()
        response.once('end', () => resolve(response.statusCode))
        response.once('error', () => resolve(undefined))
      },
    )
    sent.once('error', () => resolve(undefined))
    sent.end(body)
  })
}

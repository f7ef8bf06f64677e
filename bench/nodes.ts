// The case `nodes`: compares a service over PostgreSQL, with one node and with two, with the same service on its own
// data directory. PostgreSQL runs on this machine with its default durability, so all share the same cores and disk.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keyOfNewDatabase, query, send } from '../tests/support/http.ts'
import { PostgresServer } from '../tests/support/postgres.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { cases } from './cases.ts'
import { createSchema, loadDocuments } from './documents.ts'
import { type LoadResult, measure, memoryMebibytes, post } from './measure.ts'
import { line } from './report.ts'

export interface NodesOptions {
  readonly folder: string
  readonly connections: number
  readonly seconds: number
  readonly warmupSeconds: number
  /** The number of documents that the cases read. */
  readonly documents: number
  /** Documents that a new node copies, including those that the cases read. */
  readonly copied: number
}

/** Results of one kind of service. */
type Results = Readonly<Record<'get' | 'page' | 'create' | 'write', LoadResult>>

const updates = 400
const updateEveryMs = 15

export async function measureNodes(options: NodesOptions): Promise<void> {
  console.log('\nnodes: one process over its folder, beside one node and two over a local PostgreSQL')
  const root = await mkdtemp(join(options.folder, 'terrarium-bench-'))
  const postgres = await PostgresServer.start({ durable: true })
  const env = { TERRARIUM_STORE: postgres.url() }
  try {
    const alone = await startProcess({ data: await newFolder(root) })
    const embedded = await loaded(alone, options)
    const embeddedResults = await measureAll(alone, embedded, options, 'embedded')
    await alone.stop()
    const node = await startProcess({ data: await newFolder(root), env })
    const shared = await loaded(node, options)
    const one = await measureAll(node, shared, options, 'one node', embeddedResults)
    const other = await startProcess({ data: await newFolder(root), env })
    await measureAll(other, shared, options, 'the second of two', embeddedResults)
    await measureTwo([node, other], shared, options, embeddedResults, one)
    await measureLag('idle', node, other, shared.secret)
    const load = measure({ ...planOf(node, shared, 'create', options), seconds: 8, connections: 8 })
    await measureLag('beside 8 connections that create', node, other, shared.secret)
    await load
    await other.stop()
    await measureCopy(node, shared.secret, root, env, options)
    await node.stop()
  } finally {
    await postgres.stop()
    await rm(root, { recursive: true, force: true })
  }
}

const newFolder = (root: string) => mkdtemp(join(root, 'data-'))

interface Subject {
  readonly secret: string
  readonly ids: readonly string[]
}

async function loaded(server: ServerProcess, { documents }: NodesOptions): Promise<Subject> {
  const secret = await keyOfNewDatabase(server, 'bench', 'admin')
  await createSchema(server.url, secret)
  return { secret, ids: await loadDocuments(server.url, secret, 0, documents) }
}

function planOf(
  server: ServerProcess,
  { ids, secret }: Subject,
  name: string,
  { connections, seconds, warmupSeconds }: NodesOptions,
) {
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  const found = cases.find(each => each.name === name)
  if (found === undefined) throw new Error(`there is no case ${name}`)
  const requests = found.requests({ ids }).map(request => post('/', request.query, headers))
  const port = Number(new URL(server.url).port)
  return { port, requests, connections, seconds, warmupSeconds, pids: [server.pid] }
}

async function measureAll(
  server: ServerProcess,
  subject: Subject,
  options: NodesOptions,
  title: string,
  beside?: Results,
): Promise<Results> {
  const results: Partial<Record<keyof Results, LoadResult>> = {}
  for (const name of ['get', 'page', 'create', 'write'] as const) {
    // A single connection: the latency of `write` is the time of a commit without contention.
    const isSingle = name === 'write'
    const plan = planOf(server, subject, isSingle ? 'create' : name, options)
    const result = await measure(isSingle ? { ...plan, connections: 1 } : plan)
    results[name] = result
    console.log(`${line(`${name}, ${title}`, result)}${shareOf(result, beside?.[name])}`)
  }
  return results as Results
}

function shareOf(result: LoadResult, beside: LoadResult | undefined): string {
  if (beside === undefined) return ''
  return `   ${(result.requestsPerSecond / beside.requestsPerSecond).toFixed(2)} of embedded`
}

/** Measures two services at the same time. Each gets half of the connections. */
async function measureTwo(
  nodes: readonly ServerProcess[],
  subject: Subject,
  options: NodesOptions,
  embedded: Results,
  one: Results,
): Promise<void> {
  const connections = Math.max(1, Math.floor(options.connections / nodes.length))
  for (const name of ['get', 'create'] as const) {
    const results = await Promise.all(
      nodes.map(node => measure({ ...planOf(node, subject, name, options), connections })),
    )
    const total = results.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0)
    const p99 = Math.max(...results.map(({ p99Micros }) => p99Micros))
    const share = (other: LoadResult) => (total / other.requestsPerSecond).toFixed(2)
    console.log(
      `${`${name}, two nodes at once`.padEnd(26)} ${Math.round(total).toLocaleString('en').padStart(9)} together, p99 ${(p99 / 1000).toFixed(1)} ms   ${share(embedded[name])} of embedded, ${share(one[name])} of one node`,
    )
  }
}

/** Measures the time between the acknowledgement of a write by one node and the arrival of its event from the other. */
async function measureLag(
  when: string,
  writer: ServerProcess,
  reader: ServerProcess,
  secret: string,
): Promise<void> {
  const made = (await query(writer, secret, {
    create: { collection: 'documents' },
    params: { object: { data: { object: { n: 0 } } } },
  })) as { readonly ref: unknown; readonly ts: number }
  const arrivals = new Map<number, number>()
  const controller = new AbortController()
  const response = await fetch(`${reader.url}/stream`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'x-faunadb-api-version': '4',
      'x-last-seen-txn': String(made.ts),
    },
    body: JSON.stringify(made.ref),
    signal: controller.signal,
  })
  const reading = noteArrivals(response, arrivals).catch(() => undefined)
  const acknowledged = new Map<number, number>()
  for (let n = 1; n <= updates; n++) {
    const update = { update: made.ref, params: { object: { data: { object: { n } } } } }
    const { json, status } = await send(writer, { secret, query: update })
    if (status !== 200) throw new Error(`an update got status ${status}`)
    acknowledged.set((json as { resource: { ts: number } }).resource.ts, performance.now())
    await new Promise(resolve => setTimeout(resolve, updateEveryMs))
  }
  const deadline = performance.now() + 5_000
  while (arrivals.size < updates && performance.now() < deadline)
    await new Promise(resolve => setTimeout(resolve, 20))
  controller.abort()
  await reading
  const lags = [...acknowledged]
    .map(([ts, at]) => Math.max(0, (arrivals.get(ts) ?? Number.POSITIVE_INFINITY) - at))
    .toSorted((left, right) => left - right)
  const at = (share: number) => (lags[Math.floor(lags.length * share)] ?? 0).toFixed(1)
  console.log(`lag of the other node, ${when}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(0.9999)} ms`)
}

async function noteArrivals(response: Response, arrivals: Map<number, number>): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) {
      if (text.trim() === '') continue
      const { txn, type } = JSON.parse(text) as { readonly txn: number; readonly type: string }
      if (type === 'version') arrivals.set(txn, performance.now())
    }
  }
}

/** Measures the time until a new node serves: it copies the state and catches up. */
async function measureCopy(
  node: ServerProcess,
  secret: string,
  root: string,
  env: Readonly<Record<string, string>>,
  { copied, documents }: NodesOptions,
): Promise<void> {
  await loadDocuments(node.url, secret, documents, copied)
  const data = await newFolder(root)
  const began = performance.now()
  const fresh = await startProcess({ data, env })
  const seconds = (performance.now() - began) / 1000
  const { own, peak } = memoryMebibytes(fresh.pid)
  const rate = Math.round(copied / seconds).toLocaleString('en')
  console.log(
    `a new node copies at least ${copied} documents and serves after ${seconds.toFixed(1)} s: ${rate} a second; memory of its own ${own.toFixed(0)} MiB, at most ${peak.toFixed(0)} MiB with the mapped file`,
  )
  await fresh.stop()
}

// Several real nodes over a real PostgreSQL, started the way an operator does, and clients that note what they were told.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { after, before, describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/app/config/read-config.ts'
import { checkShared, isShared } from '../../src/cli/shared-store.ts'
import { eventually } from '../support/eventually.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { query, send } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { temporaryFolder } from '../support/program.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { shared } from '../support/shared.ts'

/** Milliseconds after which the database takes the head from a process that stands still; short, or tests would wait. */
const holdMs = 700
/** Milliseconds after which a node gives a write up whose outcome the database does not tell. */
const writeWaitMs = patience(6_000)

/** How a node is started. */
export interface NodeOptions {
  /** The folder of a node before it. */
  readonly data?: string
  readonly flags?: readonly string[]
  /** A module, by its path from this one, preloaded into its processes. */
  readonly preload?: string
  readonly env?: Readonly<Record<string, string>>
  /** See `ProcessOptions`. */
  readonly onStderr?: (text: string) => void
}

/** A node, behind a proxy of its own. */
export interface Node extends ServerProcess {
  readonly proxy: FaultyProxy
}

/** What a client was told of a write. */
type Told = 'acknowledged' | 'refused'

let clusters = 0

export class Cluster {
  postgres: PostgresServer
  readonly schema = `nodes_${++clusters}`
  /** What clients were told of each operation. */
  readonly told = new Map<string, Told>()
  secret = ''
  readonly #nodes = new Set<Node>()
  readonly #folders = new Set<string>()
  readonly #proxies = new Set<FaultyProxy>()
  #operations = 0
  /** When all that {@link prepare} makes was there; the nodes may lag behind each other. */
  #prepared = ''

  constructor(postgres: PostgresServer) {
    this.postgres = postgres
  }

  get #url(): string {
    return this.postgres.url()
  }

  /** Starts a node; resolves when it serves. */
  async start(options: NodeOptions = {}): Promise<Node> {
    const proxy = await FaultyProxy.to(this.postgres.port)
    this.#proxies.add(proxy)
    const data = options.data ?? (await temporaryFolder())
    this.#folders.add(data)
    const preload = options.preload && fileURLToPath(new URL(options.preload, import.meta.url))
    const server = await startProcess({
      data,
      ...(options.onStderr && { onStderr: options.onStderr }),
      flags: ['--store-schema', this.schema, '--store-hold-ms', `${holdMs}`, ...(options.flags ?? [])],
      env: {
        TERRARIUM_STORE: this.#url.replace(`:${this.postgres.port}/`, `:${proxy.port}/`),
        TERRARIUM_STORE_WRITE_WAIT_MS: `${writeWaitMs}`,
        ...(preload && { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}` }),
        ...options.env,
      },
    })
    const node = { ...server, proxy }
    this.#nodes.add(node)
    return node
  }

  /** Makes the collections that {@link write} needs, and a key for the clients. */
  async prepare(node: Node): Promise<void> {
    await query(node, node.rootSecret, { create_database: { object: { name: 'app' } } })
    const key = { create_key: { object: { database: { database: 'app' }, role: 'admin' } } }
    this.secret = ((await query(node, node.rootSecret, key)) as { secret: string }).secret
    for (const name of ['counters', 'operations'])
      await query(node, this.secret, { create_collection: { object: { name } } })
    const fields = [{ object: { field: ['data', 'name'] } }]
    const index = { name: 'by_name', source: { collection: 'operations' }, terms: fields, unique: true }
    await query(node, this.secret, { create_index: { object: index } })
    const all = { name: 'all_operations', source: { collection: 'operations' }, values: fields }
    await query(node, this.secret, { create_index: { object: all } })
    const counter = { create: counterRef, params: { object: { data: { object: { count: 0 } } } } }
    const { headers } = await send(node, { secret: this.secret, query: counter })
    this.#prepared = headers.get('x-txn-time') as string
  }

  /** Adds one to a counter and creates a document with a name of its own, in one transaction. */
  async write(node: Node): Promise<Told> {
    const name = `operation ${++this.#operations}`
    const headers = { 'x-last-seen-txn': this.#prepared }
    const answer = await send(node, { secret: this.secret, query: countedCreate(name), headers }).catch(
      () => undefined,
    )
    if (answer) assert.ok([200, 201, 409, 503].includes(answer.status), answer.text)
    const told = answer !== undefined && answer.status < 300 ? 'acknowledged' : 'refused'
    this.told.set(name, told)
    return told
  }

  /** Writes from `clients` clients of a node until `isOver`; resolves with how many were acknowledged. */
  async load(node: Node, clients: number, isOver: () => boolean): Promise<number> {
    let acknowledged = 0
    const client = async () => {
      while (!isOver()) {
        if ((await this.write(node)) === 'acknowledged') acknowledged++
        else await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
    return acknowledged
  }

  /** Writes from both nodes, before, during and after `fault`, until some are acknowledged again. */
  async underLoad(a: Node, b: Node, fault: () => Promise<void>): Promise<void> {
    let isOver = false
    const loads = Promise.all([this.load(a, 3, () => isOver), this.load(b, 3, () => isOver)])
    const count = () => [...this.told.values()].filter(told => told === 'acknowledged').length
    try {
      await eventually('some writes are acknowledged', () => count() >= 10)
      await fault()
      const soFar = count()
      await eventually('writes are acknowledged again', () => count() >= soFar + 10)
    } finally {
      isOver = true
      await loads
    }
  }

  /** Every acknowledged write is there exactly once, on every node; every copy is sound and the same as the record. */
  async verify(...nodes: readonly Node[]): Promise<void> {
    for (const node of nodes) {
      const found = await this.#operationsOn(node)
      assert.equal(new Set(found).size, found.length, 'an operation is there twice')
      assert.equal(await this.count(node), found.length, 'the counter and the operations differ')
      for (const [name, told] of this.told)
        if (told === 'acknowledged') assert.ok(found.includes(name), `${name} was acknowledged and is lost`)
    }
    for (const { data } of nodes) await this.check(data)
  }

  /** What `terrarium check` does with a node's copy and the record. */
  async check(data: string): Promise<void> {
    const env = {
      TERRARIUM_DATA: data,
      TERRARIUM_STORE: this.#url,
      TERRARIUM_STORE_SCHEMA: this.schema,
    }
    const config = readConfig(new Map(), env)
    assert.ok(isShared(config))
    const { comparedAt, contradictions } = await checkShared(config)
    assert.deepEqual(contradictions, [])
    assert.ok(comparedAt !== undefined, 'the copy was compared with the record')
  }

  /** The counter, as a node sees it after looking at the head. */
  async count(node: Node): Promise<number> {
    const read = { select: ['data', 'count'], from: { get: counterRef } }
    const answer = await send(node, { secret: this.secret, query: read, path: '/linearized' })
    assert.equal(answer.status, 200, answer.text)
    return (answer.json as { resource: number }).resource
  }

  /** Leads all nodes to another server, as an address that moves would. */
  moveTo(postgres: PostgresServer): void {
    this.postgres = postgres
    for (const proxy of this.#proxies) proxy.redirect(postgres.port)
  }

  /** Kills whatever still runs and removes the folders. */
  async end(): Promise<void> {
    for (const node of this.#nodes) {
      spawnSync('kill', ['-CONT', String(node.pid)])
    }
    await Promise.all([...this.#nodes].map(node => node.kill()))
    await Promise.all([...this.#proxies].map(proxy => proxy.close()))
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }

  /** Kills a node, as a crash would. */
  async kill(node: Node): Promise<void> {
    await node.kill()
    this.#nodes.delete(node)
  }

  /** Stops a node, as an operator would. */
  async stop(node: Node): Promise<void> {
    await node.stop()
    this.#nodes.delete(node)
  }

  async #operationsOn(node: Node): Promise<string[]> {
    const page = { paginate: { match: { index: 'all_operations' } }, size: 100_000 }
    const answer = await send(node, { secret: this.secret, query: page, path: '/linearized' })
    assert.equal(answer.status, 200, answer.text)
    return (answer.json as { resource: { data: string[] } }).resource.data
  }
}

/** Two nodes of a cluster over a database of their own. A test that starts a node anew puts it in the place of the one before. */
export interface TwoNodes {
  postgres: PostgresServer
  cluster: Cluster
  a: Node
  b: Node
}

const sharedPostgres = shared(
  () => PostgresServer.start(),
  postgres => postgres.stop(),
)

/** What a suite over two nodes runs on. */
export interface NodesOptions {
  readonly a?: NodeOptions
  readonly b?: NodeOptions
  /** A PostgreSQL of the suite's own, for suites that stop, fill, delay or measure it. */
  readonly hasOwnPostgres?: boolean
}

/** A suite over two nodes, which run for all of its tests; it is skipped where there is no PostgreSQL. */
export function describeNodes(
  name: string,
  body: (nodes: TwoNodes) => void,
  { a = {}, b = {}, hasOwnPostgres = false }: NodesOptions = {},
): void {
  describe(name, { skip: noPostgres }, () => {
    // Filled before the first test runs.
    const nodes = {} as TwoNodes
    before(async () => {
      nodes.postgres = await (hasOwnPostgres ? PostgresServer.start() : sharedPostgres())
      nodes.cluster = new Cluster(nodes.postgres)
      ;[nodes.a, nodes.b] = await Promise.all([nodes.cluster.start(a), nodes.cluster.start(b)])
      await nodes.cluster.prepare(nodes.a)
    })
    body(nodes)
    // Hooks of `body` run before this one: they end what needs the nodes.
    after(async () => {
      await nodes.cluster.end()
      if (hasOwnPostgres) await nodes.postgres.stop()
    })
  })
}

const counterRef = { ref: { collection: 'counters' }, id: '1' }

function countedCreate(name: string): unknown {
  const count = { add: [1, { select: ['data', 'count'], from: { get: counterRef } }] }
  return {
    do: [
      { update: counterRef, params: { object: { data: { object: { count } } } } },
      { create: { collection: 'operations' }, params: { object: { data: { object: { name } } } } },
    ],
  }
}

// Several real nodes over a real PostgreSQL, started as an operator does, and clients that record the responses.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { after, before, describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../src/app/config/read-config.ts'
import { checkShared, isShared } from '../../src/cli/shared-store.ts'
import { eventually } from '../support/eventually.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { type HttpAnswer, type HttpRequest, query, send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { temporaryFolder } from '../support/program.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { shared } from '../support/shared.ts'

/**
 * Milliseconds after which the database takes the head from a stalled process; short, so that tests do not wait long.
 */
const holdMs = 700
/**
 * Milliseconds after which a node rejects a write that the database does not accept. PostgreSQL takes that long on no
 * machine.
 */
const writeWaitMs = 60_000

/** For nodes whose database accepts no writes on purpose, so that the test does not wait long for the rejections. */
export const shortWriteWait = { TERRARIUM_STORE_WRITE_WAIT_MS: '6000' } as const

export interface NodeOptions {
  /** The data directory of an earlier node. */
  readonly data?: string
  readonly flags?: readonly string[]
  /** A module to preload into the processes, by its path relative to this file. */
  readonly preload?: string
  readonly env?: Readonly<Record<string, string>>
  /** See `ProcessOptions`. */
  readonly onStderr?: (text: string) => void
}

/** A node with its own proxy to PostgreSQL. */
export interface Node extends ServerProcess {
  readonly proxy: FaultyProxy
}

/** The response to a write. */
type WriteOutcome = 'acknowledged' | 'rejected'

let clusters = 0

export class Cluster {
  postgres: PostgresServer
  readonly schema = `nodes_${++clusters}`
  /** The outcome of each operation, as reported to its client. */
  readonly outcomes = new Map<string, WriteOutcome>()
  secret = ''
  readonly #nodes = new Set<Node>()
  readonly #folders = new Set<string>()
  readonly #proxies = new Set<FaultyProxy>()
  #operations = 0
  /** A time at which everything from {@link prepare} exists; the nodes may lag behind each other. */
  #prepared = ''

  constructor(postgres: PostgresServer) {
    this.postgres = postgres
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
        TERRARIUM_STORE: this.postgres.url().replace(`:${this.postgres.port}/`, `:${proxy.port}/`),
        TERRARIUM_STORE_WRITE_WAIT_MS: `${writeWaitMs}`,
        ...(preload && { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}` }),
        ...options.env,
      },
    })
    const node = { ...server, proxy }
    this.#nodes.add(node)
    return node
  }

  /** Creates the collections that {@link write} needs, and a key for the clients. */
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

  /** Increments a counter and creates a document with a unique name, in one transaction. */
  async write(node: Node, more: Readonly<Record<string, string>> = {}): Promise<WriteOutcome> {
    const name = `operation ${++this.#operations}`
    const headers = { 'x-last-seen-txn': this.#prepared, ...more }
    const answer = await send(node, { secret: this.secret, query: countedCreate(name), headers }).catch(
      () => undefined,
    )
    if (answer) assert.ok([200, 201, 409, 503].includes(answer.status), answer.text)
    const told = answer !== undefined && answer.status < 300 ? 'acknowledged' : 'rejected'
    this.outcomes.set(name, told)
    return told
  }

  /** Writes until a write is acknowledged. */
  async untilAcknowledged(node: Node): Promise<void> {
    await eventually('the node accepts writes', async () => (await this.write(node)) === 'acknowledged')
  }

  /** Writes with `clients` clients to a node until `isOver`; resolves with the number of acknowledged writes. */
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

  /** Writes to both nodes before, during and after `fault`, until some writes are acknowledged again. */
  async underLoad(a: Node, b: Node, fault: () => Promise<void>): Promise<void> {
    let isOver = false
    const loads = Promise.all([this.load(a, 3, () => isOver), this.load(b, 3, () => isOver)])
    const count = () => [...this.outcomes.values()].filter(told => told === 'acknowledged').length
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

  /**
   * Verifies that every acknowledged write exists exactly once on every node, and that every replica matches the
   * record.
   */
  async verify(...nodes: readonly Node[]): Promise<void> {
    for (const node of nodes) {
      const found = await this.#operationsOn(node)
      assert.equal(new Set(found).size, found.length, 'an operation exists twice')
      assert.equal(await this.count(node), found.length, 'the counter and the operations differ')
      for (const [name, told] of this.outcomes)
        if (told === 'acknowledged') assert.ok(found.includes(name), `${name} was acknowledged and is lost`)
    }
    for (const { data } of nodes) await this.check(data)
  }

  /** Runs `terrarium check` on a node's replica and the record. */
  async check(data: string): Promise<void> {
    const env = {
      TERRARIUM_DATA: data,
      TERRARIUM_STORE: this.postgres.url(),
      TERRARIUM_STORE_SCHEMA: this.schema,
    }
    const config = readConfig(new Map(), env)
    assert.ok(isShared(config))
    const { comparedAt, contradictions } = await checkShared(config)
    assert.deepEqual(contradictions, [])
    assert.ok(comparedAt !== undefined, 'the replica was compared with the record')
  }

  /** The counter on a node, after the node has read the head. */
  async count(node: Node): Promise<number> {
    const read = { select: ['data', 'count'], from: { get: counterRef } }
    return (await this.#readLinearized(node, read)) as number
  }

  /** Connects all nodes to another server, as if an address had moved. */
  moveTo(postgres: PostgresServer): void {
    this.postgres = postgres
    for (const proxy of this.#proxies) proxy.redirect(postgres.port)
  }

  /** Kills all running nodes and removes the folders. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes) {
      spawnSync('kill', ['-CONT', String(node.pid)])
    }
    await Promise.all([...this.#nodes].map(node => node.kill()))
    await Promise.all([...this.#proxies].map(proxy => proxy.close()))
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }

  /** Kills a node, like a crash. */
  async kill(node: Node): Promise<void> {
    await node.kill()
    this.#nodes.delete(node)
  }

  /** Stops a node, as an operator does. */
  async stop(node: Node): Promise<void> {
    await node.stop()
    this.#nodes.delete(node)
  }

  async #operationsOn(node: Node): Promise<string[]> {
    const page = { paginate: { match: { index: 'all_operations' } }, size: 100_000 }
    return ((await this.#readLinearized(node, page)) as { data: string[] }).data
  }

  async #readLinearized(node: Node, expression: unknown): Promise<unknown> {
    const request = { secret: this.secret, query: expression, path: '/linearized' }
    const answer = await sendUntilServed(node, request)
    assert.equal(answer.status, 200, answer.text)
    return (answer.json as { resource: unknown }).resource
  }
}

/**
 * Sends a read that needs the newest state until the response is not 503: on a busy machine, PostgreSQL may not respond
 * to the node in time.
 */
export async function sendUntilServed(node: Pick<Node, 'url'>, request: HttpRequest): Promise<HttpAnswer> {
  for (;;) {
    const answer = await send(node, request)
    if (answer.status !== 503) return answer
  }
}

/** Two nodes of a cluster over a database of their own. A test that restarts a node replaces the old one here. */
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

/** Options of a suite with two nodes. */
export interface NodesOptions {
  readonly a?: NodeOptions
  readonly b?: NodeOptions
  /** A PostgreSQL of the suite's own, for suites that stop, fill, delay or measure it. */
  readonly hasOwnPostgres?: boolean
}

/** A suite with two nodes, which run for all of its tests. It is skipped without PostgreSQL. */
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
    // Hooks of `body` run before this one, and end what needs the nodes.
    after(async () => {
      await nodes.cluster[Symbol.asyncDispose]()
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

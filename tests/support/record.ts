// Records (the tables of a store in PostgreSQL), and nodes over them in the test's own process.

import assert from 'node:assert/strict'
import { afterEach, beforeEach } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { epoch } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import { systemTimers } from '../../src/base/timers.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { copyState } from '../../src/storage/postgres/copy-state.ts'
import { openPostgres, type PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { PostgresSession, type RecordLocation } from '../../src/storage/postgres/postgres-session.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'
import { FaultyProxy } from './faulty-proxy.ts'
import { noPostgres, PostgresServer } from './postgres.ts'
import { serviceOfFile } from './service-of-file.ts'

type NodeOptions = Parameters<typeof openPostgres>[0]

/** A server for all tests of a file or suite, which must be skipped without PostgreSQL. */
export function postgresOfFile(): PostgresServer {
  return serviceOfFile(async () => (noPostgres === undefined ? PostgresServer.start() : undefined))
}

/** Copies a record to a replica in memory, in the same way as a node does. Creates the tables if they are missing. */
export async function copyOf(location: RecordLocation): Promise<KeyValueStore> {
  const local = openMemory()
  const session = await PostgresSession.open(location, 'copy')
  await openTables(session, systemRandom)
  await copyState(session, local, 'copy', () => undefined)
  session.close()
  return local
}

/** Opens the store of a node, by default over a new copy of the record. */
export async function openTestNode(
  location: RecordLocation,
  options: Partial<NodeOptions> = {},
): Promise<PostgresStore & AsyncDisposable> {
  const store = await openPostgres({
    location,
    local: options.local ?? (await copyOf(location)),
    node: 'a',
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    newestTime: () => epoch,
    onDiverged: reason => assert.fail(reason),
    ...options,
  })
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

let records = 0

/** A new record for each test, and a proxy to its server. Its nodes and sessions are closed after the test. */
export class TestRecord {
  readonly server: PostgresServer
  readonly #opened: { close(): void | Promise<void> }[] = []
  proxy!: FaultyProxy
  location!: RecordLocation
  /** The nodes of the test, in the order in which they were opened. */
  nodes: PostgresStore[] = []

  constructor(server: PostgresServer) {
    this.server = server
  }

  get schema(): string {
    return this.location.schema
  }

  /** The location through the proxy. */
  get proxied(): RecordLocation {
    const url = this.location.url.replace(`:${this.server.port}/`, `:${this.proxy.port}/`)
    return { ...this.location, url }
  }

  async session(location = this.location): Promise<PostgresSession> {
    const session = await PostgresSession.open(location, 'tests')
    this.#opened.push(session)
    return session
  }

  async node(node: string, options: Partial<NodeOptions> = {}): Promise<PostgresStore> {
    const store = await openTestNode(options.location ?? this.location, { ...options, node })
    this.#opened.push(store)
    this.nodes.push(store)
    return store
  }

  async begin(): Promise<void> {
    this.proxy = await FaultyProxy.to(this.server.port)
    this.location = { url: this.server.url(), schema: `record_${++records}` }
    this.nodes = []
    await PostgresSession.use(this.location, 'tests', session => openTables(session, systemRandom))
  }

  /** The proxy is closed first, because nodes without responses cannot be closed before. */
  async end(): Promise<void> {
    await this.proxy.close()
    await Promise.all(this.#opened.splice(0).map(each => each.close()))
  }
}

/** Call this at the top of a file or suite, which must be skipped without PostgreSQL. */
export function recordOfTest(): TestRecord {
  const record = new TestRecord(postgresOfFile())
  beforeEach(() => record.begin())
  afterEach(() => record.end())
  return record
}

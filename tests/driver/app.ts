// Runs an application with the unmodified npm driver against a started server. Every test gets its own database and
// runs twice: over HTTP/2, the driver's default, and over HTTP/1.1 with `fetch`.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { ReadableStream as WebStream } from 'node:stream/web'
import { test } from 'node:test'
import faunadb from 'faunadb'
import { patience } from '../support/patience.ts'
import { type RunningServer, type ServerOptions, serverOfFile } from '../support/server.ts'

export const { query: q, errors, values } = faunadb

export type Client = faunadb.Client
export type Ref = faunadb.values.Ref

const transports = ['HTTP/2', 'HTTP/1.1'] as const
type Transport = (typeof transports)[number]

/** A document in the driver's form. */
export interface Document {
  readonly ref: Ref
  readonly ts: number
  readonly data: Record<string, unknown>
}
/** A new key or token with its secret. */
export interface WithSecret extends Document {
  readonly secret: string
}
/** A page in the driver's form. */
export interface Page<T> {
  readonly data: readonly T[]
  readonly after?: unknown
  readonly before?: unknown
}

/**
 * Adapts the platform's `fetch` to the driver, which has its own type of abort signals and reads streams as Node
 * streams.
 */
async function fetchForDriver(url: string, init: RequestInit & { agent?: unknown }): Promise<unknown> {
  const controller = new AbortController()
  const signal = init.signal
  if (signal?.aborted) controller.abort()
  signal?.addEventListener('abort', () => controller.abort())
  const { method, headers, body } = init
  const response = await fetch(url, { method, headers, body, signal: controller.signal })
  if (!url.includes('/stream')) return response
  const stream = response.body ? Readable.fromWeb(response.body as WebStream) : Readable.from([])
  return {
    ok: response.ok,
    status: response.status,
    headers: response.headers,
    body: stream,
    text: async () => (await Array.fromAsync(stream)).join(''),
  }
}

/** A database of a server, with clients. */
export class App {
  readonly server: RunningServer
  readonly name: string
  readonly transport: Transport
  readonly #clients = new Set<Client>()
  readonly #secrets = new Map<string, string>()

  constructor(server: RunningServer, name: string, transport: Transport) {
    this.server = server
    this.name = name
    this.transport = transport
  }

  /** A client with a secret. It is closed with the app. */
  client(secret: string, options: Partial<faunadb.ClientConfig> = {}): Client {
    const { hostname, port } = new URL(this.server.url)
    const client = new faunadb.Client({
      scheme: 'http',
      domain: hostname,
      port: Number(port),
      secret,
      ...(this.transport === 'HTTP/1.1' ? { fetch: fetchForDriver as unknown as typeof fetch } : {}),
      ...options,
    })
    this.#clients.add(client)
    return client
  }

  root(): Client {
    return this.client(this.server.rootSecret)
  }

  /** A client with a key for a role in the app's own database. */
  async as(role: 'admin' | 'server' | 'server-readonly' | 'client'): Promise<Client> {
    let secret = this.#secrets.get(role)
    if (secret === undefined) {
      const key = await this.root().query<WithSecret>(q.CreateKey({ database: q.Database(this.name), role }))
      secret = key.secret
      this.#secrets.set(role, secret)
    }
    return this.client(secret)
  }

  /** Closes a client early. Closing it a second time would wait forever in the driver. */
  async closeClient(client: Client): Promise<void> {
    this.#clients.delete(client)
    await client.close()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients].map(client => client.close()))
  }
}

/** Timeout of a test in milliseconds, for example if an event never arrives. */
const testTimeoutMs = patience(60_000)

/** The time limit of a ping in milliseconds: a commit may take longer than the default limit of one second. */
export const pingTimeoutMs = patience(60_000)

/** Starts one server for the tests of a file, with these environment variables. Call this once, at the top of the file. */
export function driverTests(
  env: ServerOptions['env'] = {},
): (name: string, body: (app: App) => Promise<void>) => void {
  const server = serverOfFile({ env })
  let databases = 0
  return (name, body) => {
    for (const transport of transports) {
      test(`${name} (${transport})`, { timeout: testTimeoutMs }, async () => {
        databases += 1
        const app = new App(server, `app_${databases}`, transport)
        try {
          await app.root().query(q.CreateDatabase({ name: app.name }))
          await body(app)
        } finally {
          await app.close()
        }
      })
    }
  }
}

/** The fields of a driver error. Only the given fields are compared. */
export interface ExpectedError {
  readonly code: string
  readonly position?: readonly (string | number)[]
  readonly description?: string
  readonly failures?: readonly { readonly field: readonly string[]; readonly code: string }[]
}

/** Awaits a query that must fail with an error class of the driver and the given fields. */
export async function assertFails(
  query: Promise<unknown>,
  errorClass: new (...words: never[]) => faunadb.errors.FaunaHTTPError,
  expected: ExpectedError,
): Promise<void> {
  await assert.rejects(query, (error: unknown) => {
    assert.ok(error instanceof errorClass, `${error} is not a ${errorClass.name}`)
    const [first] = error.errors() as { [field: string]: unknown }[]
    const { failures, ...plain } = expected
    for (const [field, value] of Object.entries(plain)) assert.deepEqual(first?.[field], value, field)
    if (failures) {
      const actual = first?.failures as { field: string[]; code: string }[]
      const found = actual.map(({ field, code }) => ({ field, code }))
      assert.deepEqual(found, failures)
    }
    return true
  })
}

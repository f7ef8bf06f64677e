// Starts one server for each test file, and creates a database with a collection for each test.

import { test } from 'node:test'
import { keyOfNewDatabase, query } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { type RunningServer, serverOfFile } from '../support/server.ts'
import { type OpenOptions, openStream, type StreamReader } from './stream-client.ts'

/** A document as plain JSON. */
export interface Doc {
  readonly ref: unknown
  readonly ts: number
  readonly data?: unknown
}

/** Converts values to wire JSON, in which objects are escaped. */
export function wire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wire)
  if (value === null || typeof value !== 'object') return value
  if (Object.keys(value).some(key => key.startsWith('@'))) return value
  return { object: Object.fromEntries(Object.entries(value).map(([key, each]) => [key, wire(each)])) }
}

/** A lambda as query JSON, with one or more parameters. */
export const lambda = (parameter: string | string[], expr: unknown): unknown => ({
  '@query': { lambda: parameter, expr },
})

/** A privilege as query JSON. Predicates are queries, resources are references. */
export function privilege(resource: unknown, actions: Record<string, unknown>): unknown {
  const entries = Object.entries(actions).map(([name, value]) => {
    const predicate = (value as { '@query'?: unknown })['@query']
    return [name, predicate === undefined ? value : { query: predicate }]
  })
  return { object: { resource, actions: { object: Object.fromEntries(entries) } } }
}

export class App {
  readonly server: RunningServer
  /** The name of the test's database. */
  readonly name: string
  /** The secret of an admin key for the database. */
  readonly secret: string
  readonly #readers: StreamReader[] = []

  constructor(server: RunningServer, name: string, secret: string) {
    this.server = server
    this.name = name
    this.secret = secret
  }

  query(expression: unknown, secret = this.secret): Promise<unknown> {
    return query(this.server, secret, expression)
  }

  async create(data: unknown, id?: string, collection = 'things'): Promise<Doc> {
    const place = id === undefined ? { collection } : { ref: { collection }, id }
    return (await this.query({ create: place, params: wire({ data }) })) as Doc
  }

  async update(ref: unknown, data: unknown): Promise<Doc> {
    return (await this.query({ update: ref, params: wire({ data }) })) as Doc
  }

  async delete(ref: unknown): Promise<Doc> {
    return (await this.query({ delete: ref })) as Doc
  }

  /** Opens a stream that is closed at the end of the test. */
  async stream(expression: unknown, options: OpenOptions & { readonly secret?: string } = {}) {
    const { secret = this.secret, ...rest } = options
    const reader = await openStream(this.server, secret, expression, rest)
    this.#readers.push(reader)
    return reader
  }

  /** A key for a role, which is created with `create_role`. */
  async keyOfRole(
    privileges: readonly unknown[],
  ): Promise<{ readonly ref: unknown; readonly secret: string }> {
    await this.query({ create_role: { object: { name: 'tested', privileges } } })
    const role = { role: 'tested' }
    return (await this.query({ create_key: { object: { role } } })) as { ref: unknown; secret: string }
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
  }
}

const testTimeoutMs = patience(60_000)

/** Starts one server for the tests of a file. Call this once, at the top of the file. */
export function streamTests(): (name: string, body: (app: App) => Promise<void>) => void {
  const server = serverOfFile()
  let databases = 0
  return (name, body) => {
    test(name, { timeout: testTimeoutMs }, async () => {
      databases += 1
      const name = `db_${databases}`
      const app = new App(server, name, await keyOfNewDatabase(server, name, 'admin'))
      try {
        await app.query({ create_collection: { object: { name: 'things' } } })
        await body(app)
      } finally {
        app.close()
      }
    })
  }
}

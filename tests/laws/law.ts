// Runs laws: sentences that must hold for all inputs. Most laws get a new database for each generated input. If a law
// fails, fast-check looks for the smallest input that fails, and the error lists the requests of this input.

import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { StreamReader } from '../streams/stream-client.ts'
import { fc } from '../support/fast-check.ts'
import { send } from '../support/http.ts'
import type { RunningServer } from '../support/server.ts'
import { soakMinutes, suite } from '../support/suite.ts'

/** A law about inputs of the type `Input`. */
export interface SharedLaw<Input> {
  readonly input: fc.Arbitrary<Input>
  /** The number of inputs that `npm test` tries. */
  readonly runs: number
  /** Throws if the law does not hold. */
  readonly holds: (input: Input) => Promise<void>
  /** Runs after the last input. */
  readonly atEnd?: () => void
}

/** A law with a new database for each input. */
export interface Law<Input> extends Pick<SharedLaw<Input>, 'input' | 'runs'> {
  /** Throws if the law does not hold. */
  readonly holds: (database: LawDatabase, input: Input) => Promise<void>
}

/** An answer to a request. */
export interface Answer {
  readonly status: number
  /** The result of a query that succeeds; the whole body otherwise. */
  readonly value: unknown
  /** The time of the transaction, in microseconds. */
  readonly time: number
}

/** A page of a feed of version 10. */
export interface FeedPage {
  readonly events: readonly {
    readonly type: 'add' | 'update' | 'remove'
    readonly data: unknown
    readonly cursor: string
  }[]
  readonly cursor: string
  readonly has_next: boolean
}

const minuteMs = 60_000
/**
 * The first databases stay until the end of the file, so that the check of the data directory reads their rows. `npm
 * test` creates fewer. A soak removes all further ones, which would fill the memory.
 */
const keptDatabases = 300
const seedMax = 2 ** 31

/** Defines a test of a law. `server` returns the service that all laws of the file share. */
export function law<Input>(
  sentence: string,
  server: () => RunningServer,
  { holds, ...others }: Law<Input>,
): void {
  sharedLaw<Input>(sentence, {
    ...others,
    async holds(input) {
      const database = await LawDatabase.create(server())
      try {
        await holds(database, input)
      } catch (cause) {
        throw new Error(`${(cause as Error).message}\nRequests:\n${database.transcript()}`, { cause })
      } finally {
        await database.close()
      }
    },
  })
}

/** Defines a test of a law whose inputs only read, so all inputs share the data that the file creates. */
export function sharedLaw<Input>(sentence: string, { atEnd, holds, input, runs }: SharedLaw<Input>): void {
  test(sentence, async context => {
    let inputs = 0
    let newest = Promise.resolve()
    const property = fc.asyncProperty(input, given => {
      inputs += 1
      newest = holds(given)
      return newest
    })
    const parameters = parametersOf(runs)
    await fc.assert(property, parameters)
    // After the minutes of a soak, fast-check no longer waits for the input that runs. An input that never ends must not
    // count as a success.
    await newest
    atEnd?.()
    if (suite === 'soak') context.diagnostic(`${inputs} inputs, seed ${parameters.seed}`)
  })
}

/**
 * `npm test` tries a fixed number of inputs of a fixed seed. `npm run test:soak -- laws --minutes M` tries inputs of a
 * random seed for M minutes. `SEED` replays the seed that a failure prints.
 */
function parametersOf(runs: number): fc.Parameters<unknown> {
  const { SEED } = process.env
  if (suite !== 'soak') return { numRuns: runs, ...(SEED !== undefined && { seed: Number(SEED) }) }
  const seed = SEED === undefined ? randomInt(seedMax) : Number(SEED)
  return { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: soakMinutes * minuteMs, seed }
}

let created = 0

/** The database of one input. */
export class LawDatabase {
  readonly name: string
  readonly #isKept: boolean
  readonly #server: RunningServer
  readonly #requests: string[] = []
  readonly #streams: StreamReader[] = []

  private constructor(server: RunningServer, name: string, isKept: boolean) {
    this.#server = server
    this.name = name
    this.#isKept = isKept
  }

  static async create(server: RunningServer): Promise<LawDatabase> {
    created += 1
    const database = new LawDatabase(server, `law${created}`, created <= keptDatabases)
    await database.#root({ create_database: { object: { name: database.name } } })
    return database
  }

  /** The database of the same name in another service. */
  on(server: RunningServer): LawDatabase {
    return new LawDatabase(server, this.name, this.#isKept)
  }

  /** Closes the streams, and removes the database unless it is one of {@link keptDatabases}. */
  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close()
    if (!this.#isKept) await this.#root({ delete: { database: this.name } })
  }

  /**
   * Sends a query of version 10. `caller` is a suffix of the secret: a built-in role, or `@role/NAME`. The result is in
   * the format `tagged`, which distinguishes all types. Numbers of `args` are Ints.
   */
  async ask10(text: string, args: Readonly<Record<string, unknown>> = {}, caller = 'admin'): Promise<Answer> {
    return this.#send10({ query: text, arguments: tagged(args) }, caller)
  }

  /** Sends a query of version 10 that must succeed; returns its result. */
  async run10(
    text: string,
    args: Readonly<Record<string, unknown>> = {},
    caller = 'admin',
  ): Promise<unknown> {
    return succeeded(await this.ask10(text, args, caller), text)
  }

  /** Runs a template of texts and values, which must succeed. */
  async runTemplate(parts: readonly unknown[]): Promise<unknown> {
    return succeeded(await this.#send10({ query: { fql: parts.map(tagged) } }, 'admin'), 'the template')
  }

  /** Runs a query that must succeed, and returns the result in another format. */
  async run10In(format: string, text: string): Promise<unknown> {
    return succeeded(await this.#send10({ query: text }, 'admin', format), text)
  }

  /** Runs a query with a variable `given` that must succeed. `value` is in the format `tagged`. */
  async runGiven(text: string, value: unknown, format?: string): Promise<unknown> {
    return succeeded(await this.#send10({ query: text, arguments: { given: value } }, 'admin', format), text)
  }

  /** The address and the secret with which a driver connects to the database. */
  get access(): { readonly url: string; readonly secret: string } {
    return { url: this.#server.url, secret: this.#secretOf('admin') }
  }

  /** The result of a query of version 10 that must succeed, as `explain` returns it. */
  async explain10(text: string): Promise<unknown> {
    const { json } = await send(this.#server, {
      secret: this.#secretOf('admin'),
      path: '/api/v1/explain',
      body: JSON.stringify({ query: text }),
    })
    return (json as { resource: { result: unknown } }).resource.result
  }

  /** Sends a request to an endpoint of schema files, with the texts of files by their names. Returns the JSON. */
  async schema(
    method: 'GET' | 'POST',
    path: string,
    files?: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    const form = new FormData()
    for (const [name, text] of Object.entries(files ?? {})) form.append(name, new Blob([text]))
    const response = await fetch(new URL(`/schema/1/${path}`, this.#server.url), {
      method,
      headers: { authorization: `Bearer ${this.#secretOf('admin')}` },
      ...(files !== undefined && { body: form }),
    })
    this.#note(`/schema/1/${path}`, JSON.stringify(files ?? {}), response.status)
    return succeeded({ status: response.status, value: await response.json(), time: 0 }, path)
  }

  /** Reads a page of a feed that must succeed. `from`: `start_ts` or `cursor`. */
  async feed(
    token: string,
    from: Readonly<Record<string, unknown>>,
    pageSize: number,
    caller = 'admin',
  ): Promise<FeedPage> {
    const body = JSON.stringify({ token, page_size: pageSize, ...from })
    const request = {
      secret: this.#secretOf(caller),
      path: '/feed/1',
      body,
      headers: { 'x-format': 'tagged' },
    }
    const { json, status } = await send(this.#server, request)
    this.#note(`/feed/1 as ${caller}`, body, status)
    return succeeded({ status, value: json, time: 0 }, 'the feed') as FeedPage
  }

  /**
   * Opens a stream, which {@link close} closes. `body`: an expression for `/stream`; for `/stream/1` an object with a
   * token, and `start_ts` or `cursor`.
   */
  async stream(path: string, body: object, caller = 'admin'): Promise<StreamReader> {
    const abort = new AbortController()
    const text = JSON.stringify(body)
    const response = await fetch(new URL(path, this.#server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#secretOf(caller)}`, 'x-faunadb-api-version': '4' },
      body: text,
      signal: abort.signal,
    })
    this.#note(`${path} as ${caller}`, text, response.status)
    if (response.status !== 200) throw new Error(`the stream failed: ${await response.text()}`)
    const stream = new StreamReader(response, abort)
    this.#streams.push(stream)
    return stream
  }

  /** Sends a query of version 4. */
  async ask4(query: unknown, caller = 'admin'): Promise<Answer> {
    const { headers, json, status } = await send(this.#server, { secret: this.#secretOf(caller), query })
    this.#note(`/ as ${caller}`, JSON.stringify(query), status)
    const value = status < 300 ? (json as { resource: unknown }).resource : json
    return { status, value, time: Number(headers.get('x-txn-time')) }
  }

  /** Sends a query of version 4 that must succeed; returns its result. */
  async run4(query: unknown, caller = 'admin'): Promise<unknown> {
    return succeeded(await this.ask4(query, caller), JSON.stringify(query))
  }

  /** Imports a GraphQL schema. */
  async importGraphql(sdl: string): Promise<void> {
    const { status, text } = await send(this.#server, {
      secret: this.#secretOf('admin'),
      path: '/import',
      body: sdl,
    })
    this.#note('/import', sdl, status)
    if (status >= 300) throw new Error(`the import failed with ${status}: ${text}`)
  }

  /** Runs a GraphQL operation that must succeed without errors; returns its data. */
  async runGraphql(query: string, variables: object = {}, caller = 'admin'): Promise<unknown> {
    const body = JSON.stringify({ query, variables })
    const { json, status } = await send(this.#server, {
      secret: this.#secretOf(caller),
      path: '/graphql',
      body,
    })
    this.#note(`/graphql as ${caller}`, body, status)
    const { data, errors } = json as { data?: unknown; errors?: unknown }
    if (errors !== undefined) throw new Error(`${query} failed: ${JSON.stringify(errors)}`)
    return data
  }

  /** The requests so far, one in a line. */
  transcript(): string {
    return this.#requests.join('\n')
  }

  async #send10(request: object, caller: string, format = 'tagged'): Promise<Answer> {
    const body = JSON.stringify(request)
    const { json, status } = await send(this.#server, {
      secret: this.#secretOf(caller),
      path: '/query/1',
      body,
      headers: { 'x-format': format, 'x-typecheck': 'false' },
    })
    this.#note(`/query/1 as ${caller}`, body, status)
    const { data, txn_ts: time } = json as { data?: unknown; txn_ts: number }
    return { status, value: status < 300 ? data : json, time }
  }

  #secretOf(caller: string): string {
    return `${this.#server.rootSecret}:${this.name}:${caller}`
  }

  #note(target: string, body: string, status: number): void {
    this.#requests.push(`POST ${target}: ${body} → ${status}`)
  }

  async #root(query: unknown): Promise<void> {
    const { status, text } = await send(this.#server, { secret: this.#server.rootSecret, query })
    if (status >= 300) throw new Error(`${status}: ${text}`)
  }
}

/** A value of JSON in the format `tagged`; integers are Ints. */
function tagged(value: unknown): unknown {
  if (typeof value === 'number') return { '@int': String(value) }
  if (Array.isArray(value)) return value.map(tagged)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, tagged(member)]))
}

function succeeded({ status, value }: Answer, text: string): unknown {
  if (status >= 300) throw new Error(`${text} failed with ${status}: ${JSON.stringify(value)}`)
  return value
}

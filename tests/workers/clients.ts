// Clients that know their worker. Each keeps one connection, and a connection stays with its worker. The low ten bits
// of new ids contain the number of the process that evaluated the query. A reading query is evaluated in the worker.

import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { RunningServer } from '../support/server.ts'

export interface Answered {
  readonly status: number
  readonly txnTime: number
  readonly resource: unknown
}

/** A connection to a worker. Requests fail with the code `ECONNRESET` after the connection was closed. */
export class WorkerClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #server: RunningServer
  /** The only connection of this client. */
  #socket: Socket | undefined
  secret: string
  worker = -1

  constructor(server: RunningServer, secret: string = server.rootSecret) {
    this.#server = server
    this.secret = secret
  }

  /** Sends a query of version 4. */
  async send(query: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    const { answer, ...answered } = await this.#post('/', query, { 'x-faunadb-api-version': '4', ...headers })
    return { ...answered, resource: (answer as { resource?: unknown }).resource }
  }

  #post(
    path: string,
    query: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Omit<Answered, 'resource'> & { readonly answer: unknown }> {
    const body = JSON.stringify(query)
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        new URL(path, this.#server.url),
        {
          method: 'POST',
          agent: this.#agent,
          headers: {
            authorization: `Bearer ${this.secret}`,
            'content-length': Buffer.byteLength(body),
            ...headers,
          },
        },
        response => {
          const answered = (body: string) => ({
            status: response.statusCode as number,
            txnTime: Number(response.headers['x-txn-time']),
            answer: JSON.parse(body),
          })
          text(response).then(answered).then(resolve, reject)
        },
      )
      outgoing.on('error', reject)
      // If the connection was closed between two requests, the agent opens another one, perhaps to another worker.
      outgoing.on('socket', socket => {
        this.#socket ??= socket
        if (socket !== this.#socket) outgoing.destroy(connectionLost())
      })
      outgoing.end(body)
    })
  }

  /** The `resource` of a query that must succeed. */
  async query(query: unknown): Promise<unknown> {
    const { status, resource } = await this.send(query)
    assert.ok(status < 300, `status ${status} for ${JSON.stringify(query)}`)
    return resource
  }

  /** An id that a reading query of version 10 has generated. */
  async newId(): Promise<string> {
    const { answer } = await this.#post('/query/1', { query: 'newId()' }, { 'x-format': 'simple' })
    return (answer as { readonly data: string }).data
  }

  async connect(): Promise<this> {
    this.worker = Number(BigInt(await this.newId()) & 1023n)
    return this
  }

  close(): void {
    this.#agent.destroy()
  }
}

const connectionLost = () => Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' })

/**
 * One client of each worker. A worker accepts no connection while it waits for the processor, so the others can get any
 * number of connections in a row. Only the time limit of the test ends the attempts.
 */
export async function clientOfEach(server: RunningServer, count: number): Promise<WorkerClient[]> {
  const clients = new Map<number, WorkerClient>()
  while (clients.size < count) {
    const client = await new WorkerClient(server).connect()
    if (clients.has(client.worker)) client.close()
    else clients.set(client.worker, client)
  }
  return [...clients.values()]
}

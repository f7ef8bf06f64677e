// Runs an application with the unmodified npm driver `fauna` against a started server. Every test runs twice: over
// HTTP/2, the driver's default in Node, and over HTTP/1.1 with the driver's client for browsers and edge runtimes.

import { test } from 'node:test'
import { Client, type ClientConfiguration, FetchClient } from 'fauna'
import { keyOfNewDatabase } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { type RunningServer, serverOfFile } from '../support/server.ts'

const transports = ['HTTP/2', 'HTTP/1.1'] as const
type Transport = (typeof transports)[number]

/** A database of a server, with clients. */
export class App {
  readonly server: RunningServer
  /** The secret of an admin key for the app's own database. */
  readonly secret: string
  readonly #transport: Transport
  readonly #clients: Client[] = []

  constructor(server: RunningServer, secret: string, transport: Transport) {
    this.server = server
    this.secret = secret
    this.#transport = transport
  }

  /** A client that is closed with the app. Its default secret is the app's own. */
  client(options: ClientConfiguration = {}): Client {
    const endpoint = new URL(this.server.url)
    const configuration = { endpoint, secret: this.secret, query_timeout_ms: queryTimeoutMs, ...options }
    const fetching = {
      url: endpoint.href,
      http2_session_idle_ms: 0,
      http2_max_streams: 1,
      fetch_keepalive: false,
    }
    const client =
      this.#transport === 'HTTP/2'
        ? new Client(configuration)
        : new Client(configuration, new FetchClient(fetching))
    this.#clients.push(client)
    return client
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }
}

/** Timeout of a test in milliseconds. */
const testTimeoutMs = patience(60_000)

/** The timeout of queries. The driver's default is five seconds. */
const queryTimeoutMs = patience(5000)

/** Starts one server for the tests of a file. Call this once, at the top of the file. */
export function driver10Tests(): (name: string, body: (app: App) => Promise<void>) => void {
  const server = serverOfFile()
  let databases = 0
  return (name, body) => {
    for (const transport of transports) {
      test(`${name} (${transport})`, { timeout: testTimeoutMs }, async () => {
        databases += 1
        const secret = await keyOfNewDatabase(server, `app_${databases}`, 'admin')
        const app = new App(server, secret, transport)
        try {
          await body(app)
        } finally {
          app.close()
        }
      })
    }
  }
}

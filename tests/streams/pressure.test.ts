// Many streams, slow clients, clients that disconnect, and a service that stops.

import assert from 'node:assert/strict'
import http2 from 'node:http2'
import net from 'node:net'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { keyOfNewDatabase, query } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { openStream, requestStream, StreamReader, type WireEvent } from './stream-client.ts'

const options = { timeout: patience(120_000) }
const target = { ref: { collection: 'things' }, id: '7' }

async function withServer(
  flags: readonly string[],
  body: (server: RunningServer, secret: string) => Promise<void>,
): Promise<void> {
  await using server = await startServer({ flags })
  const secret = await keyOfNewDatabase(server, 'db', 'admin')
  await query(server, secret, { create_collection: { object: { name: 'things' } } })
  await body(server, secret)
}

/** Opens streams over one HTTP/2 session. */
class Session {
  readonly #session: http2.ClientHttp2Session
  readonly #secret: string

  constructor(server: RunningServer, secret: string) {
    this.#session = http2.connect(server.url)
    this.#secret = secret
  }

  /** Opens another stream, and returns its lines. */
  open(expression: unknown): AsyncIterator<string> {
    const request = this.#session.request({
      ':method': 'POST',
      ':path': '/stream',
      authorization: `Bearer ${this.#secret}`,
    })
    request.end(JSON.stringify(expression))
    return createInterface({ input: request })[Symbol.asyncIterator]()
  }

  close(): void {
    this.#session.destroy()
  }
}

const parsed = async (lines: AsyncIterator<string>): Promise<WireEvent> =>
  JSON.parse((await lines.next()).value)

test('a connection can have a thousand streams of one document', options, () =>
  withServer([], async (server, secret) => {
    const session = new Session(server, secret)
    const streams = Array.from({ length: 1000 }, () => session.open(target))
    for (const lines of streams) assert.equal((await parsed(lines)).type, 'start')
    const made = (await query(server, secret, { create: target, params: { object: {} } })) as { ts: number }
    for (const lines of streams) assert.equal((await parsed(lines)).txn, made.ts)
    session.close()
  }),
)

/** A client that reads nothing before the test asks for it. */
function lazyClient(server: RunningServer, secret: string): net.Socket {
  const { hostname, port } = new URL(server.url)
  const body = JSON.stringify(target)
  const socket = net.connect(Number(port), hostname)
  socket.write(
    `POST /stream HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${secret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

test('a client that does not read loses its stream, and other clients are not affected', options, () =>
  withServer([], async (server, secret) => {
    const eager = await openStream(server, secret, target)
    const lazy = lazyClient(server, secret)
    // The response head has arrived, so the stream is open. Later data stays in the socket.
    await new Promise(resolve => lazy.once('readable', resolve))
    const text = 'x'.repeat(200_000)
    const updates = 200
    await query(server, secret, { create: target, params: { object: {} } })
    assert.equal((await eager.next()).type, 'version')
    for (let n = 1; n <= updates; n++) {
      const data = { object: { n, text } }
      await query(server, secret, { update: target, params: { object: { data } } })
      const { event } = await eager.next()
      assert.equal((event as { document: { data: { n: number } } }).document.data.n, n)
    }
    const ended = new Promise(resolve => lazy.once('close', resolve))
    let received = ''
    lazy.on('data', chunk => {
      received += chunk.toString('latin1')
    })
    lazy.on('error', () => undefined)
    await ended
    const events = received.split('"type":"version"').length - 1
    assert.ok(events < updates, 'the buffer is bounded')
    if (received.includes('"type":"error"')) {
      assert.match(
        received,
        /"event":\{"code":"time out","description":"Stream closed due to congestion after accumulating \d+ items\."\}/,
      )
    }
    eager.close()
  }),
)

test('streams beyond the limit get an error and end; a closed stream makes room', options, () =>
  withServer(['--streams-max', '2'], async (server, secret) => {
    const first = await openStream(server, secret, target)
    await openStream(server, secret, target)
    const rejected = async () => {
      const { response, abort } = await requestStream(server, secret, target)
      assert.equal(response.status, 200)
      const reader = new StreamReader(response, abort)
      const event = await reader.next()
      if (event.type === 'start') return undefined
      assert.equal(await reader.read(), undefined)
      return event.text
    }
    assert.equal(
      await rejected(),
      '{"type":"error","txn":0,"event":{"code":"too many requests","description":"Too many open streams."}}',
    )
    first.close()
    // The service notices the closed connection asynchronously.
    await eventually('a new stream is accepted', async () => (await rejected()) === undefined)
  }),
)

test(
  'a service that stops ends its streams with an error, without waiting for clients',
  options,
  async () => {
    let session: Session | undefined
    let ends: Promise<unknown> | undefined
    await withServer([], async (server, secret) => {
      session = new Session(server, secret)
      const lines = session.open(target)
      assert.equal((await parsed(lines)).type, 'start')
      const reader = await openStream(server, secret, target)
      ends = Promise.all([parsed(lines), reader.nextEnd()])
    })
    for (const { event } of (await ends) as WireEvent[]) {
      assert.deepEqual(event, {
        code: 'time out',
        description: 'Stream was unexpectedly closed by its source.',
      })
    }
    session?.close()
  },
)

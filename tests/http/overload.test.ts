// Overload: too many requests, connections, unread responses.

import assert from 'node:assert/strict'
import http from 'node:http'
import http2 from 'node:http2'
import { test } from 'node:test'
import type { Ticket } from '../../src/base/admission/ticket.ts'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import { resource, startFakeService } from './fake-engine.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'
import { authorization, post, request, serviceTest } from './service-test.ts'

serviceTest(
  'requests above the limit get 429 until a running request ends',
  async service => {
    const waiting: ((answer: QueryResponse) => void)[] = []
    service.engine.answer = () => new Promise(resolve => waiting.push(resolve))
    const send = () => fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
    const first = [send(), send()]
    while (waiting.length < 2) await new Promise(setImmediate)
    const third = await send()
    assert.equal(third.status, 429)
    assert.deepEqual(await third.json(), {
      errors: [{ code: 'too many requests', description: 'Too many pending requests' }],
    })
    for (const release of waiting) release(resource('1'))
    for (const response of await Promise.all(first)) assert.equal(response.status, 200)
    service.engine.answer = () => resource('2')
    assert.equal((await send()).status, 200)
  },
  { pendingRequestsMax: 2 },
)

/** Sends a query from a local address; resolves with the status. */
function statusFrom(localAddress: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { localAddress, host: '127.0.0.1', port, method: 'POST', headers: { authorization } }
    const sent = http.request({ ...options, agent: false }, response => {
      response.resume().once('end', () => resolve(response.statusCode))
    })
    sent.once('error', reject)
    sent.end('1')
  })
}

serviceTest(
  'one owner that uses the limit of running requests does not keep the requests of another owner out',
  async service => {
    const waiting: ((answer: QueryResponse) => void)[] = []
    service.engine.answer = () => new Promise(resolve => waiting.push(resolve))
    const loud = Array.from({ length: 4 }, () => statusFrom('127.0.0.1', service.port))
    while (waiting.length < 4) await new Promise(setImmediate)
    assert.equal(await statusFrom('127.0.0.1', service.port), 429)
    const quiet = [statusFrom('127.0.0.2', service.port), statusFrom('127.0.0.2', service.port)]
    while (waiting.length < 6) await new Promise(setImmediate)
    for (const release of waiting) release(resource('1'))
    assert.deepEqual(await Promise.all([...loud, ...quiet]), Array(6).fill(200))
  },
  { pendingRequestsMax: 4 },
)

const queryEndpoints = [
  ['POST /', '1'],
  ['GET /', '1'],
  ['POST /query/1', '{"query":"1"}'],
  ['GET /environment/1', ''],
  ['POST /graphql', '{"query":"{ a }"}'],
  ['GET /graphql?query={a}', ''],
  ['POST /import', 'type A { b: Int }'],
  ['GET /import', ''],
] as const

for (const [endpoint, body] of queryEndpoints)
  serviceTest(`${endpoint}: a request learns that its client has disconnected`, async service => {
    const seen = Promise.withResolvers<Ticket>()
    service.engine.query = (_request, ticket) => {
      seen.resolve(ticket as Ticket)
      return new Promise(() => undefined)
    }
    const head = `${endpoint} HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: ${body.length}`
    const { socket } = await connectRaw(service.port, `${head}\r\n\r\n${body}`)
    const ticket = await seen.promise
    ticket.endsWithClient = true
    const waits = ticket.wait(new Promise(() => undefined))
    socket.destroy()
    await assert.rejects(waits, { code: 'request timeout' })
  })

serviceTest(
  'incomplete requests do not count against the limit of running requests',
  async service => {
    const post = 'POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n1'
    const halves = await Promise.all([connectRaw(service.port, post), connectRaw(service.port, post)])
    const session = http2.connect(service.url)
    const open = session.request({ ':method': 'POST', ':path': '/', authorization })
    open.on('error', () => {})
    open.write('1')
    await request(session, { ':path': '/ping' })
    assert.equal((await fetch(`${service.url}/ping`)).status, 200)
    for (const { socket } of halves) socket.destroy()
    session.destroy()
  },
  { pendingRequestsMax: 1 },
)

/** More than the operating system buffers for a client that does not read. */
const longAnswer = JSON.stringify('x'.repeat(32_000_000))

serviceTest(
  'a client that does not read is disconnected when its unread responses exceed the limit, and no other client',
  async service => {
    service.engine.answer = asked => resource(asked.body === '1' ? longAnswer : '2')
    const head = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\nconnection: close\r\ncontent-length: 1`
    const post1 = `${head}\r\n\r\n1`
    const readers = await Promise.all([1, 2, 3].map(() => connectRaw(service.port)))
    for (const { socket } of readers) socket.pause()
    for (const { socket } of readers) socket.write(post1)
    while (service.engine.seen.length < 3) await new Promise(setImmediate)
    const answer = await fetch(service.url, { method: 'POST', headers: { authorization }, body: '2' })
    assert.equal(await answer.text(), '{"resource":2}')
    // The evicted client notices when it reads; the others read everything.
    for (const { socket } of readers) socket.resume()
    await Promise.all(readers.map(reader => reader.ended()))
    const lengths = readers.map(reader => reader.received().length)
    assert.equal(lengths.filter(length => length < longAnswer.length).length, 1)
    assert.deepEqual(service.log, [])
  },
  { unreadResponseBytesMax: 80_000_000 },
)

serviceTest(
  'over HTTP/2 a stream that is not read is reset, and other streams of its session are not',
  async service => {
    service.engine.answer = asked => resource(asked.body === '1' ? longAnswer : '2')
    const session = http2.connect(service.url)
    const unread = [1, 2, 3].map(() => {
      const stream = session.request(post)
      stream.end('1')
      return stream.pause()
    })
    const cut = unread.map(stream => new Promise(resolve => stream.on('error', resolve).on('close', resolve)))
    await Promise.race(cut)
    assert.equal((await request(session, post, '2')).text, '{"resource":2}')
    session.destroy()
  },
  { unreadResponseBytesMax: 80_000_000 },
)

test('when there are too many idle connections, the client with the most loses its oldest', async () => {
  await using service = await startFakeService({ waitingConnectionsMax: 8 })
  const busy = Promise.withResolvers<QueryResponse>()
  service.engine.answer = () => busy.promise
  const asking = fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
  while (service.engine.seen.length === 0) await new Promise(setImmediate)
  const silent: RawConnection[] = []
  for (let n = 0; n < 9; n++) silent.push(await connectRaw(service.port, n % 2 ? 'POST / HT' : undefined))
  await (silent[0] as RawConnection).ended()
  busy.resolve(resource('1'))
  assert.equal((await asking).status, 200)
  for (const { socket } of silent) socket.destroy()
})

serviceTest(
  'requests that arrive together on one connection do not delay other connections',
  async service => {
    const order: string[] = []
    service.engine.answer = asked => {
      order.push(asked.body as string)
      return resource('1')
    }
    const one = (body: string) =>
      `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\ncontent-length: 1\r\n\r\n${body}`
    const [greedy, modest] = [await connectRaw(service.port), await connectRaw(service.port)]
    greedy.socket.write(one('g').repeat(400))
    modest.socket.write(one('m'))
    while (order.length < 401) await new Promise(setImmediate)
    assert.equal(order.filter(body => body === 'g').length, 400)
    assert.ok(order.indexOf('m') < 300, String(order.indexOf('m')))
    greedy.socket.destroy()
    modest.socket.destroy()
  },
)

test('at the limit of connections, idle ones are closed first, then new ones', async () => {
  await using service = await startFakeService({ connectionsMax: 4 })
  const busy = Promise.withResolvers<QueryResponse>()
  service.engine.answer = () => busy.promise
  const silent = await connectRaw(service.port)
  const head = `POST / HTTP/1.1\r\nauthorization: ${authorization}\r\nconnection: close\r\ncontent-length: 1`
  const asking: RawConnection[] = []
  while (asking.length < 4) {
    asking.push(await connectRaw(service.port, `${head}\r\n\r\n1`))
    while (service.engine.seen.length < asking.length) await new Promise(setImmediate)
  }
  assert.equal(await silent.ended(), '')
  const newcomer = await connectRaw(service.port, `${head}\r\n\r\n1`)
  assert.equal(await newcomer.ended(), '')
  busy.resolve(resource('1'))
  for (const connection of asking) assert.match(await connection.ended(), /^HTTP\/1\.1 200 /)
  assert.equal((await fetch(`${service.url}/ping`)).status, 200)
})

serviceTest('a long response is complete, over both versions of HTTP', async service => {
  service.engine.answer = () => resource(`"è${longAnswer.slice(2)}`)
  const whole = Buffer.byteLength(longAnswer) + '{"resource":}'.length + 1
  const answer = await fetch(service.url, { method: 'POST', headers: { authorization }, body: '1' })
  assert.equal(Buffer.byteLength(await answer.text()), whole)
  assert.equal(answer.headers.get('content-length'), String(whole))
  const session = http2.connect(service.url)
  const { text } = await request(session, post, '1')
  assert.equal(Buffer.byteLength(text), whole)
  session.close()
})

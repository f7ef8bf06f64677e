// The client's behaviour without a good response: which requests it retries, and which errors it throws.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  Client,
  ClientTimeoutError,
  ContentionError,
  type EventSourceToken,
  fql,
  NetworkError,
  ProtocolError,
  RateLimitError,
} from '../../client/src/index.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { startServer } from '../support/server.ts'

interface FakeResponse {
  readonly status: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const done: FakeResponse = { status: 200, body: '{"data":{"@int":"1"},"summary":"","txn_ts":5}' }
const failed = (status: number, code: string, headers = {}): FakeResponse => {
  return { status, headers, body: JSON.stringify({ error: { code, message: code } }) }
}
const rejected = new TypeError('fetch failed', {
  cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }),
})
const lost = new TypeError('fetch failed', {
  cause: Object.assign(new Error('lost'), { code: 'ECONNRESET' }),
})

/** A client whose requests get these responses in turn, and then the last one repeatedly. */
function clientOf(script: readonly (FakeResponse | Error)[], options = {}) {
  const sent: Request[] = []
  const answer = async (url: URL | RequestInfo, request?: RequestInit) => {
    const next = script[Math.min(sent.length, script.length - 1)] as FakeResponse | Error
    sent.push(new Request(url as string, request))
    if (next instanceof Error) throw next
    return new Response(next.body ?? null, { status: next.status, headers: next.headers ?? {} })
  }
  const client = new Client({ url: 'http://fake.example/base', secret: 's', fetch: answer, ...options })
  return { client, sent }
}

test('requests that were certainly not executed are retried: contention, a rate limit, a starting service', async () => {
  const starting = { status: 503, body: '{"errors":[]}', headers: { 'retry-after': '0' } }
  const limited = failed(429, 'limit_exceeded', { 'retry-after': '0' })
  for (const first of [failed(409, 'contended_transaction'), limited, starting, rejected]) {
    const { client, sent } = clientOf([first, first, done])
    const { data, attempts } = await client.query(fql`1`)
    assert.deepEqual([data, attempts, sent.length], [1, 3, 3])
  }
})

test('retries end, and the last error is thrown', async () => {
  const cases = [
    [failed(409, 'contended_transaction'), ContentionError],
    [failed(429, 'limit_exceeded', { 'retry-after': '0' }), RateLimitError],
    [{ status: 503, headers: { 'retry-after': '0' } }, ProtocolError],
    [rejected, NetworkError],
  ] as const
  for (const [fault, expected] of cases) {
    const { client, sent } = clientOf([fault], { retries: 2 })
    await assert.rejects(client.query(fql`1`), expected)
    assert.equal(sent.length, 3)
    const never = clientOf([fault], { retries: 0 })
    await assert.rejects(never.client.query(fql`1`), expected)
    assert.equal(never.sent.length, 1)
  }
})

test('a query with a lost response is retried only if it is repeatable', async () => {
  const write = clientOf([lost, done])
  await assert.rejects(write.client.query(fql`items.create({})`), NetworkError)
  assert.equal(write.sent.length, 1)
  const read = clientOf([lost, done])
  assert.equal((await read.client.query(fql`1`, { isRepeatable: true })).attempts, 2)
  const page = '{"data":{"@set":{"data":[],"after":"c"}}}'
  const pages = clientOf([{ status: 200, body: page }, lost, { status: 200, body: '{"data":{"data":[]}}' }])
  for await (const _ of pages.client.pages(fql`items.all()`)) assert.ok(true)
  assert.equal(pages.sent.length, 3)
})

test('a successful status without a result is an error, not an empty result', async () => {
  for (const body of ['', '<html>Welcome</html>', '{}', '[]', '{"data":']) {
    const { client, sent } = clientOf([{ status: 200, body }])
    await assert.rejects(client.query(fql`1`), ProtocolError)
    await assert.rejects(Array.fromAsync(client.feed('token')), ProtocolError)
    await assert.rejects(Array.fromAsync(client.follow('token', { everyMs: 1 })), ProtocolError)
    assert.equal(sent.length, 3)
  }
})

test('a stream without a first event is retried as often as a query', async () => {
  for (const retries of [0, 2]) {
    const { client, sent } = clientOf([{ status: 200, body: '' }], { retries })
    await assert.rejects(Array.fromAsync(client.stream('token')), NetworkError)
    assert.equal(sent.length, retries + 1)
  }
  const other = clientOf([{ status: 200, body: '<html>Welcome</html>\n' }])
  await assert.rejects(Array.fromAsync(other.client.stream('token')), ProtocolError)
  assert.equal(other.sent.length, 1)
})

test('events raise the last transaction time, and the next request contains it', async () => {
  const status = '{"type":"status","txn_ts":6,"cursor":"a"}\n'
  const add = '{"type":"add","data":{"@int":"1"},"txn_ts":8,"cursor":"b"}\n'
  const streamed = clientOf([{ status: 200, body: status + add }, done])
  for await (const _ of streamed.client.stream('token')) break
  assert.equal(streamed.client.lastTxnTs, 8)
  await streamed.client.query(fql`1`)
  assert.equal(streamed.sent[1]?.headers.get('x-last-txn-ts'), '8')
  const page = `{"events":[${add}],"cursor":"c","has_next":true}`
  const fed = clientOf([
    { status: 200, body: page },
    { status: 200, body: '{"events":[],"cursor":"d"}' },
  ])
  for await (const _ of fed.client.feed('token')) assert.equal(fed.client.lastTxnTs, 8)
  const times = fed.sent.map(({ headers }) => headers.get('x-last-txn-ts'))
  assert.deepEqual(times, [null, '8'])
})

test('permanent errors are not retried', async () => {
  for (const fault of [failed(503, 'time_out'), failed(500, 'internal_error'), failed(400, 'abort')]) {
    const { client, sent } = clientOf([fault])
    await assert.rejects(client.query(fql`1`))
    assert.equal(sent.length, 1)
  }
})

test('a response of another server is reported with its status', async () => {
  for (const body of ['<html>Bad gateway</html>', '', '[]', 'null']) {
    const { client } = clientOf([{ status: 502, body }])
    await assert.rejects(
      client.query(fql`1`),
      error => error instanceof ProtocolError && error.status === 502,
    )
  }
})

test('the address, headers and body are those of the protocol', async () => {
  const { client, sent } = clientOf([done], { tags: { app: 'shop' }, timeoutMs: 700 })
  await client.query(fql`${1} + ${{ a: 'x' }}`)
  await client.query(fql`1`, { tags: { page: 'two' } })
  const [first, second] = sent as [Request, Request]
  assert.equal(first.url, 'http://fake.example/base/query/1')
  assert.deepEqual(await first.json(), {
    query: { fql: [{ value: { '@int': '1' } }, ' + ', { value: { a: 'x' } }] },
  })
  const header = (request: Request, name: string) => request.headers.get(name)
  assert.deepEqual(
    ['authorization', 'x-format', 'x-query-timeout-ms', 'x-query-tags', 'x-last-txn-ts'].map(name =>
      header(first, name),
    ),
    ['Bearer s', 'tagged', '700', 'app=shop', null],
  )
  const own = [header(second, 'x-query-tags'), header(second, 'x-last-txn-ts')]
  assert.deepEqual(own, ['app=shop,page=two', '5'])
})

test('values that cannot be sent are rejected before the request', async () => {
  const { client, sent } = clientOf([done])
  const circle: { self?: unknown } = {}
  circle.self = circle
  for (const value of [
    undefined,
    [undefined],
    new Map(),
    Symbol('x'),
    () => 1,
    2n ** 63n,
    circle,
    new Date(Number.NaN),
  ])
    await assert.rejects(
      client.query(fql`${value as string}`),
      error => error instanceof TypeError || error instanceof RangeError,
    )
  const escapes = (texts: TemplateStringsArray) => fql(texts)
  assert.throws(() => escapes`"\unicode"`, TypeError)
  assert.equal(sent.length, 0)
  assert.throws(() => new Client({ url: 'no address', secret: 's' }), TypeError)
  assert.throws(() => new Client({ url: 'http://fake.example', secret: '' }), TypeError)
})

test('the wait for a late response ends', async () => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  // A negative time limit, so that it ends before the grace period of responses is over.
  const client = new Client({ url, secret: 's', timeoutMs: -4990 })
  try {
    await assert.rejects(client.query(fql`1`), ClientTimeoutError)
    const controller = new AbortController()
    const waiting = new Client({ url, secret: 's' }).query(fql`1`, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await assert.rejects(waiting, { message: 'enough' })
  } finally {
    silent.closeAllConnections()
    silent.close()
  }
})

type Numbers = EventSourceToken<{ n: number }>

test('a stream and a follower continue after lost connections: every event once', async () => {
  await using server = await startServer()
  await using proxy = await FaultyProxy.to(Number(new URL(server.url).port))
  const secret = await keyOfNewDatabase(server, 'app', 'server')
  const writer = new Client({ url: server.url, secret })
  const reader = new Client({ url: `http://127.0.0.1:${proxy.port}`, secret })
  await writer.query(fql`Collection.create({ name: 'items' })`)
  const add = (n: number) => writer.query(fql`items.create({ n: ${n} })`)
  const kinds = [
    (token: Numbers) => reader.stream(token),
    (token: Numbers) => reader.follow(token, { everyMs: 5 }),
  ]
  for (const eventsOf of kinds) {
    const { data: token } = await writer.query<Numbers>(fql`items.all().eventSource()`)
    const seen: number[] = []
    for (let n = 0; n < 3; n++) await add(n)
    for await (const { data } of eventsOf(token)) {
      seen.push(data.n)
      if (seen.length === 9) break
      if (seen.length % 3 !== 0) continue
      proxy.cut()
      for (let n = seen.length; n < seen.length + 3; n++) await add(n)
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  }
})

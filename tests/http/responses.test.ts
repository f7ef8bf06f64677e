// The headers of each kind of answer, and the layout of bodies.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import { Readable } from 'node:stream'
import { beforeEach, test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { RequestError } from '../../src/base/request-errors.ts'
import type { Answer } from '../../src/server/http/answer.ts'
import { Edge } from '../../src/server/http/edge.ts'
import type { Endpoint } from '../../src/server/http/endpoint.ts'
import { Listener } from '../../src/server/http/listener.ts'
import { ContendedTransaction, StoreUnavailableError } from '../../src/storage/store/store-contract.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { failure, fakeMetrics, fakeNow, fakeServices, resource, startFakeService } from './fake-engine.ts'

const service = serviceOfFile(startFakeService)
beforeEach(() => {
  service.engine.answer = request => resource(request.body ?? 'null')
})

const authorization = 'Bearer right'

function post(body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.url, { method: 'POST', body, headers: { authorization, ...headers } })
}

const metricHeaders = {
  'x-compute-ops': '2',
  'x-byte-read-ops': '3',
  'x-byte-write-ops': '4',
  'x-storage-bytes-read': '5',
  'x-storage-bytes-write': '6',
  'x-query-time': '7',
  'x-txn-retries': '8',
}

/** The headers of `response` that `expected` names, for a comparison. */
function named(response: Response, expected: Record<string, string>): Record<string, string | null> {
  return Object.fromEntries(Object.keys(expected).map(name => [name, response.headers.get(name)]))
}

test('the response to a query has time, metrics, sizes in bytes, build and trace', async () => {
  const response = await post(' [ 1,\n "è" ] ')
  const body = Buffer.from(await response.arrayBuffer())
  const expected = {
    ...metricHeaders,
    'content-type': 'application/json;charset=utf-8',
    'content-length': String(body.length),
    'x-txn-time': String(fakeNow),
    'x-query-bytes-in': '14',
    'x-query-bytes-out': String(body.length),
    'x-faunadb-build': '1.2.3-test',
  }
  assert.equal(response.status, 200)
  assert.deepEqual(named(response, expected), expected)
  assert.ok(response.headers.get('traceparent'))
  for (const absent of ['x-rate-limited-ops', 'x-fauna-tags', 'access-control-allow-origin', 'etag']) {
    assert.equal(response.headers.get(absent), null, absent)
  }
})

test('a query by GET has no request bytes', async () => {
  const response = await fetch(`${service.url}/?q=%5B1%5D`, { headers: { authorization } })
  assert.equal(response.headers.get('x-query-bytes-in'), '0')
  assert.equal(response.headers.get('x-query-bytes-out'), '16')
})

test("status and body are the engine's, whether it responds at once or later", async () => {
  service.engine.answer = () => resource('1', 201)
  assert.equal((await post('1')).status, 201)
  service.engine.answer = async () => resource('2', 201)
  const later = await post('1')
  assert.equal(later.status, 201)
  assert.equal(await later.text(), '{"resource":2}')
})

test('exceeded rate limits are listed', async () => {
  service.engine.answer = () => ({
    ...resource('1'),
    metrics: { ...fakeMetrics, rateLimited: ['compute', 'write'] },
  })
  const response = await post('1', { origin: 'http://app.test' })
  assert.equal(response.headers.get('x-rate-limited-ops'), 'compute,write')
  assert.match(response.headers.get('access-control-expose-headers') ?? '', /x-rate-limited-ops/)
})

test('401 has a time and a challenge but no metrics', async () => {
  const response = await post('1', { authorization: 'Bearer wrong' })
  assert.equal(response.headers.get('x-txn-time'), String(fakeNow))
  assert.equal(response.headers.get('www-authenticate'), 'Basic realm="Unauthorized"')
  for (const name of [...Object.keys(metricHeaders), 'x-query-bytes-in', 'x-query-bytes-out']) {
    assert.equal(response.headers.get(name), null, name)
  }
})

test('404 and 405 have idle metrics', async () => {
  for (const [method, path] of [
    ['GET', '/nonexistent'],
    ['PUT', '/'],
  ] as const) {
    const response = await fetch(service.url + path, { method, headers: { authorization } })
    const expected = { 'x-compute-ops': '1', 'x-byte-read-ops': '0', 'x-txn-retries': '0' }
    assert.deepEqual(named(response, expected), expected)
    assert.equal(response.headers.get('x-txn-time'), String(fakeNow))
  }
})

const laidOut = '{\n  "errors": [\n'

const exceptional: [status: number, code: Parameters<typeof failure>[1], description: string][] = [
  [400, 'bad request', 'Transaction does too much compute: got 12001, limit: 12000'],
  [409, 'contended transaction', 'Transaction was aborted due to detection of concurrent modification.'],
  [413, 'request too large', 'Request entity is too large'],
  [429, 'too many requests', 'Rate limit for read exceeded'],
  [503, 'time out', 'Read timed out (Query eval has timed out.)'],
]
for (const [status, code, description] of exceptional) {
  test(`${status} ${code} is laid out, keeps its metrics and echoes no tags`, async () => {
    service.engine.answer = () => failure(status, code, description)
    const response = await post('1', { 'x-fauna-tags': 'a=1' })
    const text = await response.text()
    assert.equal(response.status, status)
    assert.ok(text.startsWith(laidOut), text)
    assert.deepEqual(JSON.parse(text), { errors: [{ code, description }] })
    assert.equal(response.headers.get('content-length'), String(text.length))
    assert.equal(response.headers.get('x-query-bytes-out'), String(text.length))
    assert.equal(response.headers.get('x-compute-ops'), '2')
    assert.equal(response.headers.get('x-txn-time'), String(fakeNow))
    assert.equal(response.headers.get('x-fauna-tags'), null)
  })
}

test('a request error that the engine throws becomes the response', async () => {
  service.engine.answer = () => {
    throw new RequestError('time out', 'Read timed out')
  }
  const response = await post('1')
  assert.equal(response.status, 503)
  assert.deepEqual(await response.json(), { errors: [{ code: 'time out', description: 'Read timed out' }] })
})

test('a failure of the store becomes the response, without a log line', async () => {
  const failures: [error: unknown, status: number, code: string][] = [
    [new StoreUnavailableError('no disk'), 503, 'service unavailable'],
    [new ContendedTransaction(5), 409, 'contended transaction'],
  ]
  for (const [error, status, code] of failures) {
    service.log.length = 0
    service.engine.answer = () => Promise.reject(error)
    const response = await post('1')
    assert.equal(response.status, status)
    const { errors } = (await response.json()) as { readonly errors: readonly { readonly code: string }[] }
    const codes = errors.map(each => each.code)
    assert.deepEqual(codes, [code])
    assert.deepEqual(service.log, [])
  }
})

test('an internal error is logged with its cause, the response lacks the cause, and the service continues', async () => {
  const failures: (() => never)[] = [
    () => {
      throw new Error('the inner secret')
    },
    () => {
      throw Object.assign(Object.create(null), { odd: 'the inner secret' })
    },
  ]
  for (const fail of failures) {
    for (const engineAnswer of [fail, async () => fail()]) {
      service.log.length = 0
      service.engine.answer = engineAnswer
      const response = await post('1', { 'x-fauna-tags': 'a=1' })
      const text = await response.text()
      assert.equal(response.status, 500)
      assert.ok(text.startsWith(laidOut))
      assert.deepEqual(JSON.parse(text).errors[0], {
        code: 'internal server error',
        description: 'The service met an internal error.',
      })
      assert.equal(response.headers.get('x-compute-ops'), null)
      assert.equal(response.headers.get('x-txn-time'), String(fakeNow))
      assert.equal(service.log.length, 1)
      assert.match(JSON.stringify(service.log), /the inner secret/)
      const traceId = response.headers.get('traceparent')?.split('-')[1]
      assert.equal(service.log[0]?.traceId, traceId)
    }
  }
  service.engine.answer = () => resource('1')
  assert.equal((await post('1')).status, 200)
})

test('GET /error fails like an internal error, but writes no log lines', async () => {
  service.log.length = 0
  const response = await fetch(`${service.url}/error`)
  assert.equal(response.status, 500)
  assert.equal(service.log.length, 0)
})

test('clients on a terminal get an indented body', async () => {
  const long = JSON.stringify(Array.from({ length: 40 }, (_, n) => n))
  const pretty: Record<string, string>[] = [
    { 'user-agent': 'curl/8.5.0' },
    { 'user-agent': 'HTTPie/3' },
    { 'x-faunadb-formatted-json': '' },
  ]
  for (const headers of pretty) {
    const response = await post(long, headers)
    const text = await response.text()
    assert.ok(text.startsWith('{\n  "resource": [\n'), text)
    assert.ok(text.endsWith('}\n'))
    assert.equal(response.headers.get('x-query-bytes-out'), String(text.length))
  }
  assert.equal(await (await post(long, { 'user-agent': 'node' })).text(), `{"resource":${long}}`)
})

test('pages of another origin may read every x- header except the build', async () => {
  const response = await post('1', { origin: 'http://app.test', 'x-fauna-tags': 'a=1', 'x-trace': '1' })
  assert.equal(response.headers.get('access-control-allow-origin'), 'http://app.test')
  assert.equal(response.headers.get('access-control-allow-credentials'), 'true')
  const exposed = new Set(response.headers.get('access-control-expose-headers')?.split(', '))
  const sent = [...response.headers.keys()].filter(
    name => name.startsWith('x-') && name !== 'x-faunadb-build',
  )
  assert.deepEqual(exposed, new Set(sent))
  const rejected = await post('1', { origin: 'http://app.test', authorization: '' })
  assert.equal(rejected.status, 401)
  assert.equal(rejected.headers.get('access-control-expose-headers'), 'x-txn-time')
})

test('a response to x-trace names the machine, except for 401 and 500', async () => {
  const hostOf = async (path: string, headers: Record<string, string>) =>
    (await fetch(service.url + path, { headers })).headers.get('x-faunadb-host')
  const authorization = 'Bearer right'
  assert.equal(await hostOf('/?q=1', { authorization, 'x-trace': 'true' }), 'test-host')
  assert.equal(await hostOf('/nonexistent', { 'x-trace': '' }), 'test-host')
  assert.equal(await hostOf('/?q=1', { authorization }), null)
  assert.equal(await hostOf('/?q=1', { 'x-trace': 'true' }), null)
  assert.equal(await hostOf('/error', { 'x-trace': 'true' }), null)
})

test('a preflight needs no credential on any path', async () => {
  for (const path of ['/', '/databases', '/nonexistent', '/ping']) {
    const response = await fetch(service.url + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.test:8080', 'x-query-timeout': 'bad' },
    })
    assert.equal(response.status, 200)
    assert.equal(await response.text(), '')
    const expected = {
      'access-control-allow-origin': 'https://app.test:8080',
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '86400',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-expose-headers': '',
      'content-length': '0',
    }
    assert.deepEqual(named(response, expected), expected)
    const allowed = response.headers.get('access-control-allow-headers') ?? ''
    for (const name of ['authorization', 'x-faunadb-api-version', 'x-last-seen-txn', 'traceparent']) {
      assert.ok(allowed.split(', ').includes(name), name)
    }
  }
})

test('a body may be a stream, with additional headers', async () => {
  let body = Readable.from(['{"a":1}\r\n', '{"b":2}\r\n'])
  const endpoint: Endpoint = {
    path: '/feed',
    methods: {
      GET: () => ({
        status: 200,
        body,
        txnTime: micros(fakeNow),
        metrics: fakeMetrics,
        headers: ['x-fauna-stream-id', '7'],
      }),
    },
  }
  const edge = new Edge(fakeServices(), { build: 'b', host: 'h', pendingRequestsMax: 1 })
  const listener = new Listener(exchange => edge.serve(endpoint, exchange, {}))
  const url = `http://127.0.0.1:${await listener.listen({ host: '127.0.0.1', port: 0 })}`
  const response = await fetch(url, { headers: { origin: 'http://app.test' } })
  assert.equal(response.headers.get('content-length'), null)
  assert.equal(response.headers.get('x-query-bytes-out'), '0')
  assert.equal(response.headers.get('x-fauna-stream-id'), '7')
  assert.match(response.headers.get('access-control-expose-headers') ?? '', /x-fauna-stream-id/)
  assert.equal(await response.text(), '{"a":1}\r\n{"b":2}\r\n')
  body = new Readable({ read() {} })
  body.push('{"a":1}\r\n')
  const broken = await fetch(url)
  body.destroy(new Error('lost'))
  await assert.rejects(broken.text())
  await listener.close(1000)
})

for (const version of [1, 2]) {
  test(`the body of a client that has gone in the meantime is freed, over HTTP/${version}`, async () => {
    const services = fakeServices()
    const { meter } = services
    const arrived = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Answer>()
    const handler = () => {
      arrived.resolve()
      return answer.promise
    }
    const endpoint: Endpoint = { path: '/feed', methods: { GET: handler } }
    const edge = new Edge(services, { build: 'b', host: 'h', pendingRequestsMax: 1 })
    const left = Promise.withResolvers<void>()
    const listener = new Listener(exchange => {
      exchange.onClose(left.resolve)
      edge.serve(endpoint, exchange, {})
    })
    const url = `http://127.0.0.1:${await listener.listen({ host: '127.0.0.1', port: 0 })}`
    const leave = version === 1 ? askAndLeave(url) : askAndLeaveHttp2(url)
    await arrived.promise
    leave()
    await left.promise
    const body = new Readable({ read() {} })
    answer.resolve({ status: 200, body, txnTime: micros(fakeNow), metrics: fakeMetrics })
    await once(body, 'close')
    assert.equal(meter.openStreams, 0)
    await listener.close(1000)
  })
}

/** Sends a request; returns a function that disconnects before the response. */
function askAndLeave(url: string): () => void {
  const request = http.get(url).on('error', () => undefined)
  return () => request.destroy()
}

function askAndLeaveHttp2(url: string): () => void {
  const session = http2.connect(url)
  session.request({ ':path': '/' }).on('error', () => undefined)
  return () => session.destroy()
}

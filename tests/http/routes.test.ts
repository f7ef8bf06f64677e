// The response of each path and method, and the order in which credential, path and method are checked.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { RequestError } from '../../src/base/request-errors.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { fakeNow, startFakeService } from './fake-engine.ts'
import { connectRaw } from './raw-connection.ts'

const service = serviceOfFile(startFakeService)
beforeEach(() => {
  service.engine.seen.length = 0
  service.engine.pinged = () => Promise.resolve()
})

interface Scenario {
  readonly method: string
  readonly path: string
  readonly secret?: boolean
  readonly body?: string
  readonly status: number
  readonly answer?: string
  readonly allow?: string
}

const unauthorized = '{"errors":[{"code":"unauthorized","description":"Unauthorized"}]}'
const notFound = '{"errors":[{"code":"not found","description":"Not Found"}]}'
const notAllowed = (methods: string) =>
  `{"errors":[{"code":"method not allowed","description":"Allowed methods are ${methods}."}]}`

const scenarios: Scenario[] = [
  { method: 'POST', path: '/', secret: true, body: '[1]', status: 200, answer: '{"resource":[1]}' },
  { method: 'POST', path: '/?x=1', secret: true, body: '[1]', status: 200, answer: '{"resource":[1]}' },
  { method: 'POST', path: '/', body: '[1]', status: 401, answer: unauthorized },
  { method: 'GET', path: '/?q=%5B1%5D', secret: true, status: 200, answer: '{"resource":[1]}' },
  { method: 'GET', path: '/?q=%5B1%5D', status: 401, answer: unauthorized },
  {
    method: 'PUT',
    path: '/',
    secret: true,
    body: '1',
    status: 405,
    answer: notAllowed('GET, POST'),
    allow: 'GET, POST',
  },
  { method: 'DELETE', path: '/', secret: true, status: 405, allow: 'GET, POST' },
  { method: 'HEAD', path: '/', secret: true, status: 405, answer: '', allow: 'GET, POST' },
  { method: 'OPTIONS', path: '/', secret: true, status: 405, allow: 'GET, POST' },
  { method: 'PROPFIND', path: '/', secret: true, status: 405, allow: 'GET, POST' },
  { method: 'PUT', path: '/', body: '1', status: 401, answer: unauthorized },
  { method: 'OPTIONS', path: '/', status: 401, answer: unauthorized },
  { method: 'POST', path: '/linearized', secret: true, body: '2', status: 200, answer: '{"resource":2}' },
  {
    method: 'GET',
    path: '/linearized',
    secret: true,
    status: 405,
    answer: notAllowed('POST'),
    allow: 'POST',
  },
  { method: 'PROPFIND', path: '/linearized', secret: true, status: 405, allow: 'POST' },
  { method: 'GET', path: '/linearized', status: 401, answer: unauthorized },
  { method: 'POST', path: '/linearized/', secret: true, body: '2', status: 404, answer: notFound },
  { method: 'GET', path: '/tokens/self', secret: true, status: 200, answer: '{"resource":"token"}' },
  { method: 'GET', path: '/tokens/self', status: 401, answer: unauthorized },
  { method: 'DELETE', path: '/tokens/self', secret: true, status: 405, allow: 'GET' },
  {
    method: 'GET',
    path: '/authorized',
    secret: true,
    status: 200,
    answer: '{"account":"0","global_id":"z"}',
  },
  { method: 'GET', path: '/authorized', status: 401, answer: unauthorized },
  { method: 'POST', path: '/authorized', secret: true, body: '1', status: 405, allow: 'GET' },
  { method: 'GET', path: '/ping', status: 200, answer: '{"resource":"Scope write is OK"}' },
  { method: 'HEAD', path: '/ping', status: 200, answer: '' },
  { method: 'POST', path: '/ping', body: '1', status: 405, answer: notAllowed('GET'), allow: 'GET' },
  { method: 'GET', path: '/ping/', status: 404, answer: notFound },
  { method: 'GET', path: '/%70ing', status: 404, answer: notFound },
  { method: 'GET', path: '/%zz', status: 404, answer: notFound },
  { method: 'GET', path: '/Ping', status: 404, answer: notFound },
  { method: 'GET', path: '/ping;x=1', status: 404, answer: notFound },
  { method: 'POST', path: '/error', body: '1', status: 405, allow: 'GET' },
  { method: 'GET', path: '/nonexistent', status: 404, answer: notFound },
  { method: 'GET', path: '/nonexistent', secret: true, status: 404, answer: notFound },
  { method: 'POST', path: '/no/such/path', body: '[]', status: 404, answer: notFound },
  { method: 'PROPFIND', path: '/nonexistent', status: 404, answer: notFound },
]

for (const { method, path, secret, body, status, answer, allow } of scenarios) {
  test(`${method} ${path} ${secret ? 'with' : 'without'} a secret returns ${status}`, async () => {
    const response = await fetch(service.url + path, {
      method,
      body: body ?? null,
      headers: secret ? { authorization: 'Bearer right' } : {},
    })
    const text = await response.text()
    assert.equal(response.status, status)
    if (answer !== undefined) assert.equal(text, answer)
    assert.equal(response.headers.get('allow'), allow ?? null)
    const challenge = status === 401 ? 'Basic realm="Unauthorized"' : null
    assert.equal(response.headers.get('www-authenticate'), challenge)
  })
}

test('a query by GET is read-only, a query by /linearized uses the transaction log', async () => {
  const headers = { authorization: 'Bearer right' }
  await fetch(`${service.url}/?q=1`, { headers })
  await fetch(service.url, { method: 'POST', body: '1', headers })
  await fetch(`${service.url}/linearized`, { method: 'POST', body: '1', headers })
  const seen = service.engine.seen.map(({ readOnlyPlace, linearized, body }) => ({
    readOnlyPlace,
    linearized,
    body,
  }))
  assert.deepEqual(seen, [
    { readOnlyPlace: 'get requests', linearized: undefined, body: '1' },
    { readOnlyPlace: undefined, linearized: undefined, body: '1' },
    { readOnlyPlace: undefined, linearized: true, body: '1' },
  ])
})

test('clients of version 10 get their own form of errors for unsupported paths', async () => {
  const paths = ['/export/1', '/export/1/x?y']
  for (const path of paths) {
    for (const method of ['POST', 'GET', 'PUT']) {
      const response = await fetch(service.url + path, { method })
      assert.equal(response.status, 400, path)
      const body = (await response.json()) as { error: { code: string; message: string } }
      assert.equal(body.error.code, 'invalid_request')
      assert.match(body.error.message, /does not have this path of version 10/)
    }
  }
  assert.equal((await fetch(`${service.url}/query/2`, { method: 'POST' })).status, 404)
})

const parameters: [query: string, body: string | undefined][] = [
  ['?q=1', '1'],
  ['?q=%22a+b%22', '"a b"'],
  ['?q=%22a%2Bb%22', '"a+b"'],
  ['?x=1&q=2&q=3', '2'],
  ['?%71=4', '4'],
  ['?q=%22%C3%A8%22', '"è"'],
  ['', undefined],
  ['?', undefined],
  ['?q', undefined],
  ['?q=', undefined],
  ['?q=1&x=%zz', undefined],
  ['?q=%ff', undefined],
]
for (const [query, body] of parameters) {
  test(`GET /${query} is the query ${body}`, async () => {
    await fetch(`${service.url}/${query}`, { headers: { authorization: 'Bearer right' } })
    assert.equal(service.engine.seen[0]?.body, body)
  })
}

test('a request target may be an absolute URL, and a host is not required', async () => {
  const cases: [target: string, resource: string][] = [
    ['http://db.test/ping?scope=node', '{"resource":"Scope node is OK"}'],
    ['http://db.test/?q=5', '{"resource":5}'],
    ['http://db.test?q=5', '{"resource":5}'],
  ]
  for (const [target, resource] of cases) {
    const head = `GET ${target} HTTP/1.1\r\nauthorization: Bearer right\r\nconnection: close\r\n\r\n`
    const connection = await connectRaw(service.port, head)
    assert.ok((await connection.ended()).endsWith(resource), target)
  }
})

const pings: [query: string, scope: string, shown: string, timeoutMs: number][] = [
  ['', 'write', 'write', 1000],
  ['?scope=write', 'write', 'write', 1000],
  ['?scope=global', 'write', 'write', 1000],
  ['?scope=all', 'all', 'all', 5000],
  ['?scope=read', 'read', 'read', 500],
  ['?scope=local', 'read', 'read', 500],
  ['?scope=node', 'node', 'node', 100],
  ['?scope=anything', 'node', 'node', 100],
  ['?scope=constructor', 'node', 'node', 100],
  ['?scope=node&timeout=1234', 'node', 'node', 1234],
  ['?scope=node&timeout=soon', 'node', 'node', 100],
]
for (const [query, scope, shown, timeoutMs] of pings) {
  test(`/ping${query} checks ${scope} within ${timeoutMs} ms`, async () => {
    const asked: string[] = []
    service.engine.pinged = async scope => {
      asked.push(scope)
    }
    const response = await fetch(`${service.url}/ping${query}`)
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), { resource: `Scope ${shown} is OK` })
    assert.deepEqual(asked, [scope])
    assert.equal(response.headers.get('x-txn-time'), String(fakeNow))
    assert.equal(response.headers.get('x-compute-ops'), '1')
    service.engine.pinged = () => Promise.reject(new RequestError('time out', 'x'))
    const late = (await (await fetch(`${service.url}/ping${query}`)).json()) as { errors: object[] }
    const description = `Scope ${shown} timed out after ${timeoutMs} milliseconds`
    assert.deepEqual(late.errors, [{ code: 'time out', description }])
  })
}

const failedPings: [name: string, path: string, pinged: () => Promise<void>, description: string][] = [
  ['no time at all', '?timeout=0', () => Promise.resolve(), 'Scope write timed out after 0 milliseconds'],
  ['silence', '?timeout=1', () => new Promise(() => {}), 'Scope write timed out after 1 milliseconds'],
  [
    'a time-out of the engine',
    '?scope=read',
    () => Promise.reject(new RequestError('time out', 'x')),
    'Scope read timed out after 500 milliseconds',
  ],
  ['a broken store', '?scope=all', () => Promise.reject(new Error('disk')), 'Scope all is unavailable'],
]
for (const [name, query, pinged, description] of failedPings) {
  test(`a ping that meets ${name} returns 503`, async () => {
    service.engine.pinged = pinged
    const response = await fetch(`${service.url}/ping${query}`)
    assert.equal(response.status, 503)
    assert.deepEqual(await response.json(), { errors: [{ code: 'time out', description }] })
    const head = await fetch(`${service.url}/ping${query}`, { method: 'HEAD' })
    assert.equal(head.status, 503)
    assert.equal(await head.text(), '')
  })
}

// Request headers: which values are rejected, in which order and with which texts, and what the engine gets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serviceOfFile } from '../support/service-of-file.ts'
import { startFakeService } from './fake-engine.ts'

const service = serviceOfFile(startFakeService)

const authorization = 'Bearer right'

function post(headers: Record<string, string>): Promise<Response> {
  return fetch(service.url, { method: 'POST', body: '1', headers })
}

async function errorOfHeaders(headers: Record<string, string>): Promise<string> {
  const response = await post(headers)
  assert.equal(response.status, 400)
  const body = (await response.json()) as { errors: { code: string; description: string }[] }
  assert.equal(body.errors.length, 1)
  assert.deepEqual(Object.keys(body.errors[0] as object), ['code', 'description'])
  assert.equal(body.errors[0]?.code, 'bad request')
  return body.errors[0]?.description ?? ''
}

const version = "Invalid header 'x-faunadb-api-version': Unsupported or invalid API version"
const timeout = "Invalid header 'x-query-timeout':"
const retries = "Invalid header 'x-max-retries-on-contention':"
const tags = "Invalid header 'x-fauna-tags':"

const rejected: [name: string, value: string, description: string][] = [
  ['x-faunadb-api-version', '9', `${version} '9'.`],
  ['x-faunadb-api-version', '4.0', `${version} '4.0'.`],
  ['x-faunadb-api-version', 'unstable', `${version} 'unstable'.`],
  ['x-faunadb-api-version', '', `${version} ''.`],
  ['x-last-seen-txn', 'abc', "Invalid header 'x-last-seen-txn': Invalid timestamp 'abc'."],
  ['x-last-seen-txn', '1.5', "Invalid header 'x-last-seen-txn': Invalid timestamp '1.5'."],
  [
    'x-last-seen-txn',
    '9223372036854775808',
    "Invalid header 'x-last-seen-txn': Invalid timestamp '9223372036854775808'.",
  ],
  ['x-query-timeout', 'x', `${timeout} Invalid number 'x'.`],
  ['x-query-timeout', '', `${timeout} Invalid number ''.`],
  ['x-query-timeout', '-', `${timeout} Invalid number '-'.`],
  ['x-query-timeout', '0', `${timeout} Must be greater than 0.`],
  ['x-query-timeout', '-1', `${timeout} Must be greater than 0.`],
  ['x-query-timeout', '600001', `${timeout} Must be less than or equal to 600000.`],
  ['x-query-timeout', '9223372036854775807', `${timeout} Must be less than or equal to 600000.`],
  ['x-query-timeout', '9223372036854775808', `${timeout} Invalid number '9223372036854775808'.`],
  ['x-max-retries-on-contention', 'some', `${retries} Invalid number 'some'.`],
  ['x-max-retries-on-contention', '-1', `${retries} Must be between 0 and 7.`],
  ['x-max-retries-on-contention', '8', `${retries} Must be between 0 and 7.`],
  ['x-fauna-tags', 'x', `${tags} invalid tags`],
  ['x-fauna-tags', 'foo,,', `${tags} invalid tags`],
  ['x-fauna-tags', 'a=', `${tags} invalid tags`],
  ['x-fauna-tags', '=a', `${tags} invalid tags`],
  ['x-fauna-tags', 'a=1, b=2', `${tags} invalid tags`],
  ['x-fauna-tags', 'a=1=2', `${tags} invalid tags`],
  ['x-fauna-tags', `a=${'1'.repeat(3000)}`, `${tags} header is too long`],
  ['x-fauna-tags', Array.from({ length: 26 }, (_, n) => `t${n}=1`).join(), `${tags} too many tags`],
  ['x-fauna-tags', `${'k'.repeat(41)}=1`, `${tags} invalid key`],
  ['x-fauna-tags', `a=${'v'.repeat(81)}`, `${tags} invalid value`],
  ['x-fauna-tags', 'a=1,b=2,a=3', `${tags} duplicate key`],
  // Pairs are checked from right to left, so the error of the last one is reported.
  ['x-fauna-tags', `${'k'.repeat(41)}=1,a=${'v'.repeat(81)}`, `${tags} invalid value`],
]

for (const [name, value, description] of rejected) {
  test(`${name}: ${value.slice(0, 30)} is rejected`, async () => {
    assert.equal(await errorOfHeaders({ authorization, [name]: value }), description)
  })
}

test('of several invalid headers, the first is reported', async () => {
  const bad: Record<string, string> = {
    'x-fauna-tags': 'x',
    'x-max-retries-on-contention': 'x',
    'x-query-timeout': 'x',
    'x-last-seen-txn': 'x',
    'x-faunadb-api-version': 'x',
  }
  for (const name of Object.keys(bad).reverse()) {
    assert.match(await errorOfHeaders(bad), new RegExp(`^Invalid header '${name}'`))
    delete bad[name]
  }
})

test('responses to invalid headers lack transaction time and metrics, those to invalid tags have them', async () => {
  const early = await post({ 'x-query-timeout': 'x', 'x-fauna-tags': 'a=1' })
  assert.equal(early.headers.get('x-txn-time'), null)
  assert.equal(early.headers.get('x-compute-ops'), null)
  assert.equal(early.headers.get('x-fauna-tags'), null)
  assert.ok(early.headers.get('traceparent'))
  assert.equal(early.headers.get('x-faunadb-build'), '1.2.3-test')
  assert.ok(!(await early.text()).includes('\n'), 'compact')
  const late = await post({ 'x-fauna-tags': 'x' })
  assert.ok(late.headers.get('x-txn-time'))
  assert.equal(late.headers.get('x-compute-ops'), '1')
  assert.equal(late.headers.get('x-fauna-tags'), null)
})

test('headers are checked before credential, path, method and ping', async () => {
  const headers = { 'x-faunadb-api-version': '9' }
  for (const [method, path] of [
    ['GET', '/nonexistent'],
    ['PUT', '/'],
    ['GET', '/ping'],
    ['GET', '/error'],
  ]) {
    const response = await fetch(service.url + path, { method: method as string, headers })
    assert.equal(response.status, 400, `${method} ${path}`)
  }
})

const accepted: [headers: Record<string, string>, seen: object][] = [
  [{}, { dialect: '2.1', timeoutMs: 120_000, lastSeenTxn: undefined }],
  [{ 'x-faunadb-api-version': '4' }, { dialect: '4' }],
  [{ 'x-faunadb-api-version': 'UNSTABLE' }, { dialect: 'UNSTABLE' }],
  [{ 'x-query-timeout': '600000' }, { timeoutMs: 600_000 }],
  [{ 'x-query-timeout': '1' }, { timeoutMs: 1 }],
  [{ 'x-last-seen-txn': '1500000000000000' }, { lastSeenTxn: 1_500_000_000_000_000 }],
  [{ 'x-last-seen-txn': '-5' }, { lastSeenTxn: -5 }],
  [{ 'x-last-seen-txn': 'None' }, { lastSeenTxn: undefined }],
  [{ 'x-max-retries-on-contention': '0' }, { retriesMax: 0 }],
  [{ 'x-max-retries-on-contention': '7' }, { retriesMax: 7 }],
]

for (const [headers, expected] of accepted) {
  test(`${JSON.stringify(headers)} reaches the engine`, async () => {
    const response = await post({ authorization, ...headers })
    assert.equal(response.status, 200)
    const seen = service.engine.seen.at(-1) as object
    assert.deepEqual({ ...seen, ...expected }, seen)
  })
}

test('tags are echoed in reverse order, even with errors and invalid credentials', async () => {
  const longest = `${'k'.repeat(40)}=${'v'.repeat(80)}`
  const most = Array.from({ length: 25 }, (_, n) => `t${n}=v`)
  const cases: [sent: string, echoed: string | null][] = [
    ['foo=Foo1,bar=Bar2', 'bar=Bar2,foo=Foo1'],
    ['a=1', 'a=1'],
    ['with_underscore=And_1', 'with_underscore=And_1'],
    [longest, longest],
    [most.join(), most.toReversed().join()],
    ['', null],
  ]
  for (const [sent, echoed] of cases) {
    const response = await post({ authorization, 'x-fauna-tags': sent })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('x-fauna-tags'), echoed)
  }
  const unauthorized = await post({ 'x-fauna-tags': 'a=1' })
  assert.equal(unauthorized.status, 401)
  assert.equal(unauthorized.headers.get('x-fauna-tags'), 'a=1')
})

test('a trace is continued with a new span', async () => {
  const traceId = '750efa5fb6a131eb2cf4db39f28366cb'
  const spanId = '5669e71839eca76b'
  const sent = `00-${traceId}-${spanId}-01`
  const first = (await post({ authorization, traceparent: sent })).headers.get('traceparent') ?? ''
  const second = (await post({ authorization, traceparent: sent })).headers.get('traceparent') ?? ''
  assert.match(first, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  assert.notEqual(first, second)
  assert.ok(!first.includes(spanId))
  const anyVersion = await post({ authorization, traceparent: `zz-${traceId}-${spanId}-zz` })
  assert.match(anyVersion.headers.get('traceparent') ?? '', new RegExp(`^00-${traceId}-`))
})

test('an invalid traceparent begins a new trace', async () => {
  const bad = [
    'invalidTraceparent',
    '00-750efa5fb6a131eb2cf4db39f28366cb-5669e71839eca76b',
    '00-zz0efa5fb6a131eb2cf4db39f28366cb-5669e71839eca76b-00',
    '00-750efa5fb6a131eb2cf4db39f28366cb-0000000000000000-00',
    '00-00000000000000000000000000000000-5669e71839eca76b-00',
    '00x750efa5fb6a131eb2cf4db39f28366cb-5669e71839eca76b-00',
  ]
  for (const traceparent of bad) {
    const response = await post({ authorization, traceparent })
    assert.equal(response.status, 200)
    const answered = response.headers.get('traceparent') ?? ''
    assert.match(answered, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    const trace = answered.split('-')[1]
    assert.ok(trace !== '750efa5fb6a131eb2cf4db39f28366cb' && trace !== '0'.repeat(32))
  }
})

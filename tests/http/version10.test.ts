// `POST /query/1`: the form of requests and responses of version 10, where no conformance case covers it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HttpAnswer, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

function ask(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return send(server, { path: '/query/1', secret: server.rootSecret, body: text, headers })
}

interface Body {
  readonly error?: { readonly code: string; readonly message: string }
  readonly data?: unknown
  readonly stats?: unknown
}

async function messageOf(answer: Promise<HttpAnswer>): Promise<string | undefined> {
  return ((await answer).json as Body).error?.message
}

test('information about a request is in the body, in order, and not in headers', async () => {
  const { headers, json, status } = await ask({ query: '1 + 1' }, { 'x-query-tags': 'a=1,b=2' })
  assert.equal(status, 200)
  const names = ['data', 'static_type', 'summary', 'txn_ts', 'stats', 'query_tags', 'schema_version']
  assert.deepEqual(Object.keys(json as object), names)
  assert.equal(headers.get('x-txn-time'), null)
  assert.equal(headers.get('x-compute-ops'), null)
})

test('an invalid body is rejected as a whole', async () => {
  const rejections = [
    ['', 'No request body provided'],
    ['{}', 'Invalid request body'],
    ['{"query": "1", "more": 2}', 'Invalid request body'],
    ['[]', 'Invalid request body: Unexpected JSON Array Start.'],
    ['{"query": 5}', 'Invalid request body: Unexpected JSON Integer. Expected query template.'],
    [
      '{"query": "1", "arguments": []}',
      'Invalid request body: Unexpected JSON Array Start. Expected Object.',
    ],
  ] as const
  for (const [body, message] of rejections) {
    const { json, status } = await ask(body)
    assert.equal(status, 400)
    assert.deepEqual(json, { error: { code: 'invalid_request', message } })
  }
})

test('arguments are read in the format of the response', async () => {
  const query = { query: 'n', arguments: { n: { '@int': '3' } } }
  assert.deepEqual(((await ask(query)).json as Body).data, { '@int': '3' })
  assert.deepEqual(((await ask(query, { 'x-format': 'tagged' })).json as Body).data, { '@int': '3' })
  assert.equal(((await ask(query, { 'x-format': 'decorated' })).json as Body).data, '3')
  const untagged = ask({ query: 'n', arguments: { n: 3 } }, { 'x-format': 'tagged' })
  assert.equal(await messageOf(untagged), "Invalid argument 'n': numbers must be tagged")
})

test('deep nesting is an error of the query, in its text and in its values', async () => {
  const nested = (await ask({ query: '['.repeat(100_000) })).json as Body
  assert.equal(nested.error?.code, 'invalid_query')
  const deep = (await ask({ query: 'Array.sequence(0, 5000).fold([], (inner, _) => [inner])' })).json as Body
  assert.equal(deep.error?.code, 'value_too_large')
})

test('calls nest to their limit, and fail beyond it', async () => {
  const count = (steps: number) =>
    ask({
      query: `let count = (self, n) => if (n == 0) 0 else 1 + self(self, n - 1)\ncount(count, ${steps})`,
    })
  assert.equal(((await count(2048)).json as Body).data, 2048)
  assert.equal(((await count(2049)).json as Body).error?.code, 'stack_overflow')
})

test('failed queries have costs, too, and strangers learn about an invalid body', async () => {
  const failed = (await ask({ query: 'Array.sequence(0, 500).map(i => i + 1); 1 / 0' })).json as Body
  assert.equal((failed.stats as { compute_ops: number }).compute_ops, 21)
  const stranger = await send(server, { path: '/query/1', body: '{}' })
  assert.equal(stranger.status, 400)
  assert.equal((await send(server, { path: '/query/1', body: '{"query": "1"}' })).status, 401)
})

test('of very many errors, the first ones are reported', async () => {
  const failed = (await ask({ query: `{${'a:1,'.repeat(5000)}}` })).json as Body
  assert.equal(failed.error?.message, 'The query failed 1000 validation checks')
})

test('a summary has a maximum length, whatever its lines and however deep its calls', async () => {
  const line = `/* ${'x'.repeat(200_000)} */ `
  const deep = `${line} let f = (self, n) => if (n == 0) 1 / 0 else 1 + self(self, n - 1); f(f, 2000)`
  const failed = (await ask({ query: deep })).json as Body & { readonly summary: string }
  assert.equal(failed.error?.code, 'divide_by_zero')
  assert.ok(failed.summary.length < 1_100_000, `${failed.summary.length} units`)
  assert.match(failed.summary, /\n\nwarning: The rest is too long to be shown\.$/)
  const told =
    'let t = Array.sequence(0, 16).fold("ab", (x, _) => x + x)\nArray.sequence(0, 100).map(_ => log(t)).length'
  const logged = (await ask({ query: told })).json as Body & { readonly summary: string }
  assert.equal(logged.data, 100)
  assert.ok(logged.summary.length < 1_100_000, `${logged.summary.length} units`)
})

test('the time of the transaction is that of the response in every format', async () => {
  for (const format of ['simple', 'tagged', 'decorated']) {
    const { json } = await ask({ query: '[TransactionTime()]' }, { 'x-format': format })
    const { data, txn_ts } = json as { data: unknown; txn_ts: number }
    const [shown = ''] = /\d{4}-[^"\\]*Z/.exec(JSON.stringify(data)) ?? []
    assert.equal(Math.floor(txn_ts / 1000), Date.parse(shown), `${format}: ${JSON.stringify(data)}`)
  }
})

test('an endless query exceeds the limits of the service', async () => {
  const query =
    'let f = n => n; Array.sequence(0, 15000).map(i => Array.sequence(0, 15000).map(f).length).length'
  const { json, status } = await ask({ query })
  assert.equal(status, 400)
  assert.match((json as Body).error?.message ?? '', /^Transaction does too much compute/)
})

test('a write by another language is seen: both share secrets and databases', async () => {
  const key = await send(server, {
    secret: server.rootSecret,
    query: { create_key: { object: { role: 'server' } } },
  })
  const { secret } = (key.json as { resource: { secret: string } }).resource
  const answer = await send(server, { path: '/query/1', secret, body: '{"query": "1"}' })
  assert.equal((answer.json as Body).data, 1)
})

test('a key does not reveal a database to callers without read permission', async () => {
  const { json } = await ask({
    query: 'Database.create({ name: "kid" }); Key.create({ role: "client" }).secret',
  })
  const secret = (json as { data: string }).data
  const messages: string[] = []
  for (const name of ['kid', 'nobody']) {
    const body = JSON.stringify({ query: `Key.create({ role: "admin", database: "${name}" })` })
    const { text } = await send(server, { path: '/query/1', secret, body })
    messages.push(
      text
        .replaceAll(name, 'NAME')
        .replace(/"txn_ts".*$/s, '')
        .replaceAll(/\^+/g, '^'),
    )
  }
  assert.equal(messages[0], messages[1])
  assert.match(messages[0] ?? '', /unknown database name/)
})

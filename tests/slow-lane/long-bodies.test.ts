// Long queries are sent to the slow lane as the bytes of the client, in any encoding. Their responses, costs and log
// records are the same as without a slow lane.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../src/base/limits.ts'
import { requestBodyLimits } from '../../src/server/http/request-body.ts'
import { api, aroundNow, type LogRecord } from '../query-log/log-client.ts'
import { query, send } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { slowQueries } from '../support/slow-queries.ts'

const blanks = ' '.repeat(requestBodyLimits.shortBodyBytes + 1)
const long4 = `{"length": "é🐉${'x'.repeat(requestBodyLimits.shortBodyBytes)}"}`
const long10 = JSON.stringify({ query: `"é🐉${'x'.repeat(requestBodyLimits.shortBodyBytes)}".length` })

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
const utf32 = (text: string) =>
  Buffer.concat(Array.from(text, char => Buffer.from(Uint32Array.of(char.codePointAt(0) as number).buffer)))
/** The last chunk ends within a character. */
const cut = (bytes: Buffer) => bytes.subarray(0, -3)

interface SentRequest {
  readonly name: string
  readonly body: Buffer
  readonly path?: string
}

const sent: readonly SentRequest[] = [
  { name: 'version 4', body: Buffer.from(long4) },
  { name: 'version 4 with a mark', body: Buffer.from(`\ufeff${long4}`) },
  { name: 'version 4 in UTF-16', body: utf16(long4) },
  { name: 'version 4 in UTF-32', body: utf32(long4) },
  { name: 'version 4 at the end of the log', body: Buffer.from(long4), path: '/linearized' },
  { name: 'version 10', body: Buffer.from(long10), path: '/query/1' },
  { name: 'version 10 in UTF-16', body: utf16(long10), path: '/query/1' },
  { name: 'no UTF-8', body: Buffer.concat([Buffer.from(`"${blanks}`), Buffer.of(0xff, 0x22)]) },
  { name: 'UTF-16 that is cut', body: cut(utf16(long4)) },
  { name: 'UTF-32 that is cut', body: cut(utf32(long4)) },
  { name: 'no JSON', body: Buffer.from(`{"add": [1, ${blanks}`) },
  { name: 'blanks', body: Buffer.from(blanks) },
  { name: 'blanks to version 10', body: Buffer.from(blanks), path: '/query/1' },
]

const alone = serviceOfFile(() => startProcess({ flags: ['--slow-lane-processes', '0'] }))
const server = serviceOfFile(() => startProcess({ flags: ['--metrics-port', '0'] }))

async function ask(to: ServerProcess, { body, path = '/' }: SentRequest) {
  const headers = { authorization: `Bearer ${to.rootSecret}`, 'x-faunadb-api-version': '4' }
  const response = await fetch(to.url + path, { method: 'POST', headers, body: new Uint8Array(body) })
  const text = await response.text()
  return {
    status: response.status,
    // Responses of version 10 contain times and the tags of the request.
    text: path === '/query/1' ? (/"data":[^,]*|"code":"[^"]*"/.exec(text)?.[0] ?? text) : text,
    bytesIn: response.headers.get('x-query-bytes-in'),
    compute: response.headers.get('x-compute-ops'),
  }
}

for (const each of sent) {
  test(`a long query has the same response as without a slow lane: ${each.name}`, async () => {
    const before = await slowQueries(server)
    assert.deepEqual(await ask(server, each), await ask(alone, each))
    assert.equal(await slowQueries(server), before + 1)
  })
}

test('a long query is recorded with its shape, in any encoding', async () => {
  const shapesOf = async (to: ServerProcess) => {
    const wanted = { ...aroundNow(), region_group: 'us-std', size: sent.length }
    const { json } = await api(to, to.rootSecret, 'POST', '/api/v1/logs/_records?type=query', wanted)
    return (json.records as readonly LogRecord[]).map(({ FQL_SHAPE }) => FQL_SHAPE)
  }
  for (const each of sent) await Promise.all([ask(server, each), ask(alone, each)])
  const shapes = await shapesOf(server)
  assert.deepEqual(shapes, await shapesOf(alone))
  assert.deepEqual(new Set(shapes), new Set(['…', '"?"', '{"length":"?"…', '{"add":["?"……']))
})

test('an update with a long body is committed, and can be explained', async () => {
  await query(server, server.rootSecret, { create_collection: { object: { name: 'things' } } })
  const data = { object: { text: 'é'.repeat(requestBodyLimits.shortBodyBytes) } }
  const create = { create: { collection: 'things' }, params: { object: { data } } }
  const made = (await query(server, server.rootSecret, create)) as { data: { text: string } }
  assert.equal(made.data.text.length, requestBodyLimits.shortBodyBytes)
  const asked = { query: create, as: 'client' }
  const explained = await send(server, { secret: server.rootSecret, path: '/api/v1/explain', query: asked })
  assert.equal(explained.status, 200, explained.text)
})

test('a long response has the same layout as without a slow lane', async () => {
  const request = {
    query: { object: { text: 'x'.repeat(limits.longBodyBytes), more: [1] } },
    headers: { 'x-faunadb-formatted-json': '' },
  }
  const before = await slowQueries(server)
  const { text } = await send(server, { ...request, secret: server.rootSecret })
  assert.equal(await slowQueries(server), before + 1)
  assert.ok(text.startsWith('{\n  "resource": {\n    "text": "x'))
  assert.equal(text, (await send(alone, { ...request, secret: alone.rootSecret })).text)
})

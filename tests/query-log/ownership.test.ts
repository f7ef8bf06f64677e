// The database of each record: a database keeps its log through renames and moves, and a new database with its name
// does not get it. Unauthenticated requests never push out the records of others. Requests that are not queries are
// logged as well.

import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { keyOfNewDatabase, query, rootQuery, send } from '../support/http.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { api, aroundNow, download, finished, type LogRecord, requestExport } from './log-client.ts'

async function mark(server: RunningServer, secret: string, name: string): Promise<void> {
  const headers = { 'x-fauna-tags': `mark=${name}` }
  assert.equal((await send(server, { secret, query: { add: [1, 2] }, headers })).status, 200)
}

const marksOf = (records: readonly LogRecord[]) =>
  records.flatMap(({ TAGS }) => (TAGS as { mark?: string }).mark ?? []).sort()

/** The marks in each view of a database's log; all views must show the same. */
async function marksIn(server: RunningServer, secret: string, path: string): Promise<readonly string[]> {
  const body = { ...aroundNow(), database: `us-std/${path}` }
  const look = (view: string, more: object = {}) =>
    api(server, secret, 'POST', `/api/v1/logs/${view}?type=query`, { ...body, ...more })
  const { json, status } = await look('_records', { max_results: 100 })
  assert.equal(status, 200, JSON.stringify(json))
  const records = json.records as LogRecord[]
  const { totals, shapes } = (await look('_summary')).json as {
    readonly totals: { readonly requests: number }
    readonly shapes: readonly { readonly requests: number }[]
  }
  assert.equal(totals.requests, records.length)
  const shaped = shapes.reduce((sum, { requests }) => sum + requests, 0)
  assert.equal(shaped, records.length)
  const { request_id: id } = await requestExport(server, secret, { database: `us-std/${path}` })
  const { presigned_url: url, state } = await finished(server, secret, id)
  const exported = state === 'DoesNotExist' ? [] : await download(url)
  assert.deepEqual(marksOf(exported), marksOf(records))
  for (const record of exported) assert.equal(Object.keys(record)[0], 'API_VERSION')
  return marksOf(records)
}

test('a database that is created again under the same name has no records of the former one', async () => {
  await using server = await startServer()
  const former = await keyOfNewDatabase(server, 'shop', 'admin')
  await query(server, former, { create_database: { object: { name: 'child' } } })
  await mark(server, former, 'former')
  await mark(server, `${former}:child:admin`, 'formerschild')
  assert.deepEqual(await marksIn(server, former, 'shop'), ['former', 'formerschild'])
  await rootQuery(server, { delete: { database: 'shop' } })
  const later = await keyOfNewDatabase(server, 'shop', 'admin')
  assert.deepEqual(await marksIn(server, later, 'shop'), [])
  await query(server, later, { create_database: { object: { name: 'child' } } })
  await mark(server, `${later}:child:admin`, 'child')
  assert.deepEqual(await marksIn(server, later, 'shop'), ['child'])
  assert.deepEqual(await marksIn(server, later, 'shop/child'), ['child'])
  assert.deepEqual(await marksIn(server, server.rootSecret, 'shop'), ['child'])
})

test('a database keeps its log through renames and moves', async () => {
  await using server = await startServer()
  const own = await keyOfNewDatabase(server, 'own', 'admin')
  const other = await keyOfNewDatabase(server, 'other', 'admin')
  await keyOfNewDatabase(server, 'place', 'admin')
  await mark(server, own, 'first')
  await mark(server, other, 'other')
  const named = (from: string, to: string) =>
    rootQuery(server, { update: { database: from }, params: { object: { name: to } } })
  await named('own', 'renamed')
  await named('other', 'own')
  await mark(server, own, 'second')
  assert.deepEqual(await marksIn(server, own, 'renamed'), ['first', 'second'])
  assert.deepEqual(await marksIn(server, other, 'own'), ['other'])
  await rootQuery(server, { move_database: { database: 'renamed' }, to: { database: 'place' } })
  await mark(server, own, 'third')
  assert.deepEqual(await marksIn(server, own, 'place/renamed'), ['first', 'second', 'third'])
})

test('unauthenticated requests have a share of their own, and headers are cut', async () => {
  await using server = await startServer({ flags: ['--query-log-megabytes', '8'] })
  const own = await keyOfNewDatabase(server, 'own', 'admin')
  await mark(server, own, 'early')
  const long = 'x'.repeat(5000)
  const headers = { 'user-agent': long, 'x-driver-env': long, 'x-forwarded-for': long }
  const stranger = () => send(server, { secret: 'nobody', query: 1, headers })
  for (let round = 0; round < 60; round++)
    for (const { status } of await Promise.all(Array.from({ length: 20 }, stranger)))
      assert.equal(status, 401)
  await send(server, { secret: own, query: 1, headers: { ...headers, 'x-fauna-tags': 'mark=late' } })
  assert.deepEqual(await marksIn(server, own, 'own'), ['early', 'late'])
  const body = { ...aroundNow(), region_group: 'us-std', status_class: '4xx' }
  const { json } = await api(server, server.rootSecret, 'POST', '/api/v1/logs/_records?type=query', body)
  const [record] = json.records as LogRecord[]
  const agent = (JSON.parse(record?.REQUEST_HEADERS as string) as { user_agent: string }).user_agent
  assert.equal(agent, `${'x'.repeat(512)}…`)
  const folder = join(server.data, 'query-log/records')
  const sizes = (await readdir(folder)).map(async name => (await stat(join(folder, name))).size)
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  assert.ok(bytes < 700_000, `${bytes} bytes`)
})

test('explanations, imports and exports are logged', async () => {
  await using server = await startServer()
  const secret = await keyOfNewDatabase(server, 'own', 'admin')
  await query(server, secret, { create_collection: { object: { name: 'things' } } })
  const post = (path: string, body: string, name: string) =>
    send(server, { secret, path: `/api/v1/${path}`, body, headers: { 'x-fauna-tags': `mark=${name}` } })
  await post('explain', '{"query":{"add":[1,2]},"as":"client"}', 'explain')
  await post('transfer/write', '{"onConflict":"fail"}\n["w","things",1,null,{"data":{"a":1}}]', 'write')
  await post('transfer/write', 'nonsense', 'nonsense')
  await post('transfer/missing', '{"documents":[["things","2"]]}', 'missing')
  await post('transfer/snapshot', '', 'snapshot')
  await post('transfer/page', '{}', 'page')
  assert.deepEqual(await marksIn(server, secret, 'own'), [
    'explain',
    'missing',
    'nonsense',
    'page',
    'snapshot',
    'write',
  ])
  const { json } = await api(server, secret, 'POST', '/api/v1/logs/_records?type=query', {
    ...aroundNow(),
    database: 'us-std/own',
  })
  const written = (json.records as LogRecord[]).find(
    ({ TAGS }) => (TAGS as { mark?: string }).mark === 'write',
  )
  assert.deepEqual([written?.BYTE_WRITE_OPS, written?.RESPONSE_CODE], [1, '200'])
})

test('a failure caused by an unauthenticated request leaves no line in the log of the service', async () => {
  await using server = await startServer()
  const before = server.stderr()
  for (let at = 0; at < 10; at++)
    assert.equal((await send(server, { method: 'GET', path: '/error' })).status, 500)
  assert.equal(server.stderr(), before)
})

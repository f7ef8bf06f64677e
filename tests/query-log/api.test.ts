// The log API over HTTP, against a started server.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { query, rootQuery, send } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { api, aroundNow, download, exported, finished, requestExport } from './log-client.ts'

const logs = '/api/v1/logs?type=query'
const list = '/api/v1/logs/_list?type=query&regionGroup=us-std'
const uuid = '0f5c0a8e-3b1f-4c47-9d0e-2d2f0f6f2d11'
const unknownId = '01a1fd83-7214-7140-976f-90816ab6d180'

const server = serverOfFile()
let root: string
const secrets: Record<string, string> = {}

const keyFor = async (secret: string, database: string, role: string) => {
  const key = { create_key: { object: { database: { database }, role } } }
  return ((await query(server, secret, key)) as { secret: string }).secret
}

before(async () => {
  root = server.rootSecret
  for (const name of ['app', 'other']) await rootQuery(server, { create_database: { object: { name } } })
  secrets.app = await keyFor(root, 'app', 'admin')
  secrets.other = await keyFor(root, 'other', 'admin')
  secrets.server = await keyFor(root, 'app', 'server')
  await query(server, secrets.app, { create_database: { object: { name: 'child' } } })
  secrets.child = await keyFor(secrets.app, 'child', 'admin')
})

test('the export contains every query that was answered before the request, with its own numbers', async () => {
  const tags = { 'x-fauna-tags': 'run=first' }
  const expression = { add: [1, 2, 3] }
  const answers = await Promise.all(
    Array.from({ length: 200 }, () =>
      send(server, { secret: secrets.child, query: expression, headers: tags }),
    ),
  )
  const records = await exported(server, root, { database: 'us-std/app/child' })
  const found = records.filter(({ TAGS }) => (TAGS as { run?: string }).run === 'first')
  assert.equal(found.length, answers.length)
  const [answer] = answers
  const record = found.find(({ TRACEPARENT }) => TRACEPARENT === answer?.headers.get('traceparent'))
  assert.ok(record && answer)
  assert.deepEqual(record.DATABASE, ['app', 'child'])
  assert.equal(record.API_VERSION, '4')
  assert.equal(record.BYTES_IN, JSON.stringify(expression).length)
  assert.equal(record.BYTES_OUT, Buffer.byteLength(answer.text))
  assert.equal(record.COMPUTE_OPS, Number(answer.headers.get('x-compute-ops')))
  assert.equal(record.FQL_SHAPE, '{"add":["?"]}')
  assert.equal(record.RESPONSE_CODE, '200')
  assert.match(record.TS as string, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} Z$/)
})

test('rejected, failed, linearized, GET and streaming requests leave records as well', async () => {
  const headers = (name: string) => ({ headers: { 'x-fauna-tags': `kind=${name}` } })
  const secret = secrets.other as string
  await send(server, { secret: 'nobody', query: 1, ...headers('rejected') })
  await send(server, { secret, body: '{"broken', ...headers('broken') })
  await send(server, { secret, query: { now: null }, path: '/linearized', ...headers('linearized') })
  await send(server, { secret, method: 'GET', path: '/?q=%7B%22now%22:null%7D', ...headers('get') })
  await send(server, { secret, query: 1, path: '/stream', ...headers('stream') })
  await send(server, { secret, query: 1, headers: { 'x-query-timeout': 'x', 'x-fauna-tags': 'kind=header' } })
  const records = await exported(server, root, { region_group: 'us-std' })
  const summary = records
    .filter(
      ({ TAGS, REQUEST_HEADERS }) => 'kind' in (TAGS as object) || String(REQUEST_HEADERS).includes('-1'),
    )
    .map(record => [
      (record.TAGS as { kind?: string }).kind,
      record.RESPONSE_CODE,
      record.REQUEST_METHOD,
      record.FQL_SHAPE,
      (record.DATABASE as string[]).join('/'),
    ])
  assert.deepEqual(summary, [
    ['rejected', '401', 'POST', '"?"', ''],
    ['broken', '400', 'POST', '"?"', 'other'],
    ['linearized', '200', 'POST', '{"now":"?"}', 'other'],
    ['get', '200', 'GET', '{"now":"?"}', 'other'],
    ['stream', '400', 'POST', '"?"', 'other'],
    [undefined, '400', 'POST', '', ''],
  ])
})

test('an export of a database contains its own records and those of its descendants, and no others', async () => {
  await query(server, secrets.app as string, 1)
  await query(server, secrets.other as string, 1)
  const paths = async (database: string) => {
    const records = await exported(server, root, { database })
    return [...new Set(records.map(({ DATABASE }) => (DATABASE as string[]).join('/')))].sort()
  }
  assert.deepEqual(await paths('us-std/app'), ['app', 'app/child'])
  assert.deepEqual(await paths('us-std/app/child'), ['app/child'])
  assert.deepEqual(await exported(server, root, { regionGroup: 'eu-std' }), [])
})

test('the response to a request and the record of a request', async () => {
  const body = { ...aroundNow(), database: 'us-std/app', region_group: 'eu-std' }
  const made = await api(server, root, 'POST', logs, body)
  assert.equal(made.status, 200)
  const { request_id: id, updated_at: updatedAt, state, ...rest } = made.json
  assert.match(id as string, /^[0-9a-f-]{36}$/)
  assert.ok(['Requested', 'Pending'].includes(state as string))
  assert.deepEqual(rest, { ...body, region_group: 'us-std', version: 1 })
  assert.ok(Math.abs(Date.parse(updatedAt as string) - Date.now()) < 60_000)
  const end = await finished(server, root, id)
  assert.deepEqual(Object.keys(end), [
    'request_id',
    'database',
    'region_group',
    'time_start',
    'time_end',
    'state',
    'presigned_url',
    'presigned_url_expiration_time',
    'version',
    'updated_at',
  ])
  const expiry = Date.parse(end.presigned_url_expiration_time as string) - Date.now()
  assert.ok(expiry > 3_500_000 && expiry <= 3_600_000, String(expiry))
  const anyRegion = await api(server, root, 'GET', `/api/v1/logs/${id}?type=query&regionGroup=mars`)
  assert.deepEqual(anyRegion.json, end)
})

test('times with different offsets mean the same instant', async () => {
  const span = { time_start: '2020-01-01T00:00:00+02:00', time_end: '2019-12-31T22:00:00.000000001Z' }
  assert.equal((await api(server, root, 'POST', logs, { ...span, region_group: 'us-std' })).status, 200)
  const reversed = { time_start: '2020-01-01T00:00:00+02:00', time_end: '2019-12-31T22:00:00Z' }
  assert.equal((await api(server, root, 'POST', logs, { ...reversed, region_group: 'us-std' })).status, 400)
})

test('equal idempotency tokens resolve to the same request, even when they arrive concurrently', async () => {
  const body = { region_group: 'us-std', idempotency_token: uuid }
  const many = await Promise.all(Array.from({ length: 8 }, () => requestExport(server, root, body)))
  assert.equal(new Set(many.map(({ request_id: id }) => id)).size, 1)
  const other = await requestExport(server, secrets.app as string, { ...body, database: 'us-std/app' })
  assert.notEqual(other.request_id, many[0]?.request_id)
})

test('errors are answered with a message and a matching status', async () => {
  const span = aroundNow()
  const ok = { region_group: 'us-std', ...span }
  const cases: readonly [number, string | undefined, string, string, unknown?][] = [
    [401, undefined, 'POST', logs, ok],
    [401, 'nobody', 'POST', logs, ok],
    [401, 'tak_0123456789abcdef_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'POST', logs, ok],
    [403, secrets.server, 'POST', logs, ok],
    [400, root, 'POST', '/api/v1/logs', ok],
    [400, root, 'POST', '/api/v1/logs?type=audit', ok],
    [400, root, 'POST', logs, '{'],
    [400, root, 'POST', logs, '[]'],
    [400, root, 'POST', logs, undefined],
    [400, root, 'POST', logs, span],
    [400, root, 'POST', logs, { ...ok, region_group: 'mars' }],
    [400, root, 'POST', logs, { ...ok, region_group: 7 }],
    [400, root, 'POST', logs, { ...span, database: 'mars/app' }],
    [400, root, 'POST', logs, { ...span, database: 'us-std' }],
    [400, root, 'POST', logs, { ...span, database: 'us-std/' }],
    [404, root, 'POST', logs, { ...span, database: 'us-std/nowhere' }],
    [404, root, 'POST', logs, { ...span, database: 'us-std/app/child/grandchild' }],
    [404, root, 'POST', logs, { ...span, database: 'eu-std/app' }],
    [400, root, 'POST', logs, { region_group: 'us-std', time_end: span.time_end }],
    [400, root, 'POST', logs, { ...ok, time_start: 'yesterday' }],
    [400, root, 'POST', logs, { ...ok, time_start: '2024-01-01' }],
    [400, root, 'POST', logs, { ...ok, time_start: 1_700_000_000 }],
    [400, root, 'POST', logs, { ...ok, time_start: '-999999999-01-01T00:00:00Z' }],
    [400, root, 'POST', logs, { ...ok, time_start: span.time_end }],
    [
      400,
      root,
      'POST',
      logs,
      { ...ok, time_start: '2024-01-01T00:00:00Z', time_end: '2024-03-31T00:00:00.001Z' },
    ],
    [
      200,
      root,
      'POST',
      logs,
      { ...ok, time_start: '2024-01-01T00:00:00Z', time_end: '2024-03-31T00:00:00Z' },
    ],
    [400, root, 'POST', logs, { ...ok, idempotency_token: 'x' }],
    [400, root, 'POST', logs, { ...ok, idempotency_token: `${uuid}0` }],
    [413, root, 'POST', logs, { ...ok, junk: 'x'.repeat(70_000) }],
    [413, root, 'POST', logs, 'x'.repeat(9_000_000)],
    [404, root, 'GET', `/api/v1/logs/${unknownId}?type=query`],
    [404, root, 'GET', '/api/v1/logs/..%2f..%2fetc?type=query'],
    [400, root, 'GET', `/api/v1/logs/${unknownId}`],
    [401, undefined, 'GET', `/api/v1/logs/${unknownId}?type=query`],
    [400, root, 'POST', list, { next_token: 'nonsense' }],
    [400, root, 'POST', list, { next_token: 7 }],
    [400, root, 'POST', list, { states: ['Nowhere'] }],
    [400, root, 'POST', list, { max_results: 0 }],
    [400, root, 'POST', list, { max_results: 1001 }],
    [405, root, 'GET', logs],
    [405, root, 'DELETE', `/api/v1/logs/${unknownId}?type=query`],
    [405, root, 'GET', list],
    [404, root, 'GET', '/api/v1/nothing'],
  ]
  for (const [status, secret, method, path, body] of cases) {
    const answer = await api(server, secret, method, path, body)
    const name = `${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}`
    assert.equal(answer.status, status, `${name}: ${JSON.stringify(answer.json)}`)
    if (status !== 200) assert.equal(typeof answer.json.message, 'string', name)
  }
})

test('only bearer credentials are accepted', async () => {
  const basic = `Basic ${Buffer.from(`${root}:`).toString('base64')}`
  const answer = await send(server, {
    path: logs,
    headers: { authorization: basic },
    query: { region_group: 'us-std', ...aroundNow() },
  })
  assert.equal(answer.status, 401)
})

test('an admin key has access to its own database and its descendants, and learns nothing about others', async () => {
  const { app, other, child } = secrets as Record<string, string>
  const status = async (secret: string | undefined, body: object) =>
    (await api(server, secret, 'POST', logs, { ...aroundNow(), ...body })).status
  assert.equal(await status(app, { database: 'us-std/app' }), 200)
  assert.equal(await status(app, { database: 'us-std/app/child' }), 200)
  assert.equal(await status(app, { database: 'us-std/app/nowhere' }), 404)
  assert.equal(await status(child, { database: 'us-std/app/child' }), 200)
  assert.equal(await status(child, { database: 'us-std/app' }), 403)
  assert.equal(await status(app, { database: 'us-std/other' }), 403)
  assert.equal(await status(app, { database: 'us-std/nowhere' }), 403)
  assert.equal(await status(app, { database: 'eu-std/app' }), 403)
  assert.equal(await status(app, { region_group: 'us-std' }), 403)
  assert.equal(await status(`${app}:child:admin`, { database: 'us-std/app' }), 403)
  assert.equal(await status(`${root}:app:admin`, { database: 'us-std/other' }), 403)
  assert.equal(await status(`${root}:app:server`, { database: 'us-std/app' }), 403)
  const { request_id: id } = await requestExport(server, root, { database: 'us-std/app/child' })
  const look = (secret: string | undefined, request = id) =>
    api(server, secret, 'GET', `/api/v1/logs/${request}?type=query`)
  assert.deepEqual([(await look(app)).status, (await look(child)).status], [200, 200])
  const [foreign, unknown] = [await look(other), await look(other, '1')]
  assert.equal(foreign.status, 404)
  assert.deepEqual(foreign.json, unknown.json)
  const seen = await api(server, other, 'POST', list, {})
  assert.deepEqual(seen.json.results, [])
})

test('account keys over HTTP: created, shown once, listed, limited, revoked', async () => {
  const path = '/api/v1/account-keys'
  assert.equal((await api(server, secrets.app, 'POST', path, { name: 'x' })).status, 403)
  assert.equal((await api(server, undefined, 'GET', path)).status, 401)
  for (const body of [{}, { name: '' }, { name: 'x', ttl_days: 0 }, { name: 'x', region_groups: ['mars'] }]) {
    assert.equal((await api(server, root, 'POST', path, body)).status, 400, JSON.stringify(body))
  }
  const made = await api(server, root, 'POST', path, {
    name: 'pipeline',
    region_groups: ['eu-std'],
    ttl_days: 1,
  })
  assert.equal(made.status, 201)
  const { secret, ...described } = made.json
  assert.equal((await api(server, root, 'POST', path, { name: 'pipeline' })).status, 409)
  assert.deepEqual((await api(server, root, 'GET', path)).json, { results: [described] })
  const status = async (regionGroup: string) =>
    (await api(server, secret as string, 'POST', logs, { ...aroundNow(), region_group: regionGroup })).status
  assert.deepEqual([await status('eu-std'), await status('us-std')], [200, 403])
  assert.equal((await api(server, secret as string, 'GET', path)).status, 403)
  const wrong = `${(secret as string).slice(0, -1)}${(secret as string).endsWith('A') ? 'B' : 'A'}`
  assert.equal((await api(server, wrong, 'POST', logs, {})).status, 401)
  assert.equal((await send(server, { secret: secret as string, query: 1 })).status, 401)
  assert.equal((await api(server, root, 'DELETE', `${path}/${described.id}`)).status, 200)
  assert.equal((await api(server, root, 'DELETE', `${path}/${described.id}`)).status, 404)
  assert.equal(await status('eu-std'), 401)
})

test('account keys from the command line work on a running server', async () => {
  const run = (...words: string[]) => runProgram(['account-key', ...words, '--data', server.data])
  const made = await run('create', '--name', 'shell', '--ttl-days=2', '--region-group', 'us-std')
  assert.equal(made.status, 0, made.stderr)
  const secret = made.stdout.trim()
  assert.match(secret, /^tak_/)
  assert.equal((await requestExport(server, secret, { region_group: 'us-std' })).version, 1)
  assert.equal((await run('create', '--name', 'shell')).status, 1)
  assert.equal((await run('create', '--name', 'x', '--region-group', 'mars')).status, 2)
  assert.equal((await run('create')).status, 2)
  assert.equal((await run('destroy')).status, 2)
  const listed = (await run('list')).stdout
  assert.match(listed, /shell/)
  assert.ok(!listed.includes(secret))
  const id = secret.split('_')[1] as string
  assert.equal((await run('revoke', id)).status, 0)
  assert.equal((await run('revoke', id)).status, 1)
  assert.equal((await api(server, secret, 'POST', logs, {})).status, 401)
})

test('the list is ordered newest first, filtered by state, and stable while requests arrive', async () => {
  const app = secrets.app as string
  const ids: unknown[] = []
  for (let n = 0; n < 5; n++) {
    const { request_id: id } = await requestExport(server, app, { database: 'us-std/app' })
    await finished(server, app, id)
    ids.unshift(id)
  }
  const seen: unknown[] = []
  let token: unknown
  do {
    const { json } = await api(server, app, 'POST', list, {
      states: ['Complete'],
      max_results: 2,
      next_token: token,
    })
    seen.push(...(json.results as { request_id: unknown }[]).map(result => result.request_id))
    token = json.next_token
    await requestExport(server, app, { database: 'us-std/app' })
  } while (token !== null)
  assert.deepEqual(seen.slice(0, 5), ids)
  assert.equal(new Set(seen).size, seen.length)
  const none = await api(server, app, 'POST', list, { states: ['TimedOut'] })
  assert.deepEqual(none.json, { next_token: null, results: [] })
})

test('the URL returns the file repeatedly; after a change of any character it returns 403', async () => {
  const { request_id: id } = await requestExport(server, root, { database: 'us-std/app' })
  const url = new URL((await finished(server, root, id)).presigned_url as string)
  assert.equal(url.origin, server.url)
  const target = url.pathname + url.search
  const start = target.indexOf('/', '/api/'.length)
  for (let at = start; at < target.length; at++) {
    const letter = target[at] === 'a' ? 'b' : 'a'
    const changed = target.slice(0, at) + letter + target.slice(at + 1)
    // Node's own client normalizes nothing here: letters stay as they are.
    const { status } = await fetch(server.url + changed)
    assert.equal(status, 403, changed)
  }
  for (const changed of [
    `${target}0`,
    `${target}&x=1`,
    target.slice(0, -1),
    target.replace('expires=', 'expires=0'),
  ]) {
    assert.equal((await fetch(server.url + changed)).status, 403, changed)
  }
  assert.equal((await fetch(server.url + url.pathname)).status, 403)
  assert.ok((await download(url.href)).length > 0)
  assert.ok((await download(url.href)).length > 0)
})

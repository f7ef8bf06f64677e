// Details in the records of the log: the caller, the names that were used, the reason of a failure. They contain no
// value of a query, and records are found by each of them.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { dataOf, importSchema } from '../support/graphql.ts'
import { query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'
import { startProcess } from '../support/server-process.ts'
import { api, aroundNow, type LogRecord } from './log-client.ts'

interface Details {
  readonly shape: string
  readonly endpoint: string
  readonly address: string
  readonly lane: string
  readonly is_dashboard: boolean
  readonly txn_ts: number | null
  readonly collections: readonly string[]
  readonly indexes: readonly string[]
  readonly functions: readonly string[]
  readonly error: { readonly code: string; readonly description: string; readonly position: string } | null
  readonly caller: {
    readonly kind: string
    readonly is_outer: boolean
    readonly id: string | null
    readonly name: string | null
    readonly roles: readonly string[]
    readonly identity: string | null
  } | null
}

/** Matches all planted values. The number is so long that no random id, time or trace contains it. */
const planted = /hunter2|407114071140711/

const server = serverOfFile()
let admin: string
before(async () => {
  await query(server, server.rootSecret, { create_database: { object: { name: 'app' } } })
  const key = (await query(server, server.rootSecret, {
    create_key: {
      object: { database: { database: 'app' }, role: 'admin', data: { object: { name: 'the backend' } } },
    },
  })) as { readonly secret: string }
  admin = key.secret
  await query(server, admin, { create_collection: { object: { name: 'people' } } })
})

async function look(
  filter: object = {},
  secret = admin,
): Promise<readonly { readonly record: LogRecord; readonly details: Details }[]> {
  const order = { ...aroundNow(), database: 'us-std/app', ...filter }
  const { json, status } = await api(server, secret, 'POST', '/api/v1/logs/_records?type=query', order)
  assert.equal(status, 200, JSON.stringify(json))
  const records = json.records as readonly LogRecord[]
  return records.map((record, at) => ({
    record,
    details: (json.details as readonly Details[])[at] as Details,
  }))
}

async function newest(filter: object = {}) {
  const [first] = await look({ ...filter, max_results: 1 })
  assert.ok(first, 'there is such a record')
  return first
}

/** The newest record and its details as one text. */
async function toldOfNewest(): Promise<string> {
  const { details, record } = await newest()
  return JSON.stringify([record, { ...details, caller: null }])
}

test('a rejected query of version 4 is logged with code, text, position and names, and no value', async () => {
  const ref = { ref: { collection: 'people' }, id: '77' }
  await send(server, {
    secret: admin,
    query: {
      update: ref,
      params: { object: { data: { object: { 'of-ann': { add: ['ann@x', 407114071140711] } } } } },
    },
    headers: { 'x-fauna-tags': 'job=nightly' },
  })
  const { details, record } = await newest()
  assert.deepEqual(details.error, {
    code: 'invalid argument',
    description: 'Number expected, String provided.',
    position: 'params/object/data/object/?/add/0',
  })
  assert.deepEqual(details.collections, ['people'])
  assert.equal(
    details.shape,
    '{"update":{"ref":{"collection":"people"},"id":"?"},"params":{"object":[{"object":[{"add":["?"]}]}]}}',
  )
  assert.equal(record.FQL_SHAPE, details.shape.replace('people', '?'), 'the record has no name')
  assert.deepEqual(
    { ...details.caller, id: 'some' },
    // The key is in the parent database.
    { kind: 'key', is_outer: true, id: 'some', name: null, roles: ['admin'], identity: null },
  )
  assert.equal(details.lane, 'ordinary')
  assert.equal(details.endpoint, '/')
  assert.equal(details.address, '127.0.0.1')
  assert.deepEqual(record.TAGS, { job: 'nightly' })
})

test('content quoted by errors of version 4 is left out', async () => {
  const hostile = [
    { abort: 'hunter2 gave up' },
    { get: { ref: { collection: 'hunter2' }, id: '1' } },
    { date: 'hunter2' },
    { date: "hunter2' hunter2 'hunter2" },
    { select: ['hunter2', 'a]hunter2'], from: { object: {} } },
    { hunter2: 1, 'a } hunter2': 2 },
    { var: 'hunter2' },
    { find_str_regex: 'a', pattern: '(hunter2/' },
    { acos: 407114071140711 },
    { call: { function: 'hunter2' }, arguments: 407114071140711 },
    { create: { collection: 'people' }, params: { object: { data: 'hunter2', hunter2: 1 } } },
    { create_collection: { object: { name: 'hunter2 {[' } } },
  ]
  for (const expression of hostile) {
    const { status } = await send(server, { secret: admin, query: expression })
    assert.ok(status >= 400, JSON.stringify(expression))
    const told = await toldOfNewest()
    assert.doesNotMatch(told, planted, JSON.stringify(expression))
    assert.match(told, /"code":"[a-z]/, told)
  }
})

test('records of version 10 have the shape with names, and no value from the template, arguments or error', async () => {
  const made = await sendFql(
    server,
    admin,
    'Collection.create({ name: "Cars", indexes: { byColour: { terms: [{ field: "colour" }] } } })',
  )
  assert.equal(made.status, 200, made.text)
  const text = 'Cars.byColour("hunter2").first()! // hunter2\n/* hunter2 */'
  await sendFql(server, admin, text)
  const { details, record } = await newest()
  assert.equal(details.shape, 'Cars.byColour(?).first()!')
  assert.equal(record.FQL_SHAPE, '?.?(?).first()!')
  assert.deepEqual([details.collections, details.indexes], [['Cars'], ['byColour']])
  assert.deepEqual(details.error, {
    code: 'null_value',
    description: 'Null value, due to empty set',
    position: '*query*:1:31',
  })
  const hostile: readonly (readonly [text: string, args?: object])[] = [
    ['abort("hunter2")'],
    ['abort({ hunter2: 407114071140711 })'],
    ['Cars.byId("407114071140711")!.hunter2'],
    ['Date("hunter2")'],
    ['Date("a`hunter2`b")'],
    ['hunter2 + 1'],
    ['let hunter2 = 407114071140711; hunter2.hunter2()'],
    ['"hunter2".at(407114071140711)'],
    ['log("hunter2"); abort("hunter2")'],
    ['Cars.create({ hunter2: x => x })'],
    ['Cars.create({ id: "407114071140711", secret: "hunter2", colour: "#{hunter2}" })'],
    ['x.length', { x: { hunter2: 'hunter2' } }],
    ['Date(x)', { x: 'hunter2' }],
    ['Date(x)', { x: 407114071140711 }],
    ['"hunter2'],
    ['<<+END\nhunter2\nEND.foo'],
    ['let x = 0x407114071140711 /* hunter2'],
    ['Collection("hunter2")'],
    ['Function("hunter2")(407114071140711)'],
    ['Collection.create({ name: "hunter2 {[" })'],
    ['Set.fromJSON("hunter2")'],
  ]
  for (const [expression, args] of hostile) {
    const { status } = await sendFql(server, admin, expression, args as Readonly<Record<string, unknown>>)
    const told = await toldOfNewest()
    assert.doesNotMatch(told, planted, expression)
    if (status >= 400) assert.match(told, /"error":{"code":"[a-z]/, expression)
  }
})

test('a record of a write to a role does not name the function with the same name', async () => {
  await sendFql(server, admin, 'Function.create({ name: "shared", body: "() => 1" })')
  await sendFql(server, admin, 'Role.create({ name: "shared" })')
  await sendFql(server, admin, 'Role.byName("shared")!.update({ data: { a: 1 } })')
  const { details } = await newest()
  assert.deepEqual([details.error, details.functions], [null, []])
})

test('templates of version 10 and invalid bodies leave no value', async () => {
  const bodies = [
    { query: { fql: ['Date(', { value: 'hunter2' }, ')'] } },
    {
      query: {
        fql: [
          'Cars.byColour(',
          { value: { '@long': '407114071140711' } },
          ').map(hunter2 => 407114071140711)',
        ],
      },
    },
    { query: { fql: ['abort(', { fql: ['"hunter2"'] }, ')'] } },
    { query: { fql: ['a + ', { value: { '@doc': { hunter2: 407114071140711 } } }] } },
    { query: 407114071140711, hunter2: 'hunter2' },
    { query: { hunter2: 407114071140711 } },
    { query: 'x', arguments: { x: { '@time': 'hunter2' } } },
    { query: 'x', arguments: { x: { '@hunter2': 'hunter2' } } },
  ]
  for (const body of [...bodies.map(each => JSON.stringify(each)), '{"query": "hunter2', 'hunter2']) {
    await send(server, { secret: admin, path: '/query/1', body })
    const { details } = await newest()
    assert.equal(details.endpoint, '/query/1', body)
    assert.doesNotMatch(await toldOfNewest(), planted, body)
  }
})

test('feeds, streams and schema pushes have records without values', async () => {
  const source = await sendFql(server, admin, 'Cars.where(.colour == "hunter2").eventSource()')
  const token = (source.json as { readonly data: string }).data
  const feed = await send(server, {
    secret: admin,
    path: '/feed/1',
    body: JSON.stringify({ token, start_ts: 1 }),
  })
  assert.ok(feed.status < 500, feed.text)
  const asFeed = await newest()
  assert.equal(asFeed.details.endpoint, '/feed/1')
  assert.ok(!JSON.stringify(asFeed).includes(token), 'the token of the source is no part of it')
  await send(server, { secret: admin, path: '/stream/1', body: JSON.stringify({ token: 'hunter2' }) })
  const asStream = await newest()
  assert.equal(asStream.details.endpoint, '/stream/1')
  assert.doesNotMatch(await toldOfNewest(), /hunter2/)
  await send(server, {
    secret: admin,
    path: '/stream',
    query: { ref: { collection: 'people' }, id: 'hunter2' },
  })
  assert.equal((await newest()).details.endpoint, '/stream')
  assert.doesNotMatch(await toldOfNewest(), /hunter2/)
  const form = new FormData()
  form.append('main.fsl', new Blob(['collection hunter2 { hunter2 } }']), 'main.fsl')
  const pushed = await fetch(`${server.url}/schema/1/validate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}` },
    body: form,
  })
  assert.equal(pushed.status, 400)
  const push = await newest()
  assert.match(push.details.endpoint, /^\/schema\/1/)
  assert.equal(push.record.RESPONSE_CODE, '400')
  assert.match(push.details.error?.description ?? '', /^Invalid database schema update|^error: [A-Z][a-z]+ /)
  assert.match(push.details.error?.position ?? '', /^a schema file:1:\d+$/)
  assert.doesNotMatch(await toldOfNewest(), /hunter2/)
})

test('rejected imports have records with the reason', async () => {
  const rejected = await send(server, {
    secret: admin,
    path: '/api/v1/transfer/write?x=1',
    body: '{"options": {}}\n{"hunter2": 407114071140711',
  })
  assert.equal(rejected.status, 400, rejected.text)
  const { details } = await newest()
  assert.equal(details.error?.code, 'bad_request')
  assert.doesNotMatch(await toldOfNewest(), planted)
})

test('the slow lane logs the same details, and that the query was slow', async () => {
  await using slow = await startProcess({ flags: ['--slow-lane-after-ms', '0'] })
  await query(slow, slow.rootSecret, { create_collection: { object: { name: 'people' } } })
  const create = { create: { ref: { collection: 'people' }, id: '5' }, params: { object: {} } }
  const { ts } = (await query(slow, slow.rootSecret, create)) as { readonly ts: number }
  const write = { ...aroundNow(), region_group: 'us-std', txn_ts: [ts] }
  const wrote = (await api(slow, slow.rootSecret, 'POST', '/api/v1/logs/_records?type=query', write)).json
  const lanes = (wrote.details as readonly Details[]).map(each => [each.lane, each.txn_ts])
  assert.deepEqual(lanes, [['slow', ts]])
  const get = { get: { ref: { collection: 'people' }, id: '407114071140711' } }
  assert.equal((await send(slow, { secret: slow.rootSecret, query: get })).status, 404)
  const order = { ...aroundNow(), region_group: 'us-std', lane: 'slow' }
  const { json } = await api(slow, slow.rootSecret, 'POST', '/api/v1/logs/_records?type=query', order)
  const [details] = json.details as readonly Details[]
  assert.deepEqual(details?.collections, ['people'])
  assert.equal(details?.caller?.kind, 'root')
  assert.deepEqual(details?.error, {
    code: 'instance not found',
    description: 'Document not found.',
    position: '',
  })
})

test('the caller is shown with current names: keys, roles, tokens', async () => {
  await query(server, admin, {
    create_role: {
      object: {
        name: 'clerk',
        privileges: [{ object: { resource: { collection: 'people' }, actions: { object: { read: true } } } }],
        membership: { object: { resource: { collection: 'people' } } },
      },
    },
  })
  const key = (await query(server, admin, {
    create_key: { object: { role: { role: 'clerk' }, data: { object: { name: 'the till' } } } },
  })) as { readonly secret: string; readonly ref: { readonly '@ref': { readonly id: string } } }
  await query(server, key.secret, { add: [1, 2] })
  const { id } = key.ref['@ref']
  const told = { kind: 'key', is_outer: false, id, name: 'the till', roles: ['clerk'], identity: null }
  assert.deepEqual((await newest()).details.caller, told)
  await query(server, admin, { update: { role: 'clerk' }, params: { object: { name: 'seller' } } })
  for (const who of [id, 'The Till', 'seller']) {
    const found = await look({ who })
    assert.deepEqual(found[0]?.details.caller, { ...told, roles: ['seller'] }, who)
  }
  await query(server, admin, {
    create: { ref: { collection: 'people' }, id: '5' },
    params: { object: { credentials: { object: { password: 'pw' } } } },
  })
  const login = { login: { ref: { collection: 'people' }, id: '5' }, params: { object: { password: 'pw' } } }
  const { secret } = (await query(server, admin, login)) as { readonly secret: string }
  await query(server, secret, { add: [1, 2] })
  const [asUser] = await look({ who: 'people/5' })
  assert.equal(asUser?.details.caller?.kind, 'token')
  assert.deepEqual(asUser?.details.caller?.roles, ['seller'])
  assert.deepEqual(await look({ who: 'nobody at all' }), [])
})

test('the operator sees the names of keys in outer databases, admins inside do not', async () => {
  await query(server, admin, { add: [1, 2] })
  const [asOperator] = await look({ max_results: 1 }, server.rootSecret)
  const caller = asOperator?.details.caller
  assert.deepEqual([caller?.name, caller?.is_outer], ['the backend', false])
  assert.ok((await look({ who: 'the backend' }, server.rootSecret)).length > 0)
  const [within] = await look({ max_results: 1 })
  assert.deepEqual([within?.details.caller?.name, within?.details.caller?.id], [null, null])
  assert.deepEqual(await look({ who: 'the backend' }), [])
  assert.deepEqual(await look({ who: caller?.id ?? '' }), [], 'nor are they found by their number')
})

test('records are found by each detail', async () => {
  await send(server, {
    secret: admin,
    query: { add: ['x'] },
    headers: { 'x-fauna-tags': 'source=dashboard' },
  })
  const counts = async (filter: object) => (await look({ max_results: 500, ...filter })).length
  const all = await counts({})
  const expectAll = async (filter: object, holds: (found: Awaited<ReturnType<typeof newest>>) => boolean) => {
    const found = await look({ max_results: 500, ...filter })
    assert.ok(found.length > 0 && found.length < all, `${JSON.stringify(filter)}: ${found.length} of ${all}`)
    assert.ok(found.every(holds), JSON.stringify(filter))
  }
  await expectAll({ error: 'invalid argument' }, ({ details }) => details.error?.code === 'invalid argument')
  await expectAll({ collection: 'people' }, ({ details }) => details.collections.includes('people'))
  await expectAll({ index: 'byColour' }, ({ details }) => details.indexes.includes('byColour'))
  await expectAll({ tag: 'job=nightly' }, ({ record }) => JSON.stringify(record.TAGS).includes('nightly'))
  await expectAll({ tag: 'source' }, ({ details }) => details.is_dashboard)
  await expectAll({ dashboard: false }, ({ details }) => !details.is_dashboard)
  await expectAll({ status: '404' }, ({ record }) => record.RESPONSE_CODE === '404')
  await expectAll({ shape: '{"add":["?"]}' }, ({ record }) => record.FQL_SHAPE === '{"add":["?"]}')
  await expectAll(
    { operations_above: 1 },
    ({ record }) => Number(record.BYTE_READ_OPS) + Number(record.BYTE_WRITE_OPS) > 0,
  )
  await expectAll({ text: 'bycolour' }, ({ details }) => details.shape.includes('byColour'))
  assert.equal(await counts({ address: '127.0.0.1', retried: false }), all)
  // On a busy machine the first run of a query may take so long that it moves to the slow lane.
  const inLane = async (lane: 'ordinary' | 'slow') => {
    const found = await look({ max_results: 500, lane })
    assert.ok(found.every(({ details }) => details.lane === lane))
    return found.length
  }
  assert.equal((await inLane('ordinary')) + (await inLane('slow')), all)
  for (const bad of [
    { lane: 'fast' },
    { status: 'ok' },
    { dashboard: 'no' },
    { operations_above: -1 },
    { txn_ts: 5 },
    { txn_ts: ['5'] },
  ]) {
    const body = { ...aroundNow(), database: 'us-std/app', ...bad }
    const { status } = await api(server, admin, 'POST', '/api/v1/logs/_records?type=query', body)
    assert.equal(status, 400, JSON.stringify(bad))
  }
})

test('a version of a document leads to the request that wrote it, by the time of the transaction', async () => {
  await query(server, admin, { create_collection: { object: { name: 'traced', history_days: 30 } } })
  const ref = { ref: { collection: 'traced' }, id: '407114071140711' }
  await query(server, admin, { create: ref, params: { object: { data: { object: { a: 1 } } } } })
  await sendFql(server, admin, 'traced.byId("407114071140711")!.update({ a: 2 })')
  await query(server, admin, { get: ref })
  await send(server, { secret: admin, query: { update: ref, params: { object: { data: 'none' } } } })
  await query(server, admin, { delete: ref })
  const history = (await query(server, admin, { paginate: { events: ref } })) as {
    readonly data: readonly { readonly ts: number }[]
  }
  const times = history.data.map(({ ts }) => ts)
  assert.equal(times.length, 3)
  const found = await look({ txn_ts: times })
  assert.deepEqual(found.map(({ details }) => [details.txn_ts, details.shape]).reverse(), [
    [times[0], '{"create":{"ref":{"collection":"traced"},"id":"?"},"params":{"object":[{"object":["?"]}]}}'],
    [times[1], 'traced.byId(?)!.update({?:?})'],
    [times[2], '{"delete":{"ref":{"collection":"traced"},"id":"?"}}'],
  ])
  assert.doesNotMatch(JSON.stringify(found), planted)
  const second = (await look({ txn_ts: [times[1]] })).map(({ details }) => details.txn_ts)
  assert.deepEqual(second, [times[1]])
  assert.deepEqual(await look({ txn_ts: [] }), [])
  const reads = await look({ text: '{"get":', max_results: 1 })
  assert.equal(reads[0]?.details.txn_ts, null, 'a read has no time of a commit')
  const failures = await look({ status: '400', max_results: 1 })
  assert.equal(failures[0]?.details.txn_ts, null, 'nor has a write that failed')
})

test('kept_since is the time of the first record', async () => {
  const body = { ...aroundNow(), database: 'us-std/app', max_results: 1 }
  const { json } = await api(server, admin, 'POST', '/api/v1/logs/_records?type=query', body)
  const [record] = json.records as readonly LogRecord[]
  const written = Date.parse(String(record?.TS).replace(' ', 'T').replace(' ', ''))
  assert.ok(Date.parse(String(json.kept_since)) <= written, `${json.kept_since} is before ${record?.TS}`)
})

test('aggregates leave out the dashboard on request, list errors, and show new shapes', async () => {
  const sums = async (more: object) => {
    const body = { ...aroundNow(), database: 'us-std/app', ...more }
    const { json } = await api(server, admin, 'POST', '/api/v1/logs/_summary?type=query', body)
    return json as {
      readonly totals: { readonly requests: number }
      readonly errors: readonly { readonly error: string }[]
    }
  }
  const [whole, without] = [await sums({}), await sums({ dashboard: false })]
  assert.equal(whole.totals.requests, without.totals.requests + 1)
  assert.ok(
    whole.errors.some(({ error }) => error === '400 invalid argument: Number expected, String provided.'),
  )
  const body = { ...aroundNow(), database: 'us-std/app' }
  const { json, status } = await api(server, admin, 'POST', '/api/v1/logs/_changes?type=query', body)
  assert.equal(status, 200)
  const changes = json as {
    readonly totals_before: { readonly requests: number }
    readonly queries: readonly { readonly name: string; readonly changes: readonly string[] }[]
  }
  assert.equal(changes.totals_before.requests, 0)
  const cars = changes.queries.find(({ name }) => name === 'Cars.byColour(?).first()!')
  assert.deepEqual(cars?.changes, ['new'])
})

test('records of GraphQL name the indexes of fields in fragments', async () => {
  await importSchema(
    server,
    admin,
    'type Pet { name: String! } type Query { petsByName(name: String): [Pet] }',
  )
  const text = 'query { ...Pets } fragment Pets on Query { petsByName { data { name } } }'
  await dataOf(server, admin, text)
  const { details } = await newest()
  assert.deepEqual(details.indexes, ['petsByName'])
})

// The endpoints of imports and exports accept documents of user collections and credentials of the caller's own
// database, and check them like queries. Anything else gets a 400.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { native } from '../../src/values/value.ts'
import { keyOfNewDatabase, query, rootQuery, send } from '../support/http.ts'
import { seedsToRun } from '../support/seeded.ts'
import { serverOfFile } from '../support/server.ts'
import { document } from './importing.ts'

const server = serverOfFile()
let own: string
let neighbour: string
before(async () => {
  own = await keyOfNewDatabase(server, 'own', 'admin')
  neighbour = await keyOfNewDatabase(server, 'neighbour', 'admin')
  for (const secret of [own, neighbour]) {
    await query(server, secret, { create_collection: { object: { name: 'things' } } })
    await query(server, secret, { create_database: { object: { name: 'child' } } })
  }
})

const options = '{"onConflict":"replace","dryRun":false}'

function write(lines: readonly string[]) {
  return send(server, { secret: own, path: '/api/v1/transfer/write', body: [options, ...lines].join('\n') })
}

async function rejection(line: string): Promise<string> {
  const { json, status } = await write([line])
  assert.equal(status, 400, line)
  return (json as { message: string }).message
}

test('rows of native collections are rejected, whatever they contain', async () => {
  const global = await rootQuery(server, { select: ['global_id'], from: { get: { database: 'neighbour' } } })
  assert.equal(typeof global, 'string')
  for (const name of [...Object.keys(native), 'anything', '']) {
    if (name === 'credentials') continue
    for (const id of [0, 1, 1024, '9223372036854775807']) {
      for (const fields of ['{}', '{"name":"up","api_version":"4"}', '{"role":"admin"}'])
        assert.match(
          await rejection(`["w","/${name}",${id},null,${fields}]`),
          /^line 2: .*is written by queries only$/,
        )
    }
  }
  const up = await send(server, {
    secret: `${own}:up:admin`,
    query: { create_key: { object: { role: 'admin' } } },
  })
  assert.equal(up.status, 401)
  assert.equal((await send(server, { secret: neighbour, query: 1 })).status, 200)
})

test('ids, times and fields that no query could store are reported with their line', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['["w","things",-1,null,{}]', /^line 2: things -1: the id -1 is not between/],
    ['["w","things",9223372036854775808,null,{}]', /^line 2: a line that is not a record/],
    ['["w","things",1,-1,{}]', /^line 2: things 1: the time -1 is not between/],
    ['["w","things",1,100000000000000000,{}]', /things 1: the time 100000000000000000 is not/],
    ['["h","things",1,-11676096000000000,{}]', /things 1: the time -11676096000000000 is not/],
    ['["x","things",1,null,{}]', /a line that is not a record/],
    ['["w","things",1,null,{"data":5}]', /things 1: its `data` is not an object/],
    ['["w","things",1,null,{"ttl":5}]', /things 1: its `ttl` is not a time/],
    ['["w","things",1,null,{"role":"admin"}]', /things 1: a field `role`, which it cannot have/],
    [
      '["w","/credentials",1,null,{"hashed_password":"x"}]',
      /credentials 1: its `instance` is not a reference/,
    ],
    ['["w","/credentials",1,null,{"instance":{"@named":["role","r"]}}]', /`instance` is not a reference/],
    ['["h","/credentials",1,1,{"instance":{"@doc":["things",1]}}]', /credentials have no past/],
    ['["w","things",1,null,{"data":{"u":{"@uuid":"x"}}}]', /a line that is not a record/],
    ['["w","things",1,null,{"data":{"d":{"@double":"x"}}}]', /a line that is not a record/],
    ['["w","things",1,null,{"data":{"r":{"@named":["key","x"]}}}]', /a line that is not a record/],
    ['["w","things",1,null,{"data":{"q":{"@query":["4",[1],{"var":"x"}]}}}]', /a line that is not a record/],
  ]
  for (const [line, reason] of cases) assert.match(await rejection(line), reason)
  const blank = await write(['', '["w","things",1,null,{}]', 'nonsense'])
  assert.match(blank.text, /line 4: a line that is not a record/)
})

test('credentials belong to a document of the same database', async () => {
  for (const instance of ['{"@doc":["elsewhere",1]}', '{"@doc":["/keys",1]}', '{"@doc":["/databases",1]}']) {
    const { json } = await write([`["w","/credentials",1,null,{"instance":${instance}}]`])
    const { outcomes } = json as { outcomes: readonly (readonly [string, string])[] }
    assert.deepEqual(outcomes, [['bad', 'its `instance` is not a reference to a document']])
  }
})

test('a reference to a schema object uses its name, so numbers of another database are not accepted', async () => {
  const id = await rootQuery(server, { select: ['ref', 'id'], from: { get: { database: 'neighbour' } } })
  assert.ok(id)
  for (const collection of [
    'databases',
    'collections',
    'indexes',
    'functions',
    'roles',
    'access_providers',
  ]) {
    const { status, json } = await write([
      `["w","things",7,null,{"data":{"r":{"@doc":["/${collection}",1024]}}}]`,
    ])
    assert.equal(status, 200)
    assert.deepEqual((json as { unresolved: unknown }).unresolved, [[0, `/${collection} 1024`]])
  }
  const kept = await query(server, own, { select: ['data', 'r'], from: { get: document('things', '7') } })
  assert.deepEqual(kept, { id: '1024', collection: '/access_providers' })
})

test('a stored lambda must be valid in the language', async () => {
  const of = (body: string) => write([`["w","things",8,null,{"data":{"f":{"@query":["4","x",${body}]}}}]`])
  assert.match((await of('{"nonsense":1}')).text, /a stored lambda that is not valid in the language/)
  assert.match((await of('{"var":"y"}')).text, /a stored lambda that is not valid in the language/)
  assert.match((await of('{"add":[{"var":"x"},1]}')).text, /"(?:written|replaced)"/)
})

test('pages contain user collections and credentials, at existing times', async () => {
  const page = async (body: unknown) =>
    (await send(server, { secret: own, path: '/api/v1/transfer/page', body: JSON.stringify(body) })).status
  const request = { at: Date.now() * 1000, collection: 'things', history: true, place: ['live', null] }
  assert.equal(await page(request), 200)
  for (const name of Object.keys(native))
    assert.equal(await page({ ...request, collection: `/${name}` }), name === 'credentials' ? 200 : 400, name)
  for (const at of [-1, 1.5, 1e300, -1e15, null, '1', []]) assert.equal(await page({ ...request, at }), 400)
  for (const place of [
    ['live', '99999999999999999999'],
    ['live', '-1'],
    ['live', 5],
    ['ended', 1.5, '1'],
    ['ended', -1, '1'],
    ['ended', 1, null],
    1,
    null,
    {},
  ])
    assert.equal(await page({ ...request, place }), 400, JSON.stringify(place))
})

/** An endless sequence of values from a seed. */
function randomFrom(seed: number): <T>(choices: readonly T[]) => T {
  let state = seed
  return choices => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return choices[(state >>> 8) % choices.length] as never
  }
}

const scalars: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, 1e300, 2 ** 53, -(2 ** 62), 1e17, '', '0', '-1', 'live', 'ended'],
  ...['w', 'h', 'd', 'things', 'nothing', '/credentials', '/databases', '/keys', '4', 'x', '\ud800', '[]'],
  ...['2020-01-01T00:00:00Z', '1600-01-01T00:00:00Z', '+999999999-12-31T23:59:59+18:00', 'NaN', 'AA=='],
]
const names = [
  'data',
  'ttl',
  'instance',
  'hashed_password',
  'x',
  '',
  '__proto__',
  'constructor',
  'at',
  'place',
]
const tags = ['@doc', '@named', '@query', '@obj', '@ts', '@date', '@bytes', '@uuid', '@double', '@ref', '@']

function randomValue(pick: <T>(choices: readonly T[]) => T, depth: number): unknown {
  const kind = depth === 0 ? 'scalar' : pick(['scalar', 'array', 'object', 'tag'])
  const inner = () => randomValue(pick, depth - 1)
  const several = () => Array.from({ length: pick([0, 1, 2, 3]) }, inner)
  if (kind === 'scalar') return pick(scalars)
  if (kind === 'array') return several()
  if (kind === 'tag') return { [pick(tags)]: pick([true, false]) ? inner() : several() }
  return Object.fromEntries(several().map(value => [pick(names), value]))
}

function randomLine(pick: <T>(choices: readonly T[]) => T): string {
  const wild = () => randomValue(pick, 3)
  const id = () => pick([0, 1, 2, 3, 1024, '9223372036854775807', '-1', '1e3'])
  const ts = () => pick([null, 0, 1, 1_500_000_000_000_000, '9007199254740991', '9007199254740993', -1])
  const fields = `{${pick(['"data"', '"ttl"', '"instance"', '"x"'])}:${JSON.stringify(wild())}}`
  const collection = pick(['things', 'things', 'nothing', '/credentials', '/roles'])
  if (pick([1, 2, 3, 4]) === 1) return JSON.stringify(wild())
  return `["${pick(['w', 'h', 'd'])}","${collection}",${id()},${ts()},${fields}]`
}

const requestsPerSeed = 500

async function assertHarmless(seed: number): Promise<void> {
  const pick = randomFrom(seed)
  for (let round = 0; round < requestsPerSeed; round++) {
    const path = `/api/v1/transfer/${pick(['write', 'write', 'page', 'missing', 'snapshot'])}`
    const wild = () => JSON.stringify(randomValue(pick, 3))
    const lines = Array.from({ length: pick([1, 2, 5]) }, () => randomLine(pick))
    const head = pick([options, '{"onConflict":"fail","dryRun":true}', '{"onConflict":"keep"}', wild()])
    const pageOf = {
      at: pick(scalars),
      collection: pick(['things', '/credentials', 'x']),
      history: pick(scalars),
    }
    const place = [pick(['live', 'ended', '']), pick(scalars), pick(scalars)]
    const body = path.endsWith('write')
      ? [head, ...lines].join('\n')
      : path.endsWith('page')
        ? JSON.stringify({ ...pageOf, place })
        : `{"documents":${wild()}}`
    const { status, text } = await send(server, { secret: own, path, body })
    assert.ok(status === 200 || status === 400, `seed ${seed}: ${path} ${body} answered ${status} ${text}`)
  }
  // Everything that was stored can be rendered and exported.
  const all = { paginate: { documents: { collection: 'things' } }, size: 1000 }
  const shown = { map: { lambda: 'x', expr: { get: { var: 'x' } } }, collection: all }
  await query(server, own, shown)
  const body = JSON.stringify({
    at: Date.now() * 1000,
    collection: 'things',
    history: true,
    place: ['live', null],
  })
  assert.equal((await send(server, { secret: own, path: '/api/v1/transfer/page', body })).status, 200)
}

for (const seed of seedsToRun([1, 2])) {
  test(`no input of the endpoints is a failure of the service (seed ${seed})`, () => assertHarmless(seed))
}

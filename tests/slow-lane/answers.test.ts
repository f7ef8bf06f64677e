// Small variants of the worst queries of the benchmark: the slow lane and the service return the same responses and
// costs. The file takes more than 20 seconds, because these queries are expensive, and each runs twice.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { preparation, type Sizes, type WorstQuery, worstQueries } from '../../bench/worst-queries.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery, runText, send } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { slowCommits, slowQueries } from '../support/slow-queries.ts'

const small: Sizes = {
  doublings: 9,
  text: 20_000,
  elements: 20,
  depth: 40,
  sets: 300,
  documents: 200,
  body: 40_000,
}

const noted = [
  'x-compute-ops',
  'x-byte-read-ops',
  'x-byte-write-ops',
  'x-storage-bytes-read',
  'x-txn-retries',
]

const expected = new Map<string, unknown>()

async function ask(to: ServerProcess, { query }: WorstQuery): Promise<unknown> {
  const { headers, status, text } = await send(to, { secret: to.rootSecret, query: query(small) })
  return { status, text, costs: noted.map(name => headers.get(name)) }
}

const documentCount = async () =>
  Number(await rootQuery(server, { count: { documents: { collection: 'worst' } } }))

before(async () => {
  await using alone = await startProcess({ data, flags: ['--slow-lane-processes', '0'] })
  for (const query of preparation(small)) await rootQuery(alone, query)
  for (const query of worstQueries) {
    if (!query.writes) expected.set(query.name, await ask(alone, query))
  }
})

const server = serviceOfFile(() =>
  startProcess({ data, flags: ['--slow-lane-after-ms', '0', '--metrics-port', '0'] }),
)
const data = folderOfFile()

for (const query of worstQueries) {
  if (query.writes) continue
  test(`in the slow lane: ${query.name}`, async () => {
    const before = await slowQueries(server)
    assert.deepEqual(await ask(server, query), expected.get(query.name))
    assert.equal(await slowQueries(server), before + 1)
  })
}

for (const query of worstQueries) {
  if (!query.writes) continue
  test(`evaluated in the slow lane and committed once: ${query.name}`, async () => {
    const documents = await documentCount()
    const before = await slowQueries(server)
    const commits = await slowCommits(server)
    const request = { secret: server.rootSecret, query: query.query(small) }
    const { headers, status, text } = await send(server, request)
    assert.ok(status < 300, text)
    assert.ok(Number(headers.get('x-byte-write-ops')) > 0)
    assert.equal(await slowQueries(server), before + 1)
    assert.equal(await slowCommits(server), commits + 1)
    const added = query.name === 'writes: very many documents' ? small.documents : 1
    assert.equal(await documentCount(), documents + added)
  })
}

const createMany = (count: number) => ({
  map: {
    lambda: '_',
    expr: { create: { collection: 'worst' }, params: { object: { data: { object: { group: 55 } } } } },
  },
  collection: Array(count).fill(0),
})

test('a large transaction has the same response as a small one', async () => {
  const [documents, commits] = [await documentCount(), await slowCommits(server)]
  const query = createMany(600)
  const { headers, json, status, text } = await send(server, { secret: server.rootSecret, query })
  assert.equal(status, 200, text.slice(0, 200))
  assert.equal(await slowCommits(server), commits + 1)
  assert.equal(await documentCount(), documents + 600)
  const { resource } = json as { resource: { ts: number; ref: object }[] }
  const time = Number(headers.get('x-txn-time'))
  assert.equal(resource.length, 600)
  assert.ok(resource.every(({ ts }) => ts === time))
  const found = await rootQuery(server, { select: ['ts'], from: { get: resource[599]?.ref } })
  assert.equal(found, time)
})

test('large transactions over the same documents commit or fail with 409', async () => {
  const ref = { ref: { collection: 'worst' }, id: '4242' }
  const params = (n: unknown) => ({ object: { data: { object: { n } } } })
  await rootQuery(server, { create: ref, params: params(0) })
  const n = { select: ['data', 'n'], from: { get: ref } }
  const query = {
    do: [createMany(400), { select: ['data', 'n'], from: { update: ref, params: params({ add: [n, 1] }) } }],
  }
  const documents = await documentCount()
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => send(server, { secret: server.rootSecret, query })),
  )
  const counted = answers.filter(({ status }) => status === 200)
  assert.ok(counted.length > 0 && answers.every(({ status }) => status === 200 || status === 409))
  assert.equal(await rootQuery(server, n), counted.length)
  assert.equal(await documentCount(), documents + 400 * counted.length)
})

test('explanations are evaluated in the slow lane, too', async () => {
  const query = { count: { documents: { collection: 'worst' } } }
  const explain = async (body: object) => {
    const request = { secret: server.rootSecret, path: '/api/v1/explain', body: JSON.stringify(body) }
    const { json, status } = await send(server, request)
    return { status, told: json as { resource?: { result?: unknown } } }
  }
  const before = await slowQueries(server)
  const { status, told } = await explain({ as: 'admin', query })
  assert.equal(status, 200, JSON.stringify(told))
  assert.equal(told.resource?.result, await documentCount())
  assert.ok((await slowQueries(server)) > before)
  const [documents, commits] = [await documentCount(), await slowCommits(server)]
  const writing = await explain({ as: 'admin', query: createMany(600) })
  assert.equal(writing.status, 200)
  assert.deepEqual(
    [await documentCount(), await slowCommits(server)],
    [documents, commits],
    'nothing is written',
  )
})

test('the expression of a stream must be short', async () => {
  const expression = (elements: number) => ({
    do: [
      { map: { lambda: 'n', expr: { add: [{ var: 'n' }, 1] } }, collection: Array(elements).fill(1) },
      { documents: { collection: 'worst' } },
    ],
  })
  const open = async (elements: number) => {
    const response = await fetch(`${server.url}/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.rootSecret}` },
      body: JSON.stringify(expression(elements)),
    })
    const reader = response.body?.getReader()
    const first = await reader?.read()
    await reader?.cancel()
    return { status: response.status, text: Buffer.from(first?.value ?? []).toString() }
  }
  assert.equal((await open(10)).status, 200)
  const rejected = await open(90_000)
  assert.equal(rejected.status, 503)
  assert.match(rejected.text, /time out/)
})

test('the response of a query that the slow lane evaluated contains its commit time', async () => {
  const query = { create: { collection: 'worst' }, params: { object: { data: { object: { group: 5 } } } } }
  const { headers, json, status } = await send(server, { secret: server.rootSecret, query })
  assert.equal(status, 201)
  const { ts } = (json as { resource: { ts: number } }).resource
  assert.equal(ts, Number(headers.get('x-txn-time')))
})

test('increments that the slow lane evaluates commit or fail with 409', async () => {
  const of = (fields: object) => ({ object: { data: { object: fields } } })
  const create = { create: { collection: 'worst' }, params: of({ n: 0 }) }
  const ref = await rootQuery(server, { select: 'ref', from: create })
  const n = { select: ['data', 'n'], from: { get: ref } }
  const increment = { select: ['data', 'n'], from: { update: ref, params: of({ n: { add: [n, 1] } }) } }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send(server, { secret: server.rootSecret, query: increment })),
  )
  const statuses = new Set(answers.map(({ status }) => status))
  assert.ok(
    [...statuses].every(status => status === 200 || status === 409),
    [...statuses].join(),
  )
  const counted = answers.filter(({ status }) => status === 200)
  const seen = new Set(counted.map(({ json }) => (json as { resource: number }).resource))
  assert.equal(seen.size, counted.length, 'no two increments read the same number')
  assert.equal(await rootQuery(server, n), counted.length)
})

test('new ids of the slow lane are unique', async () => {
  const ids = new Set<unknown>()
  for (let count = 0; count < 20; count++) {
    const pair = await rootQuery(server, [{ new_id: null }, { new_id: null }])
    for (const id of pair as string[]) ids.add(id)
  }
  assert.equal(ids.size, 40)
})

test('a read in the slow lane sees earlier writes', async () => {
  const create = { create: { collection: 'worst' }, params: { object: { data: { object: { group: 99 } } } } }
  for (let count = 0; count < 10; count++) {
    const written = await send(server, { secret: server.rootSecret, query: { select: 'ref', from: create } })
    const { resource } = written.json as { resource: object }
    const get = { select: ['ts'], from: { get: resource } }
    const read = await send(server, { secret: server.rootSecret, query: get })
    assert.equal(read.status, 200, read.text)
    assert.ok(Number(read.headers.get('x-txn-time')) >= Number(written.headers.get('x-txn-time')))
  }
})

test('a write that has its commit time in an index value is committed at exactly that time', async () => {
  const run = (text: string) => runText(server, server.rootSecret, text)
  await run('CreateCollection({ name: "timed" })')
  await run('CreateIndex({ name: "by_ts", source: Collection("timed"), values: [{ field: ["ts"] }] })')
  const create = { create: { collection: 'timed' }, params: { object: { data: { object: { group: 7 } } } } }
  const before = await slowQueries(server)
  const created = await Promise.all(
    Array.from({ length: 5 }, () => send(server, { secret: server.rootSecret, query: create })),
  )
  assert.equal(await slowQueries(server), before + 5)
  const times = created.map(({ headers, json, status, text }) => {
    assert.equal(status, 201, text)
    const { ts } = (json as { resource: { ts: number } }).resource
    assert.equal(Number(headers.get('x-txn-time')), ts)
    return ts
  })
  const data = times.toSorted((one, other) => one - other)
  assert.deepEqual(await run('Paginate(Match(Index("by_ts")))'), { data })
})

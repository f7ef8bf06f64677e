// Ids of documents that a client creates one after the other ascend, and none is later than its commit. The creates are
// evaluated by a slow-lane process, another worker, or the service after a restart. A write that contains its commit time
// is committed at a whole microsecond, however little time the query has left.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { idMs } from '../../src/storage/store/ids.ts'
import { send } from '../support/http.ts'
import { temporaryFolder } from '../support/program.ts'
import { type ProcessOptions, type ServerProcess, startProcess } from '../support/server-process.ts'
import { slowQueries } from '../support/slow-queries.ts'

/** Long enough to be evaluated in the slow lane at once. */
const longText = 'x'.repeat(300_000)

const create = (text: string, count = 1) => ({
  map: {
    lambda: '_',
    expr: { create: { collection: 'things' }, params: { object: { data: { object: { text } } } } },
  },
  collection: Array(count).fill(0),
})

/** Starts a server that is stopped after the test, even if the test fails. */
async function serve(t: TestContext, options: ProcessOptions): Promise<ServerProcess> {
  const server = await startProcess(options)
  t.after(() => server.stop())
  return server
}

async function setUp(server: ServerProcess, values?: readonly object[]): Promise<void> {
  const source = { collection: 'things' }
  const queries: unknown[] = [{ create_collection: { object: { name: 'things' } } }]
  if (values) queries.push({ create_index: { object: { name: 'by_ts', source, values } } })
  for (const query of queries) {
    const made = await send(server, { secret: server.rootSecret, query })
    assert.equal(made.status, 201, made.text)
  }
}

/** Creates documents like a client that sends back the time of its last transaction. Returns the ids in order. */
async function createAll(server: ServerProcess, texts: readonly string[], count = 1): Promise<bigint[]> {
  const ids: bigint[] = []
  let seen = '0'
  for (const text of texts) {
    const headers = { 'x-last-seen-txn': seen, connection: 'close' }
    const made = await send(server, { secret: server.rootSecret, query: create(text, count), headers })
    assert.equal(made.status, 200, made.text.slice(0, 300))
    const { resource } = made.json as { resource: { ref: { '@ref': { id: string } }; ts: number }[] }
    for (const { ref, ts } of resource) {
      const id = BigInt(ref['@ref'].id)
      assert.ok(idMs(id) <= ts / 1000, `id ${id} is not later than its commit at ${ts}`)
      ids.push(id)
    }
    seen = made.headers.get('x-txn-time') as string
  }
  return ids
}

function assertAscending(ids: readonly bigint[]): void {
  for (const [place, id] of ids.entries()) {
    if (place > 0)
      assert.ok(id > (ids[place - 1] as bigint), `${id} at ${place} comes after ${ids[place - 1]}`)
  }
}

test('ids ascend through the service, its slow lane and a restart after a crash', async t => {
  const data = await temporaryFolder()
  const flags = ['--metrics-port', '0']
  const texts = ['a', longText, 'b', 'c', longText, longText, 'd', 'e']
  const first = await serve(t, { data, flags })
  await setUp(first)
  const ids = await createAll(first, texts)
  ids.push(...(await createAll(first, texts, 3)))
  assert.equal(await slowQueries(first), 6)
  await first.kill()
  const second = await serve(t, { data, flags })
  // Registered to run after the services have stopped: a service logs an error if its directory disappears.
  t.after(() => rm(data, { recursive: true, force: true }))
  ids.push(...(await createAll(second, texts)))
  assertAscending(ids)
  const query = { paginate: { documents: { collection: 'things' } }, size: 1000 }
  const { json } = await send(second, { secret: second.rootSecret, query })
  const found = (json as { resource: { data: { '@ref': { id: string } }[] } }).resource.data
  assert.deepEqual(
    found.map(ref => BigInt(ref['@ref'].id)),
    ids,
  )
})

test('ids ascend through several workers', async t => {
  const server = await serve(t, { flags: ['--workers', '2'] })
  await setUp(server)
  const texts = Array.from({ length: 40 }, (_, place) => (place % 9 === 4 ? longText : 'a'))
  assertAscending(await createAll(server, texts))
})

test('a query whose deadline comes before its commit time succeeds in time or fails, and the service continues', async t => {
  const server = await serve(t, { flags: ['--slow-lane-after-ms', '0'] })
  await setUp(server, [{ object: { field: ['ts'] } }])
  await createAll(server, ['a'])
  const started = performance.now()
  await createAll(server, ['b'], 100)
  const usualMs = performance.now() - started
  let answered = 0
  for (let place = 0; place < 24; place++) {
    const headers = { 'x-query-timeout': String(Math.ceil(usualMs * (0.4 + 0.1 * place))) }
    const query = create('c', 100)
    const { status, text } = await send(server, { secret: server.rootSecret, query, headers })
    assert.ok([200, 503].includes(status), `${status} ${text.slice(0, 300)}`)
    if (status === 200) answered++
  }
  const count = { count: { match: { index: 'by_ts' } } }
  const { json } = await send(server, { secret: server.rootSecret, query: count })
  assert.ok((json as { resource: number }).resource >= 1 + 100 + 100 * answered)
})

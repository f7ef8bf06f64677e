// Ids of documents that a client creates one after the other ascend, and none is later than its commit. The creates are
// evaluated by a slow-lane process, another worker, or the service after a restart. A write that contains its commit time
// is committed at a whole microsecond, however little time the query has left.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idMs } from '../../src/storage/store/ids.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery, runText, send } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { slowQueries } from '../support/slow-queries.ts'

const data = folderOfFile()

/** Long enough to be evaluated in the slow lane at once. */
const longText = 'x'.repeat(300_000)

const create = (text: string, count = 1) => ({
  map: {
    lambda: '_',
    expr: { create: { collection: 'things' }, params: { object: { data: { object: { text } } } } },
  },
  collection: Array(count).fill(0),
})

const setUp = (server: ServerProcess) =>
  rootQuery(server, { create_collection: { object: { name: 'things' } } })

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

test('ids ascend through the service, its slow lane and a restart after a crash', async () => {
  const flags = ['--metrics-port', '0']
  const texts = ['a', longText, 'b', 'c', longText, longText, 'd', 'e']
  await using first = await startProcess({ data, flags })
  await setUp(first)
  const ids = await createAll(first, texts)
  ids.push(...(await createAll(first, texts, 3)))
  // The service may also be too slow for a query with a short text.
  assert.ok((await slowQueries(first)) >= 6)
  await first.kill()
  await using second = await startProcess({ data, flags })
  ids.push(...(await createAll(second, texts)))
  assertAscending(ids)
  const query = { paginate: { documents: { collection: 'things' } }, size: 1000 }
  const found = (await rootQuery(second, query)) as { data: { '@ref': { id: string } }[] }
  assert.deepEqual(
    found.data.map(ref => BigInt(ref['@ref'].id)),
    ids,
  )
})

test('ids ascend through several workers', async () => {
  await using server = await startProcess({ flags: ['--workers', '2'] })
  await setUp(server)
  const texts = Array.from({ length: 40 }, (_, place) => (place % 9 === 4 ? longText : 'a'))
  assertAscending(await createAll(server, texts))
})

test('a query whose deadline comes before its commit time succeeds in time or fails, and the service continues', async () => {
  await using server = await startProcess({ flags: ['--slow-lane-after-ms', '0'] })
  await setUp(server)
  const index = '{ name: "by_ts", source: Collection("things"), values: [{ field: ["ts"] }] }'
  await runText(server, server.rootSecret, `CreateIndex(${index})`)
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
  assert.ok(Number(await rootQuery(server, count)) >= 1 + 100 + 100 * answered)
})

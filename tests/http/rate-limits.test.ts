// Rate limits from a client's point of view.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { startServer } from '../support/server.ts'
import { startProcess } from '../support/server-process.ts'

test('a database above its limits gets 429, and others are not affected', async () => {
  await using server = await startServer({
    flags: ['--write-ops-per-second', '5', '--read-ops-per-second', '1000'],
  })
  const [one, other] = [
    await keyOfNewDatabase(server, 'one', 'admin'),
    await keyOfNewDatabase(server, 'other', 'admin'),
  ]
  await query(server, one, { create_collection: { object: { name: 'things' } } })
  const add = { create: { collection: 'things' } }
  // The bucket holds ten operations, so this leaves a debt for most of a minute.
  const burst = { map: { lambda: 'n', expr: add }, collection: Array.from({ length: 200 }, (_, n) => n) }
  assert.equal((await send(server, { secret: one, query: burst })).status, 200)
  const rejected = await send(server, {
    secret: one,
    query: add,
    headers: { origin: 'http://app.test' },
  })
  assert.equal(rejected.status, 429)
  assert.deepEqual(rejected.json, {
    errors: [{ code: 'too many requests', description: 'Rate limit for write exceeded' }],
  })
  assert.equal(rejected.headers.get('x-rate-limited-ops'), 'write')
  assert.match(rejected.headers.get('access-control-expose-headers') ?? '', /x-rate-limited-ops/)
  assert.equal(rejected.headers.get('x-byte-write-ops'), '0', 'nothing was written')
  const count = { count: { paginate: { documents: { collection: 'things' } }, size: 1000 } }
  assert.deepEqual(await query(server, one, count), { data: [200] }, 'nothing was written')
  const fine = await send(server, {
    secret: other,
    query: { create_collection: { object: { name: 'a' } } },
  })
  assert.equal(fine.status, 201)
  assert.equal(fine.headers.get('x-rate-limited-ops'), null)
})

test('the limits of a database count over all workers', async () => {
  await using server = await startProcess({ flags: ['--workers', '2', '--compute-ops-per-second', '20'] })
  const secret = await keyOfNewDatabase(server, 'greedy', 'admin')
  const sum = { add: [{ var: 'n' }, 1] }
  const burst = { map: { lambda: 'n', expr: sum }, collection: Array.from({ length: 50_000 }, () => 0) }
  assert.equal((await send(server, { secret, query: burst })).status, 200)
  // Connections go to the workers in turn.
  const headers = { connection: 'close' }
  const isRefused = async () => (await send(server, { secret, query: 1, headers })).status === 429
  let inARow = 0
  await eventually('every worker refuses the database that has exceeded its limit', async () => {
    inARow = (await isRefused()) ? inARow + 1 : 0
    return inARow === 4
  })
})

test('explanations, imports and exports are limited like queries', async () => {
  await using server = await startServer({ flags: ['--write-ops-per-second', '5'] })
  const secret = await keyOfNewDatabase(server, 'one', 'admin')
  await query(server, secret, { create_collection: { object: { name: 'things' } } })
  const post = (path: string, body: string) => send(server, { secret, path: `/api/v1/${path}`, body })
  const lines = Array.from({ length: 200 }, (_, id) => `["w","things",${id},null,{"data":{"n":${id}}}]`)
  const write = (records: readonly string[]) =>
    post('transfer/write', ['{"onConflict":"fail"}', ...records].join('\n'))
  assert.equal((await write(lines)).status, 200)
  const rejected = await write(lines.slice(0, 1))
  assert.equal(rejected.status, 429)
  assert.match(rejected.text, /Rate limit for write exceeded/)
  assert.equal((await post('transfer/snapshot', '')).status, 429)
  assert.equal((await send(server, { secret, query: { create: { collection: 'things' } } })).status, 429)
})

test('an explanation counts against the limits of its database', async () => {
  await using server = await startServer({ flags: ['--compute-ops-per-second', '20'] })
  const secret = await keyOfNewDatabase(server, 'greedy', 'admin')
  const sum = { map: { lambda: 'n', expr: { add: [{ var: 'n' }, 1] } }, collection: Array(50_000).fill(0) }
  const explain = (asked: unknown) =>
    send(server, { secret, path: '/api/v1/explain', body: JSON.stringify({ query: asked, as: 'admin' }) })
  assert.equal((await explain(sum)).status, 200)
  assert.equal((await explain(1)).status, 429)
  assert.equal((await send(server, { secret, query: 1 })).status, 429)
})

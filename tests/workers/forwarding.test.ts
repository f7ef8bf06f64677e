// Writes that reach a worker, in every form in which a request can write. The supervisor evaluates and commits them.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { exported } from '../query-log/log-client.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { fql, rootQuery, send, sendFql } from '../support/http.ts'
import { outputOf } from '../support/program.ts'
import { startProcess } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

const flags = ['--workers', '2', '--write-ops-per-second', '100000']
const server = serviceOfFile(() => startProcess({ flags }))
const folder = folderOfFile()

before(async () => {
  await run('Collection.create({ name: "Item" })')
})

const run = (text: string) => fql(server, server.rootSecret, text)
const count = async () => (await run('Item.all().count()')) as number

/** Sends a query that may fail. */
const answerTo = (text: string, { args = {}, headers = {}, secret = server.rootSecret }: Sending = {}) =>
  sendFql(server, secret, text, args, headers)

interface Sending {
  readonly secret?: string
  readonly args?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

interface Answer {
  readonly data: unknown
  readonly error: { readonly code: string }
  readonly stats: { readonly storage_bytes_write: number }
  readonly txn_ts: number
}

test('a query that writes only inside of a function', async () => {
  await run('Function.create({ name: "add", body: "x => Item.create({ x: x })" })')
  const before = await count()
  await run('add(1)')
  assert.equal(await count(), before + 1)
})

test('a query that writes only in one branch, which is not known before the evaluation', async () => {
  const id = (await run('Item.create({ x: 0 }).id')) as string
  const bump = `let item = Item.byId("${id}")!; if (item.x < 2) item.update({ x: item.x + 1 })!.x else item.x`
  const results = await Promise.all(Array.from({ length: 6 }, () => run(bump)))
  assert.deepEqual(results.sort(), [1, 2, 2, 2, 2, 2])
})

test('a long body, and a query that takes long', async () => {
  const texts = Array.from({ length: 400 }, (_, at) => `${at}`.padEnd(1000, 'x'))
  const long = await answerTo('texts.map(x => Item.create({ x: x })).length', { args: { texts } })
  assert.equal(long.status, 200, long.text)
  assert.equal((long.json as Answer).data, 400)
  const slow = 'Set.sequence(0, 3000).toArray().map(x => Item.create({ x: x }).x).length'
  assert.equal(await run(slow), 3000)
})

test('an explanation of a query that writes, which has no effect', async () => {
  const before = await count()
  const query = 'Item.create({ x: 1 }); Item.all().count()'
  const request = { secret: server.rootSecret, path: '/api/v1/explain', query: { query } }
  const { json, status, text } = await send(server, request)
  assert.equal(status, 200, text)
  const { resource } = json as { readonly resource?: { readonly result?: unknown } }
  assert.notEqual(resource?.result, undefined, text)
  assert.equal(await count(), before)
})

test('the response has the costs, the time and the error of the query', async () => {
  const failed = await answerTo('Item.create({ id: "1" }); Item.create({ id: "1" })')
  assert.equal(failed.status, 400)
  assert.equal((failed.json as Answer).error.code, 'document_id_exists')
  const written = (await answerTo('Item.create({})')).json as Answer
  assert.ok(written.stats.storage_bytes_write > 0)
  assert.ok(written.txn_ts > 0)
})

test('a credential that is not valid, and a role that must not write', async () => {
  assert.equal((await answerTo('Item.create({})', { secret: 'no secret' })).status, 401)
  const secret = (await run('Key.create({ role: "server-readonly" }).secret')) as string
  const { json } = await answerTo('Item.create({})', { secret })
  assert.equal((json as Answer).error.code, 'permission_denied')
})

test('a time limit that is over before the query has ended', async () => {
  const endless = 'Set.sequence(0, 15000).toArray().map(x => Item.create({ x: x })).length'
  const before = await count()
  const { json, status } = await answerTo(endless, { headers: { 'x-query-timeout-ms': '100' } })
  // 503 if the error is later than a second after the arrival of the query, for example on a busy machine.
  assert.ok(status === 440 || status === 503, String(status))
  assert.equal((json as Answer).error.code, 'time_out')
  assert.equal(await count(), before)
})

test('an import into a running service, and pushed schema files', async () => {
  const file = join(folder, 'Item.jsonl')
  const lines = Array.from({ length: 2000 }, (_, n) => JSON.stringify({ n }))
  await writeFile(file, lines.join('\n'))
  const before = await count()
  const credentials = ['--url', server.url, '--secret', server.rootSecret]
  await outputOf(['import', file, '--collection', 'Item', ...credentials])
  assert.equal(await count(), before + 2000)
  await writeFile(join(folder, 'main.fsl'), 'collection Item {\n  index byN { terms [.n] }\n}\n')
  await outputOf(['schema', 'push', folder, '--yes', ...credentials])
  assert.equal(await run('Item.definition.indexes.byN.terms.length'), 1)
})

test('the query log has the costs of a forwarded query', async () => {
  await run('Item.create({ logged: true }).id')
  await eventually('the record has been written', async () => {
    const records = await exported(server, server.rootSecret, { region_group: 'us-std' })
    return records.some(each => each.FQL_SHAPE === '?.create({?:true}).id' && each.BYTE_WRITE_OPS === 1)
  })
})

test('version 4: queries that look like writes: a read, a query that cannot be parsed, a rejected credential', async () => {
  const { rootSecret: secret } = server
  const query = { object: { create: { object: { update: 1 } } } }
  assert.deepEqual(await rootQuery(server, query), { create: { update: 1 } })
  const create = { create: { collection: 'Item' }, parms: {} }
  const unknown = await send(server, { secret, query: create })
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /No form\/function found, or invalid argument keys: \{ create, parms \}/)
  assert.equal((await send(server, { secret, body: '{"create":' })).status, 400)
  for (const body of [JSON.stringify(create), '{"create":'])
    assert.equal((await send(server, { secret: 'no secret', body })).status, 401)
  const get = await send(server, { secret, method: 'GET', path: '/tokens/self' })
  assert.equal(get.status, 404)
})

test('version 4: new ids, a linearized read, and a ping of the write path', async () => {
  assert.match((await rootQuery(server, { new_id: null })) as string, /^\d+$/)
  const linearized = await send(server, { secret: server.rootSecret, path: '/linearized', body: '1' })
  assert.equal(linearized.status, 200, linearized.text)
  const ping = await send(server, { method: 'GET', path: '/ping?scope=write&timeout=60000' })
  assert.equal(ping.status, 200)
})

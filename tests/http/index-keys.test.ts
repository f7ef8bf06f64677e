// The maximum length of the terms and values of an index entry, in writes of both languages.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fql, keyOfNewDatabase, query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let secret: string

/** Maximum bytes of terms and values in an entry of two parts. */
const most = 64_000 - 43

before(async () => {
  secret = await keyOfNewDatabase(server, 'keys', 'admin')
  const of = (...names: string[]) => names.map(name => ({ field: name }))
  const collections = [
    { name: 'Mixed', indexes: { i: { terms: of('a'), values: of('b') } } },
    { name: 'Terms', indexes: { i: { terms: of('a', 'b') } } },
    { name: 'Values', indexes: { i: { values: of('a', 'b') } } },
    { name: 'Unique', constraints: [{ unique: ['a', 'b'] }] },
  ]
  for (const each of collections) await fql(server, secret, 'Collection.create(each)', { each })
})

/** Two texts with this many bytes together. */
const ofBytes = (bytes: number) => ({ a: 'a'.repeat(32_000), b: 'b'.repeat(bytes - 32_000) })

function inVersion4(collection: string, data: object) {
  const params = { object: { data: { object: data } } }
  return send(server, { secret, query: { create: { collection }, params } })
}

for (const collection of ['Mixed', 'Terms', 'Values', 'Unique']) {
  test(`${collection}: a key is at most 64,000 bytes long`, async () => {
    const create = `${collection}.create(data)`
    assert.equal((await sendFql(server, secret, create, { data: ofBytes(most) })).status, 200)
    const rejected = await sendFql(server, secret, create, { data: ofBytes(most + 1) })
    assert.deepEqual(
      [rejected.status, (rejected.json as { error: unknown }).error],
      [400, { code: 'invalid_request', message: 'Key bytes (64001) exceeds threshold (64000)' }],
    )
    const other = ofBytes(most - 1)
    assert.equal((await inVersion4(collection, { ...other, b: `${other.b}.` })).status, 201)
    const refused4 = await inVersion4(collection, ofBytes(most + 1))
    assert.equal(refused4.status, 400)
    assert.match(
      refused4.text,
      /"code": "bad request",\s+"description": "Key bytes \(64001\) exceeds threshold \(64000\)"/,
    )
    assert.equal(await fql(server, secret, `${collection}.all().count()`), 2)
  })
}

test('the limit holds for updates, replacements and events of the history', async () => {
  await fql(server, secret, 'Mixed.create({ id: 7, a: "a", b: "b" })')
  const { a, b } = ofBytes(most + 1)
  const texts = [
    'Mixed.byId(7)!.update(data)',
    'Mixed.byId(7)!.replace(data)',
    'Mixed.byId(7)!.replaceData(data)',
  ]
  for (const text of texts) {
    const { status, text: body } = await sendFql(server, secret, text, { data: { a, b } })
    assert.deepEqual([status, body.includes('Key bytes (64001)')], [400, true], text)
  }
  const ref = { ref: { collection: 'Mixed' }, id: '7' }
  const params = { object: { data: { object: { a, b } } } }
  for (const write of [
    { update: ref, params },
    { replace: ref, params },
    { insert: ref, ts: 1, action: 'create', params },
  ]) {
    const { status, text } = await send(server, { secret, query: write })
    assert.deepEqual([status, text.includes('Key bytes (64001)')], [400, true])
  }
})

test('an entry with a part over 32,767 bytes is left out without an error', async () => {
  const a = 'a'.repeat(32_768)
  const b = 'b'.repeat(32_767)
  await fql(server, secret, 'Mixed.create({ id: 8, a: a, b: b })', { a, b })
  assert.equal(await fql(server, secret, 'Mixed.i(a).count()', { a }), 0)
  await fql(server, secret, 'Mixed.byId(8)!.update({ a: "x", b: a })', { a })
  assert.equal(await fql(server, secret, 'Mixed.i("x").count()'), 0)
  await query(server, secret, {
    update: { ref: { collection: 'Mixed' }, id: '8' },
    params: { object: { data: { object: { b } } } },
  })
  assert.equal(await fql(server, secret, 'Mixed.i("x").count()'), 1)
})

test('the limit holds for each entry of an index of version 4', async () => {
  await query(server, secret, { create_collection: { object: { name: 'old' } } })
  const field = (...path: string[]) => ({ object: { field: path } })
  const terms = [field('data', 'tags')]
  const values = [field('data', 'v')]
  await query(server, secret, {
    create_index: { object: { name: 'by_tag', source: { collection: 'old' }, terms, values } },
  })
  const { a, b } = ofBytes(most + 1)
  assert.equal((await inVersion4('old', { tags: ['short', 'x'], v: b })).status, 201)
  const rejected = await inVersion4('old', { tags: ['short', a], v: b })
  assert.deepEqual([rejected.status, rejected.text.includes('Key bytes (64001)')], [400, true])
})

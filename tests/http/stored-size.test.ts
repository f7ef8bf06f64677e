// `POST /api/v1/indexes/_size` and `collections/_size`: entries and bytes of indexes of both languages and of unique
// constraints, documents and bytes of collections. `collections/_position`: the estimated share of a collection before
// an id.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { keyOfNewDatabase, query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let secret: string

before(async () => {
  secret = await keyOfNewDatabase(server, 'sized', 'admin')
  const schema = `Collection.create({
    name: "items",
    history_days: 1,
    indexes: { byName: { terms: [{ field: ".name" }], values: [{ field: ".price", order: "desc" }] } },
    constraints: [{ check: { name: "positive", body: "(doc) => true" } }, { unique: [".sku"] }, { unique: [".name", ".sku"] }]
  })`
  await sendFql(server, secret, schema)
  const index = {
    name: 'by_kind',
    source: { collection: 'items' },
    terms: [{ object: { field: ['data', 'kind'] } }],
  }
  await query(server, secret, { create_index: { object: { ...index, source: { collection: 'items' } } } })
  const many = 10_500
  for (let from = 0; from < many; from += 1500) {
    const some = Array.from({ length: 1500 }, (_, at) => ({
      create: { ref: { collection: 'items' }, id: String(from + at + 1) },
      params: {
        object: { data: { object: { name: `n${from + at}`, ...(from === 0 && { sku: at }), kind: at % 7 } } },
      },
    }))
    await query(server, secret, { do: [...some, null] })
  }
})

interface Size {
  readonly entries: number
  readonly bytes: number
  readonly after: string | null
}

const ask = (body: unknown, as = secret, of = 'indexes') =>
  send(server, { path: `/api/v1/${of}/_size`, secret: as, body: JSON.stringify(body) })

async function sizeOf(part: object) {
  const pages: Size[] = []
  do {
    const cursor = pages.at(-1)?.after
    const { json, status } = await ask({ ...part, ...(cursor && { after: cursor }) })
    assert.equal(status, 200, JSON.stringify(json))
    pages.push(json as Size)
  } while (pages.at(-1)?.after !== null)
  const sum = (of: (page: Size) => number) => pages.reduce((total, page) => total + of(page), 0)
  return { pages: pages.length, entries: sum(({ entries }) => entries), bytes: sum(({ bytes }) => bytes) }
}

test('entries of indexes and constraints of both languages are counted over pages', async () => {
  const kinds = await sizeOf({ index: 'by_kind' })
  assert.equal(kinds.entries, 10_500)
  assert.ok(kinds.pages > 1)
  assert.ok(kinds.bytes > 10_500 * 20)
  assert.equal((await sizeOf({ collection: 'items', index: 'byName' })).entries, 10_500)
  const unique = await sizeOf({ collection: 'items', unique: 0 })
  assert.equal(unique.entries, 1500)
  assert.ok(unique.bytes < kinds.bytes)
  assert.equal((await sizeOf({ collection: 'items', unique: 1 })).entries, 10_500)
})

test('unknown indexes, wrong bodies and keys without rights are rejected', async () => {
  for (const part of [
    { index: 'none' },
    { collection: 'items', index: 'by_kind' },
    { collection: 'items', unique: 2 },
  ])
    assert.equal((await ask(part)).status, 404, JSON.stringify(part))
  const wrong = [null, [], {}, { unique: 0 }, { collection: 'items' }, { collection: 1, index: 'x' }]
  const cursors = [
    { index: 'by_kind', after: 1 },
    { index: 'by_kind', after: 'A'.repeat(10_000) },
  ]
  for (const body of [...wrong, ...cursors, { collection: 'items', index: 'byName', unique: 0 }])
    assert.equal((await ask(body)).status, 400, JSON.stringify(body))
  // The cursor of another index does not read that index.
  const strange = await ask({ index: 'by_kind', after: '____' })
  assert.deepEqual(strange.json, { entries: 0, bytes: 0, after: null })
  const client = await query(server, secret, { create_key: { object: { role: 'client' } } })
  assert.equal((await ask({ index: 'by_kind' }, (client as { secret: string }).secret)).status, 403)
})

interface CollectionSize {
  readonly documents: number
  readonly bytes: number
  readonly after: string | null
}

async function sizeOfCollection(collection: string): Promise<readonly CollectionSize[]> {
  const pages: CollectionSize[] = []
  do {
    const cursor = pages.at(-1)?.after
    const { json, status } = await ask(
      { collection, ...(cursor && { after: cursor }) },
      secret,
      'collections',
    )
    assert.equal(status, 200, JSON.stringify(json))
    pages.push(json as CollectionSize)
  } while (pages.at(-1)?.after !== null)
  return pages
}

const sumOf = (pages: readonly CollectionSize[], member: 'documents' | 'bytes') =>
  pages.reduce((sum, page) => sum + page[member], 0)

test('documents and bytes of a collection are counted over pages, including the bytes of old versions', async () => {
  const pages = await sizeOfCollection('items')
  assert.equal(pages[0]?.documents, 10_000)
  assert.equal(sumOf(pages, 'documents'), 10_500)
  await query(server, secret, { create_collection: { object: { name: 'kept' } } })
  assert.deepEqual(await sizeOfCollection('kept'), [{ documents: 0, bytes: 0, after: null }])
  const kept = { ref: { collection: 'kept' }, id: '1' }
  const data = (size: number) => ({ object: { data: { object: { text: 'x'.repeat(size) } } } })
  await query(server, secret, { create: kept, params: data(10_000) })
  const [once] = await sizeOfCollection('kept')
  assert.ok(once && once.documents === 1 && once.bytes > 10_000 && once.bytes < 11_000, JSON.stringify(once))
  await query(server, secret, { update: kept, params: data(10) })
  const [twice] = await sizeOfCollection('kept')
  assert.ok(twice && twice.documents === 1 && twice.bytes > once.bytes, 'the old version counts')
  await query(server, secret, { delete: kept })
  assert.equal(sumOf(await sizeOfCollection('kept'), 'documents'), 0)
})

test('a page of large documents ends after some megabytes', async () => {
  await query(server, secret, { create_collection: { object: { name: 'large' } } })
  for (let id = 1; id <= 12; id++) {
    const data = { object: { text: 'x'.repeat(1_000_000) } }
    await query(server, secret, {
      create: { ref: { collection: 'large' }, id: String(id) },
      params: { object: { data } },
    })
  }
  const pages = await sizeOfCollection('large')
  assert.equal(pages.length, 2)
  assert.equal(sumOf(pages, 'documents'), 12)
})

test('unknown collections and wrong bodies are rejected', async () => {
  const statusOf = async (body: unknown, as = secret) => (await ask(body, as, 'collections')).status
  assert.equal(await statusOf({ collection: 'none' }), 404)
  for (const body of [null, [], {}, { collection: 1 }, { collection: 'items', after: 1 }])
    assert.equal(await statusOf(body), 400, JSON.stringify(body))
  const client = await query(server, secret, { create_key: { object: { role: 'client' } } })
  assert.equal(await statusOf({ collection: 'items' }, (client as { secret: string }).secret), 403)
})

const positionOf = (body: unknown, as = secret) =>
  send(server, { path: '/api/v1/collections/_position', secret: as, body: JSON.stringify(body) })

test('the share of a collection before an id is estimated, also without a document that has the id', async () => {
  const share = async (id: string) => {
    const { json, status } = await positionOf({ collection: 'items', id })
    assert.equal(status, 200, JSON.stringify(json))
    return (json as { share: number }).share
  }
  assert.equal(await share('1'), 0)
  assert.equal(await share('999999'), 1)
  for (const id of [2_500, 5_000, 9_000]) {
    const estimated = await share(String(id))
    assert.ok(Math.abs(estimated - id / 10_500) < 0.05, `${estimated} before ${id} of 10500`)
  }
  await query(server, secret, { create_collection: { object: { name: 'empty' } } })
  assert.deepEqual((await positionOf({ collection: 'empty', id: '5' })).json, { share: 0 })
})

test('positions of unknown collections, wrong bodies and keys without rights are rejected', async () => {
  assert.equal((await positionOf({ collection: 'none', id: '1' })).status, 404)
  const wrong = [null, {}, { collection: 'items' }, { collection: 'items', id: 1 }, { id: '1' }]
  for (const body of [
    ...wrong,
    { collection: 'items', id: 'x' },
    { collection: 'items', id: '9'.repeat(30) },
  ])
    assert.equal((await positionOf(body)).status, 400, JSON.stringify(body))
  const client = await query(server, secret, { create_key: { object: { role: 'client' } } })
  const { secret: weak } = client as { secret: string }
  assert.equal((await positionOf({ collection: 'items', id: '1' }, weak)).status, 403)
})

// Explanations of a query's reads in both languages: sets, entries, documents, and a suggested index.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { query, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

interface SetReads {
  readonly kind: string
  readonly collection?: string
  readonly index?: string
  readonly scans: number
  readonly entries: number
}

interface Reads {
  readonly result?: unknown
  readonly errors?: readonly { readonly code: string }[]
  readonly sets: readonly SetReads[]
  readonly documents: readonly { readonly collection: string; readonly documents: number }[]
  readonly entries_read: number
  readonly documents_read: number
  readonly returned: number
  readonly suggestions: readonly {
    readonly collection: string
    readonly terms: readonly string[]
    readonly values: readonly string[]
    readonly existing: string | null
    readonly definition: string
  }[]
  readonly decisions?: unknown
}

const server = serverOfFile()
before(async () => {
  await fql('Collection.create({ name: "Orders", indexes: { byCity: { terms: [{ field: "city" }] } } })')
  await fql(`[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].forEach(n =>
    Orders.create({ id: n, n: n, city: if (n < 4) "Oslo" else "Rome", status: if (n == 7) "open" else "done" }))`)
  await query(server, server.rootSecret, {
    create_index: {
      object: {
        name: 'orders_by_city',
        source: { collection: 'Orders' },
        terms: [{ object: { field: ['data', 'city'] } }],
      },
    },
  })
})

async function fql(text: string): Promise<void> {
  const { status, text: body } = await sendFql(server, server.rootSecret, text)
  assert.equal(status, 200, body)
}

async function explain(asked: unknown): Promise<Reads> {
  const request = { path: '/api/v1/explain', secret: server.rootSecret, query: { query: asked } }
  const { json, status, text } = await send(server, request)
  assert.equal(status, 200, text)
  return (json as { readonly resource: Reads }).resource
}

const documents = { documents: { collection: 'Orders' } }

test('a filter of version 10 shows the scan and suggests an index', async () => {
  const told = await explain('Orders.where(.status == "open" && .n > 3).order(desc(.n)) { n }')
  assert.deepEqual(told.result, { data: [{ n: 7 }] })
  assert.deepEqual(told.sets, [{ kind: 'collection', collection: 'Orders', scans: 1, entries: 10 }])
  assert.deepEqual(told.documents, [{ collection: 'Orders', documents: 10 }])
  assert.deepEqual([told.entries_read, told.documents_read, told.returned], [10, 10, 1])
  assert.deepEqual(told.suggestions, [
    {
      collection: 'Orders',
      terms: ['.data.status'],
      values: ['.data.n'],
      existing: null,
      definition: 'index byStatusAndN {\n  terms [.status]\n  values [desc(.n)]\n}',
    },
  ])
  assert.equal(told.decisions, undefined)
})

test('an index of version 10 is listed, and an existing one is suggested', async () => {
  const found = await explain('Orders.byCity("Oslo")')
  assert.deepEqual(found.sets, [
    { kind: 'index', collection: 'Orders', index: 'byCity', scans: 1, entries: 3 },
  ])
  assert.deepEqual([found.documents_read, found.returned, found.suggestions.length], [3, 3, 0])
  const covered = await explain('Orders.byCity("Oslo").map(.city)')
  assert.equal(covered.documents_read, 0, 'the entries contain the requested fields')
  const [suggestion] = (await explain('Orders.all().where(o => o.city == "Oslo")')).suggestions
  assert.equal(suggestion?.existing, 'byCity')
  const ordered = await explain('Orders.all().order(.city).first()')
  assert.deepEqual(ordered.suggestions[0]?.values, ['.data.city'])
  assert.equal(ordered.returned, 1)
  const incomplete = await explain('if (false) Orders.all().order(asc()) else 1')
  assert.deepEqual([incomplete.result, incomplete.suggestions], [1, []])
})

test('a filter of version 4 shows the scan and suggests an index', async () => {
  const city = { equals: [{ select: ['data', 'city'], from: { get: { var: 'x' } } }, 'Oslo'] }
  const told = await explain({
    filter: { lambda: 'x', expr: city },
    collection: { paginate: documents, size: 64 },
  })
  assert.deepEqual(told.sets, [{ kind: 'collection', collection: 'Orders', scans: 1, entries: 10 }])
  assert.deepEqual([told.documents_read, told.returned], [10, 3])
  assert.equal(told.suggestions[0]?.existing, 'orders_by_city')
  const status = { equals: ['open', { select: ['data', 'status'], from: { get: { var: 'x' } } }] }
  const both = { filter: { lambda: 'x', expr: { and: [city, status] } }, collection: documents }
  const [suggestion] = (await explain({ paginate: both })).suggestions
  assert.deepEqual(suggestion, {
    collection: 'Orders',
    terms: ['.data.city', '.data.status'],
    values: [],
    existing: null,
    definition:
      'CreateIndex({ name: "Orders_byCityAndStatus", source: Collection("Orders"), terms: [{ field: ["data", "city"] }, { field: ["data", "status"] }] })',
  })
})

test('an index of version 4 is listed, and single documents are counted', async () => {
  const match = { match: { index: 'orders_by_city' }, terms: 'Rome' }
  const told = await explain({ paginate: match, size: 5 })
  assert.deepEqual(told.sets, [{ kind: 'index', index: 'orders_by_city', scans: 1, entries: 6 }])
  assert.deepEqual([told.documents_read, told.returned], [0, 5])
  const got = await explain([{ get: { ref: { collection: 'Orders' }, id: '1' } }, { get: match }])
  assert.deepEqual(got.documents, [{ collection: 'Orders', documents: 2 }])
})

test('nothing is written, and failures are reported with the reads', async () => {
  const written = await explain('Orders.byId("1")!.update({ n: 40711 })')
  assert.deepEqual([written.documents_read, written.returned], [1, 1])
  const { result } = await explain('Orders.byId("1")!.n')
  assert.equal(result, 1)
  const failed = await explain('Orders.byId("1")!.n + Orders.byId("99")!.n')
  assert.equal(failed.errors?.[0]?.code, 'document_not_found')
  assert.equal(failed.returned, 0)
  const wrong = await explain('Orders.where(')
  assert.equal(wrong.errors?.[0]?.code, 'invalid_query')
  assert.deepEqual([wrong.sets, wrong.suggestions], [[], []])
})

test('only admins may request explanations', async () => {
  const key = (await query(server, server.rootSecret, {
    create_key: { object: { role: 'server' } },
  })) as { readonly secret: string }
  const request = { path: '/api/v1/explain', secret: key.secret, query: { query: 'Orders.all()' } }
  assert.equal((await send(server, request)).status, 403)
})

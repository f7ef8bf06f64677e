// Imported documents follow the definition of their collection like documents written by queries: types, defaults,
// checks and unique constraints. A rejected document does not affect the rest of its batch.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fql as fqlOf, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

/** The outcome of a record; an array when there is a reason. */
type Outcome = string | readonly [kind: string, reason: string]

const fql = (text: string) => fqlOf(server, server.rootSecret, text)

async function write(lines: readonly unknown[], { dryRun = false } = {}): Promise<readonly Outcome[]> {
  const head = { onConflict: 'replace', dryRun }
  const { json, status } = await send(server, {
    path: '/api/v1/transfer/write',
    secret: server.rootSecret,
    body: [head, ...lines].map(line => JSON.stringify(line)).join('\n'),
  })
  assert.equal(status, 200, JSON.stringify(json))
  return (json as { outcomes: readonly Outcome[] }).outcomes
}

function record(collection: string, id: number, data: unknown, ts: number | null = null): unknown {
  return ['w', collection, id, ts, { data }]
}

/** A time before every collection of these tests was created, in microseconds. */
const past = 1_600_000_000_000_000

test('types and checks reject the same documents as queries of both languages', async () => {
  await fql(`Collection.create({
    name: "Typed",
    fields: { n: { signature: "Int" }, inner: { signature: "{ a: String }?" } },
    constraints: [{ check: { name: "positive", body: "d => d.n > 0" } }],
  })`)
  const lines = [
    record('Typed', 1, { n: 1 }),
    record('Typed', 2, { n: -5 }),
    record('Typed', 3, { n: 'text' }),
    record('Typed', 4, { n: 4, m: 1 }),
    record('Typed', 5, { inner: {} }),
    record('Typed', 6, { n: -6 }, past),
    record('Typed', 7, { n: 7.5 }, past),
    record('Typed', 8, { n: 8 }, past),
    record('Typed', 9, { n: 9, inner: { a: 'x' } }),
  ]
  const expected = [
    'written',
    ['bad', 'Document failed check constraint `positive`'],
    ['bad', 'n: Expected Int, provided String'],
    ['bad', 'm: Unexpected field provided'],
    ['bad', 'inner.a: Missing required field of type String, n: Missing required field of type Int'],
    ['bad', 'Document failed check constraint `positive`'],
    ['bad', 'n: Expected Int, provided Double'],
    'written',
    'written',
  ]
  assert.deepEqual(await write(lines, { dryRun: true }), expected)
  assert.deepEqual(await fql('Typed.all().count()'), 0)
  assert.deepEqual(await write(lines), expected)
  assert.deepEqual(await fql('Typed.all().map(.n).toArray()'), [1, 8, 9])
  await fql(
    'Collection.create({ name: "Nested", fields: { inner: { signature: "{ a: String, b: Int = 2 }" } } })',
  )
  assert.deepEqual(await write([record('Nested', 1, { inner: { a: 'x' } })]), ['written'])
  assert.deepEqual(await fql('Nested.byId("1")!.inner'), { a: 'x', b: 2 })
})

test('fields added by a definition exist after an import, and a second import changes nothing', async () => {
  await fql(`Collection.create({
    name: "Filled",
    fields: {
      made: { signature: "Time", default: "Time.now()" },
      number: { signature: "String", default: "newId().toString()" },
      note: { signature: "String?" },
    },
  })`)
  const ids = Array.from({ length: 40 }, (_, id) => id)
  const lines = ids.map(id => record('Filled', id, { note: `n${id}` }))
  const count = (outcomes: readonly Outcome[], kind: string) => outcomes.filter(each => each === kind).length
  assert.equal(count(await write(lines), 'written'), 40)
  assert.equal(await fql('Filled.where(d => d.made isa Time && d.number.length > 10).count()'), 40)
  assert.equal(await fql('Filled.all().map(.number).distinct().count()'), 40)
  const before = await fql('Filled.all().map(.ts).toArray()')
  assert.equal(count(await write(lines), 'equal'), 40)
  assert.deepEqual(await fql('Filled.all().map(.ts).toArray()'), before)
})

test('past versions may follow former definitions', async () => {
  await fql('Collection.create({ name: "Aged", history_days: null, fields: { n: { signature: "Int" } } })')
  const history = ['h', 'Aged', 1, past, { data: { m: 'former' } }]
  assert.deepEqual(await write([history, record('Aged', 1, { n: 1 })]), ['written', 'replaced'])
  assert.deepEqual(await fql('Aged.byId("1")!.n'), 1)
})

test('a violated unique constraint is reported with its fields', async () => {
  await fql(`Collection.create({ name: "Single", constraints: [{ unique: [".email", ".at.home"] }] })`)
  const data = { email: 'a', at: { home: 1 } }
  assert.deepEqual(await write([record('Single', 1, data), record('Single', 2, data)]), [
    'written',
    ['bad', 'the unique constraint of email, at.home already contains the values, from Single 1'],
  ])
})

test('a check that fails or never ends rejects only its document', async () => {
  await fql(`Function.create({ name: "again", body: "x => again(x)" })`)
  await fql(`Collection.create({
    name: "Broken",
    constraints: [
      { check: { name: "some", body: "d => if (d.n == 1) abort(1) else if (d.n == 2) again(d.n) else true" } },
    ],
  })`)
  const outcomes = await write([0, 1, 2, 3].map(n => record('Broken', n, { n })))
  const kinds = outcomes.map(each => (typeof each === 'string' ? each : each[0]))
  assert.deepEqual(kinds, ['written', 'bad', 'bad', 'written'])
  assert.match(String(outcomes[1]?.[1]), /^Error evaluating a check constraint: /)
  assert.match(String(outcomes[2]?.[1]), /number of stack frames exceeded limit of 2048$/)
  assert.equal(
    await query(server, server.rootSecret, { exists: { ref: { collection: 'Broken' }, id: '2' } }),
    false,
  )
})

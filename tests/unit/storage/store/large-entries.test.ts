// Versions whose index entries together have more bytes than a transaction may write: many terms with a long value each.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Background } from '../../../../src/storage/store/background.ts'
import { indexBuilderLimits } from '../../../../src/storage/store/index-builder.ts'
import { openTestEngine, type TestEngine } from '../../../support/engine.ts'

const object = (fields: object) => ({ object: fields })
const limit = 16_777_216
const text = 'x'.repeat(30_000)
const tags = (count: number) => Array.from({ length: count }, (_, n) => n)
/** The entries of this document have more than 40 MB in an index of its tags with its text. */
const large = object({ data: object({ tags: tags(1500), text }) })
const small = object({ data: object({ tags: [1], text }) })
const index = (name: string) => ({
  create_index: object({
    name,
    source: { collection: 'c' },
    terms: [object({ field: ['data', 'tags'] })],
    values: [object({ field: ['data', 'text'] })],
  }),
})
const document = { ref: { collection: 'c' }, id: '1' }

/** Runs a query that must exceed the limit of a transaction. Returns the number of bytes at which it was ended. */
async function exceededBytes(engine: TestEngine, query: object): Promise<number> {
  const { body, status } = await engine.send(query)
  const found = /Transaction exceeded limit: got (\d+) bytes, limit 16777216 bytes/.exec(String(body))
  assert.equal(status, 400)
  assert.ok(found, String(body))
  return Number(found[1])
}

test('a write ends before its entries take more memory than a transaction may write', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_collection: object({ name: 'c' }) })
  await engine.query(index('one'))
  assert.ok((await exceededBytes(engine, { create: document, params: large })) < limit + 100_000)
  // Each index alone is below the limit.
  const names = Array.from({ length: 5 }, (_, n) => `more${n}`)
  for (const name of names) await engine.query(index(name))
  const medium = object({ data: object({ tags: tags(300), text }) })
  assert.ok((await exceededBytes(engine, { create: document, params: medium })) < 2 * limit)
  const insert = { insert: document, ts: { time: '2020-01-01T00:00:00Z' }, action: 'create', params: large }
  assert.ok((await exceededBytes(engine, insert)) < limit + 100_000)
  assert.deepEqual(engine.store.check(), [])
})

test('the entries of several documents of a transaction are added up', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_collection: object({ name: 'c' }) })
  await engine.query(index('one'))
  const create = (id: number) => ({
    create: { ref: { collection: 'c' }, id: String(id) },
    params: object({ data: object({ tags: tags(300), text }) }),
  })
  await engine.query(create(1))
  const many = { do: Array.from({ length: 10 }, (_, n) => create(n + 2)) }
  assert.ok((await exceededBytes(engine, many)) < 2 * limit)
  // A document that the transaction writes again, or deletes, counts only once.
  const again = { update: create(20).create, params: small }
  await engine.query({ do: [create(20), again, create(21), { delete: create(21).create }, create(22)] })
  assert.deepEqual(engine.store.check(), [])
})

test('a build fails while the present version has too many bytes of entries, and skips past versions', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_collection: object({ name: 'c' }) })
  const fill = {
    foreach: {
      lambda: 'n',
      expr: {
        create: { collection: 'c' },
        params: object({ data: object({ tags: { var: 'n' }, text: 't' }) }),
      },
    },
    collection: tags(indexBuilderLimits.synchronousIndexBuildMax + 10),
  }
  await engine.query(fill)
  await engine.query({ create: document, params: large })
  await engine.query(index('late'))
  const background = new Background(engine.store)
  await background.runAll()
  const shown = async () => (await engine.query({ get: { index: 'late' } })) as Record<string, unknown>
  const failed = await shown()
  assert.equal(failed.active, false)
  assert.match(String(failed.build_error), /^Document 1 of c: Transaction exceeded limit: got \d+ bytes/)

  await engine.query({ update: document, params: small })
  await background.runAll()
  const built = await shown()
  assert.equal(built.active, true)
  assert.equal('build_error' in built, false)
  assert.deepEqual(engine.store.check(), [])
  const match = { match: { index: 'late' }, terms: 1 }
  const found = (await engine.query({ paginate: match })) as { data: readonly unknown[] }
  assert.equal(found.data.length, 2)
  await engine.query({ delete: document })
  assert.deepEqual(engine.store.check(), [])
})

test('an index over a few documents is rejected if one of them has too many bytes of entries', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_collection: object({ name: 'c' }) })
  await engine.query({ create: document, params: large })
  assert.ok((await exceededBytes(engine, index('one'))) < limit + 100_000)
  await engine.query({ update: document, params: small })
  await engine.query(index('one'))
  assert.deepEqual(engine.store.check(), [])
})

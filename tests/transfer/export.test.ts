// An export can be imported and exported again with the same bytes, except for the names of the run.

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import type { TransferConnection } from '../../src/transfer/connection.ts'
import { parseJson } from '../../src/values/json.ts'
import { contentOf, exportTo } from './exports.ts'
import { document, openTestDatabase, type TestDatabase } from './importing.ts'

const object = (fields: object) => ({ object: fields })

/** Everything a database can hold. */
async function fill(database: TestDatabase): Promise<void> {
  await database.import(['tagged', 'dumps', 'language'])
  const ask = (query: unknown, path: readonly string[] = []) => database.ask(query, path)
  await ask({ create_database: object({ name: 'child', data: object({ of: 'moved' }) }) })
  await ask({ create_collection: object({ name: 'toys', history_days: 1, ttl_days: 5 }) }, ['child'])
  await ask({ create: { collection: 'toys' }, params: object({ data: object({ n: 1 }) }) }, ['child'])
  await ask({ create_key: object({ role: 'server', name: 'of the app' }) })
  await ask({ create_collection: object({ name: 'Token' }) })
  await ask({ create_collection: object({ name: '..' }) })
  await ask({
    create: { ref: { collection: '..' }, id: '1' },
    params: object({ data: object({ up: true }) }),
  })
  const odd = {
    text: '[legacy index nothing]',
    mark: '[function <lambda>]',
    escaped: object({ '@x': 1, '@object': object({ a: 1 }) }),
    token: { ref: { collection: 'Token' }, id: '5' },
    natives: { keys: null },
    role: { role: 'greeter' },
    credentials: { '@ref': { id: '21', collection: { '@ref': { id: 'credentials' } } } },
    integers: [2147483647, 2147483648, -2147483648],
    doubles: [1.5, 1e300],
    uuid: { '@uuid': '00000000-0000-0000-0000-000000000001' },
    surrogate: '\u{1f600} "quoted" \\ \n',
    data: object({ data: 1, coll: 'x' }),
    coll: 'reserved',
    empty: object({}),
    nothing: [],
  }
  await ask({ create: { ref: { collection: 'Token' }, id: '5' }, params: object({ data: object(odd) }) })
  await ask({ create: { ref: { collection: 'Token' }, id: '6' }, params: object({}) })
}

test('export, import, export: the same bytes', async t => {
  const first = await openTestDatabase(t)
  await fill(first)
  const folder = await exportTo(first, 'first')
  const second = await openTestDatabase(t)
  const report = await second.import([folder])
  assert.equal(report.total().bad, 0)
  const failed = report.data.schema.filter(({ outcome }) => outcome === 'failed')
  assert.deepEqual(failed, [])
  assert.deepEqual(report.data.lost, {})
  const [before, after] = [await contentOf(folder), await contentOf(await exportTo(second, 'second'))]
  assert.deepEqual(after, before)
  for (const file of [
    'schema/indexes.fql',
    'schema/keys.jsonl',
    'databases/child/schema/collections.fql',
    'data/collections/%2E./%2E._00_000000.jsonl',
  ]) {
    assert.ok(before[file], file)
  }
  const again = await second.import([folder])
  assert.equal(again.total().written, 0)
  assert.deepEqual(new Set(again.data.schema.map(({ outcome }) => outcome)), new Set(['equal']))
})

test('a simple export equals that of the hosted service', async t => {
  const database = await openTestDatabase(t)
  await database.import(['tagged'])
  const content = await contentOf(await exportTo(database, 'simple', { format: 'simple' }))
  assert.equal(
    content['data/collections/Product/Product_00_000000.jsonl']?.split('\n')[0],
    '{"id":"101","coll":"Product","ts":"2025-03-22T10:58:58.290Z","ttl":"2999-01-01T00:00:00Z","name":"cups","price":698,' +
      '"big":5000000000,"w":1.5,"odd":"NaN","due":"2025-05-30","at":"2025-01-01T00:00:00.000000001Z","bin":"3q2+7w==",' +
      '"category":{"id":"7","coll":"Category"},"escaped":{"@x":"y"},"list":[1,null,true],"data":{"id":"mine","ts":1}}',
  )
})

test('the history is included on request', async t => {
  const first = await openTestDatabase(t)
  await first.import(['dumps/array.json'])
  const ref = document('things', '301')
  await first.ask({ update: ref, params: object({ data: object({ whole: 2 }) }) })
  await first.ask({ update: ref, params: object({ data: object({ whole: 3 }) }) })
  await first.ask({ delete: document('things', '302') })
  await first.ask({ create: document('things', '302'), params: object({ data: object({ back: true }) }) })
  await first.ask({ create: document('things', '303'), params: object({ data: object({ short: true }) }) })
  await first.ask({ delete: document('things', '303') })
  const folder = await exportTo(first, 'first', { history: true })
  const second = await openTestDatabase(t)
  await second.import([folder])
  const [before, after] = [
    await contentOf(folder),
    await contentOf(await exportTo(second, 'second', { history: true })),
  ]
  assert.deepEqual(after, before)
  assert.equal(before['history/collections/things/things_00_000000.jsonl']?.match(/@version/g)?.length, 6)
  const events = { paginate: { events: ref } }
  assert.equal(await second.ask(events), await first.ask(events))
  const again = await second.import([folder])
  assert.equal(again.total().written, 0)
})

test('an export shows one point in time, whatever is written meanwhile', async t => {
  const database = await openTestDatabase(t)
  await database.import(['dumps/users.ndjson', 'dumps/array.json'])
  const { page } = database.connection
  let meddled = false
  const meddling = {
    ...database.connection,
    page: async (...request: Parameters<typeof page>) => {
      if (!meddled) {
        meddled = true
        await database.ask({
          create: { collection: 'users' },
          params: object({ data: object({ late: true }) }),
        })
        await database.ask({
          update: document('things', '301'),
          params: object({ data: object({ late: true }) }),
        })
        await database.ask({ delete: document('things', '302') })
      }
      return page(...request)
    },
  }
  const before = await contentOf(await exportTo(database, 'before'))
  const during = await contentOf(await exportTo({ ...database, connection: meddling }, 'during'))
  assert.ok(meddled)
  assert.deepEqual(during, before)
})

test('an export overwrites nothing', async t => {
  const database = await openTestDatabase(t)
  await database.import(['dumps/array.json'])
  await exportTo(database, 'taken')
  await assert.rejects(exportTo(database, 'taken'), /is not empty/)
})

test('schema files are those of the start, and an export fails when documents change their shape meanwhile', async t => {
  const database = await openTestDatabase(t)
  const { connection } = database
  await connection.query([], parseJson('{"create_database":{"object":{"name":"moved"}}}'))
  const push = (fields: string, body: number) => {
    const text = `collection Shelf {\n${fields}}\n\nfunction one() {\n  ${body}\n}\n`
    return connection.pushSchema(['moved'], [{ name: 'shelf.fsl', text }], false)
  }
  await push('  a: Int\n', 1)
  await database.ask({ create: { collection: 'Shelf' }, params: object({ data: object({ a: 1 }) }) })
  const exportWhile = (name: string, change: () => Promise<void>) => {
    const changing: TransferConnection = {
      ...connection,
      async page(path, request) {
        await change()
        return connection.page(path, request)
      },
    }
    return exportTo({ ...database, connection: changing }, name)
  }
  const folder = await exportWhile('first', async () => {
    await push('  a: Int\n  index byA {\n    terms [.a]\n  }\n', 2)
    await database.ask({
      if: { exists: { collection: 'late' } },
      then: null,
      else: { create_collection: object({ name: 'late' }) },
    })
  })
  const shelf = (await contentOf(folder))['schema/shelf.fsl'] ?? ''
  assert.match(shelf, /a: Int\n\}\n\nfunction one\(\) \{\n {2}1\n/)
  await assert.rejects(
    exportWhile('second', () => push('  b: Int\n  migrations {\n    move .a -> .b\n  }\n', 2)),
    /the fields of the collection Shelf of moved were changed while it was exported: export it again/,
  )
  assert.deepEqual((await readdir(database.folder)).toSorted(), ['first'], 'nothing half is left')
})

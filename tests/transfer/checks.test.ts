// Checks of collections may read other documents: an import evaluates them again after all documents are written,
// whatever their order.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { contentOf, exportTo } from './exports.ts'
import { openTestDatabase, type TestDatabase } from './importing.ts'

type Line = readonly [collection: string, id: number, data?: string]

/** A tagged document; `data`: its members, with `REF(Collection id)` for references. */
function line([collection, id, data = '']: Line): string {
  const members = data.replace(
    /REF\((\w+) (\d+)\)/g,
    (_, coll, other) => `{"@ref":{"id":"${other}","coll":{"@mod":"${coll}"}}}`,
  )
  const ts = '"ts":{"@time":"2025-01-01T00:00:00Z"}'
  return `{"id":"${id}","coll":{"@mod":"${collection}"},${ts}${members && `,${members}`}}`
}

/** A database, and a function that imports lines into it in the order of their files. */
async function open(t: TestContext, schema: string) {
  const database = await openTestDatabase(t)
  const main = await database.file('main.fsl', schema)
  const run = async (lines: readonly Line[], options: Parameters<TestDatabase['import']>[1] = {}) => {
    const path = await database.file('all.jsonl', `${lines.map(line).join('\n')}\n`)
    return database.import([main, path], options)
  }
  return { database, run }
}

async function idsOf(database: TestDatabase, collection: string): Promise<string> {
  const expr = { select: ['id'], from: { var: 'r' } }
  const page = { paginate: { documents: { collection } }, size: 1000 }
  return database.ask({ select: 'data', from: { map: { lambda: 'r', expr }, collection: page } })
}

const follows = 'collection A { b: Ref<B>\n check has (a => a.b != null) }\ncollection B { *: Any }\n'
const needEachOther =
  'collection A { b: Ref<B>\n check has (a => a.b != null) }\ncollection B { a: Ref<A>\n check has (b => b.a != null) }\n'

test('checks follow references to documents that come later', async t => {
  const { database, run } = await open(t, follows)
  const many = Array.from({ length: 250 }, (_, at) => at + 1)
  const report = await run([
    ...many.map(id => ['A', id, `"b":REF(B ${id})`] as const),
    ...many.map(id => ['B', id] as const),
  ])
  const { bad, read, written } = report.total()
  assert.deepEqual({ bad, read, written }, { bad: 0, read: 500, written: 500 })
  assert.deepEqual(report.data.dangling, {})
  const folder = await exportTo(database, 'first')
  const second = await openTestDatabase(t)
  await second.import([folder])
  assert.deepEqual(await contentOf(await exportTo(second, 'second')), await contentOf(folder))
})

test('two collections whose checks need each other', async t => {
  const { database, run } = await open(t, needEachOther)
  const many = Array.from({ length: 250 }, (_, at) => at + 1)
  const report = await run(
    [
      ...many.map(id => ['A', id, `"b":REF(B ${id})`] as const),
      ['A', 300, '"b":REF(B 300)'],
      ...many.map(id => ['B', id, `"a":REF(A ${251 - id})`] as const),
      ['B', 301, '"a":REF(A 301)'],
    ],
    { skipBad: 2 },
  )
  const { bad, read, written } = report.total()
  assert.deepEqual({ bad, read, written }, { bad: 2, read: 502, written: 500 })
  assert.deepEqual(
    report.data.bad.map(({ collection, id, line, reason }) => [collection, id, line, reason]),
    [
      ['A', '300', 251, 'Document failed check constraint `has`'],
      ['B', '301', 502, 'Document failed check constraint `has`'],
    ],
  )
  assert.equal(await idsOf(database, 'A'), JSON.stringify(many.map(String)))
  assert.equal(await idsOf(database, 'B'), JSON.stringify(many.map(String)))
})

test('checks that read each other through sets, long chains of references, and checks that are never satisfied', async t => {
  const schema = `collection A { n: Int
      check other (a => B.where(b => b.n == a.n).first() != null) }
    collection B { n: Int
      check other (b => A.where(a => a.n == b.n).first() != null) }
    collection Row { next: Ref<Row>?
      check has (r => r.next == null || r.next!.exists()) }
    collection Hopeless { *: Any
      check never (n => false) }\n`
  const { database, run } = await open(t, schema)
  const lines: Line[] = [
    ['A', 1, '"n":{"@int":"1"}'],
    ['Hopeless', 1],
    ['B', 1, '"n":{"@int":"1"}'],
  ]
  for (let id = 1; id < 300; id++) lines.push(['Row', id, `"next":REF(Row ${id + 1})`])
  lines.push(['Row', 300])
  const report = await run(lines, { skipBad: 1 })
  assert.equal(report.total().written, 302)
  const reasons = report.data.bad.map(({ collection, reason }) => [collection, reason])
  assert.deepEqual(reasons, [['Hopeless', 'Document failed check constraint `never`']])
  assert.equal(JSON.parse(await idsOf(database, 'Row')).length, 300)
})

test('a final rejection ends the import, and a dry run reports as much as it can', async t => {
  const { database, run } = await open(t, follows)
  const bad: Line[] = [
    ['A', 1, '"b":REF(B 1)'],
    ['A', 2, '"b":REF(B 2)'],
    ['B', 1],
  ]
  await assert.rejects(run(bad), /all\.jsonl:2 A 2: Document failed check constraint `has` \(--skip-bad/)
  assert.equal(await idsOf(database, 'A'), '["1"]')
  const { database: empty, run: tryOut } = await open(t, follows)
  await empty.import([join(empty.folder, 'main.fsl')])
  const report = await tryOut(bad, { dryRun: true })
  const ids = report.data.bad.map(({ id }) => id)
  assert.deepEqual(ids, ['2'])
  assert.equal(report.total().written, 2)
  assert.equal(await idsOf(empty, 'A'), '[]')
})

test('the history of documents that were rejected at first is inserted after them', async t => {
  const { database, run } = await open(t, follows)
  await run([
    ['B', 1],
    ['B', 2],
    ['A', 1, '"b":REF(B 1)'],
  ])
  const params = { object: { data: { object: { b: { ref: { collection: 'B' }, id: '2' } } } } }
  await database.ask({ update: { ref: { collection: 'A' }, id: '1' }, params })
  const folder = await exportTo(database, 'first', { history: true })
  const second = await openTestDatabase(t)
  assert.equal((await second.import([folder])).total().bad, 0)
  const content = await contentOf(folder)
  assert.ok(content['history/collections/A/A_00_000000.jsonl'])
  assert.deepEqual(await contentOf(await exportTo(second, 'second', { history: true })), content)
})

test('an interrupted import remembers the rejections of its checks', async t => {
  const { database, run } = await open(t, needEachOther)
  const lines: Line[] = [
    ['A', 1, '"b":REF(B 1)'],
    ['B', 1, '"a":REF(A 1)'],
  ]
  const { write } = database.connection
  const failing: typeof database.connection = {
    ...database.connection,
    write: async (path, records, options) => {
      if (options.checks === 'together') throw new Error('the power fails')
      return write(path, records, options)
    },
  }
  await assert.rejects(run(lines, { connection: failing }), /the power fails/)
  // The files must be the same: with another modification time it would be another import.
  const report = await database.import(['main.fsl', 'all.jsonl'].map(name => join(database.folder, name)))
  assert.deepEqual([report.total().read, report.total().written], [2, 2])
  assert.equal(await idsOf(database, 'A'), '["1"]')
})

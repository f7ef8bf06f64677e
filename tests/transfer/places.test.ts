// Errors of a record are reported with position, collection, id and field, and so is content that a format cannot
// express.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { document, openTestDatabase } from './importing.ts'

const mod = (name: string) => ({ '@mod': name })
const ts = { '@time': '2025-03-22T10:58:58.290Z' }

test('in an export with one line per file, errors have record, byte, collection, id and field', async t => {
  const database = await openTestDatabase(t)
  const elements = [
    { id: '1', coll: mod('users'), ts, name: 'Ada' },
    { id: 'abc', coll: mod('users'), ts },
    {
      id: '3',
      coll: mod('users'),
      ts,
      deep: { list: [{ by: { '@ref': { id: 'x', coll: mod('users') } } }] },
    },
    { id: '4', coll: mod('users'), ts: { '@time': '1600-01-01T00:00:00Z' } },
    { id: '5', coll: mod('users'), ts, day: { '@date': 'yesterday' } },
  ].map(each => JSON.stringify(each))
  elements.push('{"id":"6","coll":{"@mod":"users"},"broken":tru}', '{"id":"7","coll":{"@mod":"users"}}')
  const path = await database.file('users_00_000000.json', `[${elements.join()}]`)
  const report = await database.import([path], { skipBad: 9 })
  const byteOf = (record: number) =>
    1 + elements.slice(0, record - 1).reduce((sum, each) => sum + each.length + 1, 0)
  assert.deepEqual(
    report.data.bad.map(({ byte, collection, id, line, reason, record }) => [
      record,
      byte,
      line,
      collection,
      id,
      reason,
    ]),
    [
      [2, byteOf(2), 1, 'users', 'abc', 'a document with "abc", which is not a valid id'],
      [
        3,
        byteOf(3),
        1,
        'users',
        '3',
        'field deep.list.by: a reference into users with "x", which is not a valid id',
      ],
      [4, byteOf(4), 1, 'users', '4', 'field ts: a time that is not between 1684 and 2255'],
      [5, byteOf(5), 1, 'users', '5', 'field day: "yesterday" is not a valid date (@date)'],
      [6, byteOf(6), 1, 'users', '6', 'broken JSON at character 44 of it'],
    ],
  )
  assert.match(
    report.text(),
    /users_00_000000\.json:1 \(record 2, byte \d+\) users abc: a document with "abc"/,
  )
  assert.equal(report.counts('users').written, 2)
})

test('errors in data of drivers, rows and tables have their field as well', async t => {
  const database = await openTestDatabase(t)
  const ref = document('people', '1')
  const noon = { ref, ts: 1, data: { a: { t: { '@ts': 'noon' } } } }
  const users = await database.file('users.jsonl', JSON.stringify(noon))
  await assert.rejects(
    database.import([users]),
    /users\.jsonl:1 people 1: field data\.a\.t: "noon" is not a valid time \(@ts\)/,
  )
  const late = await database.file('late.jsonl', JSON.stringify({ ref, ts: 'noon' }))
  await assert.rejects(
    database.import([late]),
    /late\.jsonl:1 people 1: field ts: "noon" is not a valid time/,
  )
  const table = await database.file('goods.csv', 'id,due\n1,soon\n')
  const type = ['due::date']
  await assert.rejects(
    database.import([table], { type }),
    /goods\.csv:\d goods 1: field due: "soon" is not a valid date/,
  )
})

test('very many bad records are counted, and some of them reported', async t => {
  const database = await openTestDatabase(t)
  const path = await database.file('bad.jsonl', '{"ref":{"@ref":7}}\n'.repeat(3000))
  const report = await database.import([path], { skipBad: 3000 })
  assert.equal(report.total().bad, 3000)
  assert.ok(report.data.bad.length <= 1000)
  assert.ok(report.text().split('\n').length < 200)
  assert.match(report.text(), /and 2\d\d\d more/)
})

test('rows after a bad one keep their ids when it has been corrected', async t => {
  const database = await openTestDatabase(t)
  const lines = ['{"n":1}', '{"n":}', '{"n":3}']
  const path = await database.file('rows.jsonl', lines.join('\n'))
  await database.import([path], { skipBad: 1 })
  await database.file('rows.jsonl', lines.with(1, '{"n":2}').join('\n'))
  const { equal, written } = (await database.import([path])).total()
  assert.deepEqual([equal, written], [2, 1])
})

test('unresolved names are reported: indexes, roles, deleted collections', async t => {
  const database = await openTestDatabase(t)
  const fields = {
    index: '[legacy index gone]',
    role: { name: 'clerk', coll: 'Role' },
    old: { id: '9', coll: 'Deleted' },
  }
  const simple = { id: '1', coll: 'users', ts: ts['@time'], ...fields, own: { name: 'a', coll: 'b' } }
  const path = await database.file('users.jsonl', JSON.stringify(simple))
  const { lost } = (await database.import([path])).data
  assert.deepEqual(Object.keys(lost), [
    'the collection of a reference, which was deleted: its id is kept in an object (users)',
    'a reference to index gone, which does not exist (users)',
    'a reference to role clerk, which does not exist (users)',
  ])
  assert.equal(
    await database.data('users', '1'),
    '{"index":"[legacy index gone]","role":{"name":"clerk","coll":"Role"},"old":{"id":"9","collection":"Deleted"},"own":{"name":"a","coll":"b"}}',
  )
  await database.ask({ create_role: { object: { name: 'clerk', privileges: [] } } })
  await database.import([path], { onConflict: 'replace' })
  assert.match(await database.data('users', '1'), /"role":\{"@ref":\{"id":"clerk"/)
})

test('a dry run reports references without a target, whether or not the database exists', async t => {
  const database = await openTestDatabase(t)
  const lines = [
    { ref: document('a', '1'), data: { forward: document('a', '2'), none: document('b', '7') } },
    { ref: document('a', '2'), data: { back: document('a', '1'), none: document('a', '3') } },
  ]
  const path = await database.file('a.jsonl', lines.map(each => JSON.stringify(each)).join('\n'))
  const expected = ['a → b', 'a → a']
  const told = async () => Object.keys((await database.import([path], { dryRun: true })).data.dangling)
  assert.deepEqual(await told(), expected)
  const real = await database.import([path])
  assert.deepEqual(Object.keys(real.data.dangling), expected)
  assert.deepEqual(await told(), expected)
  await database.ask({ create: document('a', '3'), params: { object: {} } })
  assert.deepEqual(await told(), ['a → b'])
})

test('links are followed once; special files are skipped', async t => {
  const database = await openTestDatabase(t)
  const row = JSON.stringify({ ref: document('a', '1'), data: {} })
  await database.file('real/a.jsonl', row)
  await database.file('top/b.jsonl', row.replace('"id":"1"', '"id":"2"'))
  const top = join(database.folder, 'top')
  await symlink('../real', join(top, 'folder'))
  await symlink('..', join(database.folder, 'real/around'))
  await symlink('nothing', join(top, 'dangling'))
  assert.equal(spawnSync('mkfifo', [join(top, 'pipe')]).status, 0)
  const report = await database.import([top])
  assert.equal(report.total().written, 2)
  assert.deepEqual([...report.data.passedOver].sort(), ['top/dangling (no file)', 'top/pipe (no file)'])
  await assert.rejects(database.import([join(top, 'pipe')]), /pipe is not a file/)
})

test('the same import cannot run twice at the same time; an abandoned import is forgotten', async t => {
  const database = await openTestDatabase(t)
  const path = await database.file('a.jsonl', JSON.stringify({ ref: document('a', '1'), data: {} }))
  const state = join(database.folder, 'state')
  const seen: string[][] = []
  const look = {
    ...database.connection,
    write: async (...request: Parameters<typeof database.connection.write>) => {
      seen.push(await readdir(state))
      return database.connection.write(...request)
    },
  }
  await database.import([path], { connection: look })
  const lock = seen[0]?.find(name => name.endsWith('.lock')) as string
  assert.deepEqual(await readdir(state), [], 'a finished import leaves nothing behind')
  // The mark of a running process: the parent of this one.
  await writeFile(join(state, lock), String(process.ppid))
  await assert.rejects(
    database.import([path]),
    new RegExp(`process ${process.ppid} is importing the same files`),
  )
  // The mark of a process that has ended.
  const ended = spawnSync('true').pid
  await writeFile(join(state, lock), String(ended))
  await database.import([path])
  const old = join(state, `${'0'.repeat(24)}.json`)
  await writeFile(old, '{}')
  await utimes(old, 1, 1)
  await writeFile(join(state, 'notes.txt'), 'of somebody else')
  await database.import([path])
  assert.deepEqual(await readdir(state), ['notes.txt'])
  await rm(join(state, 'notes.txt'))
})

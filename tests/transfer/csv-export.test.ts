// Exports to CSV: the text of the cells (RFC 4180), and files that are imported by themselves.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { CsvColumns, documentOfRow } from '../../src/transfer/csv-cells.ts'
import { parseJson } from '../../src/values/json.ts'
import { exportTo } from './exports.ts'
import { openTestDatabase } from './importing.ts'

const object = (fields: object) => ({ object: fields })

const fields = {
  text: 'a "b", c\r\nd',
  number: 5,
  digits: '5',
  ratio: 0.5,
  flag: true,
  word: 'true',
  empty: '',
  blank: ' x ',
  list: [1, 'a'],
  object: { object: { a: 1 } },
  formula: '=1+1',
  day: { '@date': '2020-02-29' },
  id: 'reserved',
}

test('a file has a header and a row for each document, which import reads back', async t => {
  const first = await openTestDatabase(t)
  await first.connection.query([], parseJson('{"create_database":{"object":{"name":"moved"}}}'))
  await first.ask({ create_collection: object({ name: 'things' }) })
  const ref = (id: string) => ({ ref: { collection: 'things' }, id })
  await first.ask({ create: ref('1'), params: object({ data: object(fields) }) })
  await first.ask({ create: ref('2'), params: object({ data: object({ 'od,d': 1 }) }) })
  const folder = await exportTo(first, 'first', { fileFormat: 'csv' })
  const file = join(folder, 'data/collections/things/things_00_000000.csv')
  const text = await readFile(file, 'utf8')
  const [header, ...rows] = text.split('\r\n')
  assert.equal(
    header,
    'id,coll,ts,text,number,digits,ratio,flag,word,empty,blank,list,object,formula,day,data,"od,d"',
  )
  assert.match(rows[0] ?? '', /^1,"\{""@mod"":""things""\}","\{""@time"":""[^"]+""\}","a ""b"", c$/)
  assert.equal(
    rows[1],
    'd",5,"""5""",0.5,true,"""true""",""""""," x ","[{""@int"":""1""},""a""]","{""a"":{""@int"":""1""}}",=1+1,"{""@date"":""2020-02-29""}","{""id"":""reserved""}",',
  )
  assert.match(rows[2] ?? '', /,1$/)
  assert.equal(rows[3], '')

  const second = await openTestDatabase(t)
  const report = await second.import([file])
  assert.equal(report.total().bad, 0)
  const lines = async (database: typeof first, name: string) =>
    readFile(join(await exportTo(database, name), 'data/collections/things/things_00_000000.jsonl'), 'utf8')
  assert.equal(await lines(second, 'second'), await lines(first, 'third'))
})

test('a header whose names contain other separators is read with commas', () => {
  const columns = new CsvColumns()
  const members = new Map([
    ['id', '"7"'],
    ['coll', '"things"'],
    ['ts', '"2020-01-01T00:00:00Z"'],
    ['a;b:c', '"\\u0000"'],
  ])
  columns.add(members)
  assert.equal(columns.header(), 'id,coll,ts,a;b:c\r\n')
  const row = columns.row(members).trimEnd().split(',')
  assert.deepEqual(
    [...documentOfRow(['id', 'coll', 'ts', 'a;b:c'], row)],
    [
      ['id', '7'],
      ['coll', 'things'],
      ['ts', '2020-01-01T00:00:00Z'],
      ['a;b:c', '\u0000'],
    ],
  )
})

test('a collection with too many fields cannot be exported to CSV', () => {
  const columns = new CsvColumns()
  const members = new Map(Array.from({ length: 10_000 }, (_, n) => [`f${n}`, '1']))
  assert.throws(() => columns.add(members), /more than 10000 different fields.*--files jsonl/)
})

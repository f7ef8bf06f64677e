// Stored schema files: their order, their changes, and the mark of a staged schema.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  isStaged,
  readSchemaFiles,
  type SchemaKind,
  stageSchemaFiles,
  unstageSchema,
  writeSchemaFiles,
} from '../../../../src/model/schema/schema-files.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { type DatabaseId, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench } from '../../storage/store/support.ts'

const bench = new Bench()
const { store } = bench
after(() => bench.close())
let lastId = 0n

type FileSession = Parameters<typeof isStaged>[0]

function sessionOf(transaction: Transaction): FileSession {
  const newDocument = (database: DatabaseId, collection: number) => new Ref(database, collection, ++lastId)
  return { database: rootDatabase, newDocument, transaction }
}

const write = async (work: (session: FileSession) => void) =>
  (await store.write(transaction => work(sessionOf(transaction)))).time
const read = <T>(work: (session: FileSession) => T) =>
  store.read(transaction => work(sessionOf(transaction))).result
const names = (stage: SchemaKind) => read(session => readSchemaFiles(stage, session)).map(({ name }) => name)
const schemaVersion = () => read(({ database, transaction }) => transaction.catalogue.schemaVersion(database))
const file = (name: string, text = '') => ({ name, text })

test('changed files keep their position, new files are appended, and files that are not written are deleted', async () => {
  await write(session => writeSchemaFiles('active', [file('b', '1'), file('c'), file('a')], session))
  await write(session => writeSchemaFiles('active', [file('a', '2'), file('d'), file('b')], session))
  const active = read(session => readSchemaFiles('active', session))
  assert.deepEqual(active, [file('b'), file('a', '2'), file('d')])
  await write(session => writeSchemaFiles('active', [], session))
  assert.deepEqual(names('active'), [])
})

test('a staged schema has its own files, and each staging changes the schema version', async () => {
  await write(session => writeSchemaFiles('active', [file('main')], session))
  const before = schemaVersion()
  assert.equal(read(isStaged), false)
  const times = []
  for (const files of [[file('other')], []]) {
    times.push(await write(session => stageSchemaFiles(files, session)))
    assert.equal(schemaVersion(), times.at(-1))
    assert.equal(read(isStaged), true)
    const expected = files.map(({ name }) => name)
    assert.deepEqual(names('staged'), expected)
  }
  const end = await write(unstageSchema)
  assert.deepEqual([read(isStaged), names('staged'), names('active')], [false, [], ['main']])
  assert.deepEqual([schemaVersion(), before < end], [end, true])
})

test('writing active files alone does not change the schema version', async () => {
  const before = schemaVersion()
  await write(session => writeSchemaFiles('active', [file('main', '// a comment')], session))
  assert.equal(schemaVersion(), before)
  assert.deepEqual(store.check(), [])
})

// The check detects damage: rows of each kind are removed, changed and invented in turn.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import { entryDocumentOffset } from '../../../../src/storage/keys/key-reader.ts'
import { Schema } from '../../../../src/storage/store/schema-cache.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench, createCollection, createIndex, data, documentRef, field, object, second } from './support.ts'

/** A small database in which every table has rows. */
async function filled(): Promise<Bench> {
  const bench = new Bench()
  const users = await bench.write(transaction => {
    const users = createCollection(transaction, 'users', { history_days: 30n })
    createIndex(transaction, 'by_n', { source: users, terms: [field('n')], values: [field('m')] })
    transaction.put(new Ref(rootDatabase, native.keys, 7n), object({ role: 'admin' }))
    return users
  })
  for (const n of [1n, 2n]) {
    bench.now += second
    await bench.put(documentRef(users, 1), data({ n, m: 'x' }))
  }
  await bench.put(documentRef(users, 2), data({ n: 1n, m: 'y' }))
  await bench.delete(documentRef(users, 2))
  return bench
}

test('the check of very many databases holds the schemas of few', async () => {
  const bench = new Bench()
  const count = 2000
  const step = 500
  for (let first = 1; first <= count; first += step) {
    await bench.write(transaction => {
      for (let id = BigInt(first); id < first + step; id++) {
        transaction.put(new Ref(rootDatabase, native.databases, id), object({ name: `d${id}` }))
        const collection = transaction.nextSchemaId(id, native.collections)
        transaction.put(new Ref(id, native.collections, collection), object({ name: 'c' }))
      }
    })
  }
  const schemas = () => queryObjects(Schema, { format: 'count' })
  const before = schemas()
  let [held, reports] = [0, 0]
  const findings = bench.store.check(() => {
    // Counting collects garbage, which takes some milliseconds.
    if (++reports % 20 === 0) held = Math.max(held, schemas() - before)
  })
  assert.deepEqual(findings, [])
  assert.ok(held > 0 && held < count / 2, `${held} schemas of ${count} databases`)
  await bench.store.close()
})

type Table = Parameters<Bench['rows']>[0]

test('an undamaged database passes', async () => {
  await (await filled()).close()
})

const tables: readonly Table[] = [
  'document',
  'history',
  'indexLive',
  'indexEnded',
  'indexEvent',
  'changes',
  'expiry',
  'keyHome',
  'counter',
]

for (const table of tables) {
  test(`any missing row of table ${table} is found`, async () => {
    await using bench = await filled()
    const all = bench.rows(table)
    assert.ok(all.length > 0)
    for (const { key, value } of all) {
      // The first part of the log may be missing, because old parts are removed.
      if (table === 'changes' && key === all[0]?.key) continue
      await bench.writeRows([{ key, value: undefined }])
      assert.notDeepEqual(bench.store.check(), [], `row ${Buffer.from(key).toString('hex')}`)
      await bench.writeRows([{ key, value }])
    }
  })
}

for (const table of ['indexLive', 'indexEnded', 'indexEvent'] as const) {
  test(`a changed or invented row of table ${table} is found`, async () => {
    await using bench = await filled()
    for (const { key, value } of bench.rows(table)) {
      const changed = value.slice()
      const last = Math.min(8, changed.length - 1)
      changed[last] = (changed[last] as number) ^ 1
      await bench.writeRows([{ key, value: changed }])
      assert.notDeepEqual(bench.store.check(), [])
      const invented = key.slice()
      const idEnd = entryDocumentOffset(invented) + 7
      invented[idEnd] = (invented[idEnd] as number) ^ 0x40
      await bench.writeRows([
        { key, value },
        { key: invented, value },
      ])
      assert.notDeepEqual(bench.store.check(), [])
      await bench.writeRows([{ key: invented, value: undefined }])
    }
  })
}

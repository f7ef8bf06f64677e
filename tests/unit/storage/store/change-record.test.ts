// The change record by collection: its contents, its retention, and directories without a record.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch, micros } from '../../../../src/base/micros.ts'
import {
  changesKey,
  collectionChangesKey,
  garbageRange,
  metaKey,
} from '../../../../src/storage/keys/keyspace.ts'
import { encodeValue } from '../../../../src/storage/keys/value-codec.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { type Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench, createCollection, data, day, documentRef, object, second } from './support.ts'

function idsOf(transaction: Transaction, { id }: Ref, from = 0): bigint[][] {
  const record = transaction.collectionChanges(rootDatabase, Number(id), micros(from))
  return Array.from(record, ({ changes }) => changes.map(change => change.ref.id))
}

test('the changes of a collection are read in commit order, without changes of other collections', async () => {
  await using bench = new Bench()
  const [users, others] = await bench.write(transaction => [
    createCollection(transaction, 'users'),
    createCollection(transaction, 'others'),
  ])
  assert.ok(users && others)
  await bench.write(transaction => {
    transaction.put(documentRef(users, 2), data({}))
    transaction.put(documentRef(others, 1), data({}))
    transaction.put(documentRef(users, 1), data({}))
  })
  await bench.put(documentRef(others, 2), data({}))
  const time = await bench.delete(documentRef(users, 2))
  bench.read(transaction => {
    assert.deepEqual(idsOf(transaction, users), [[2n, 1n], [2n]])
    assert.deepEqual(idsOf(transaction, users, time), [[2n]])
    assert.deepEqual(idsOf(transaction, users, time + 1), [])
    assert.deepEqual(idsOf(transaction, others), [[1n], [2n]])
    assert.equal(transaction.changesSince, 0)
  })
  const [all] = bench.store.changes(micros(time - 1), 10)
  const actions = all?.changes.map(({ action, ref }) => [action, ref.id])
  assert.deepEqual(actions, [['delete', 2n]])
})

test('a transaction of many documents is recorded completely', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const count = 2500
  await bench.write(transaction => {
    for (let id = 1; id <= count; id++) transaction.put(documentRef(users, id), data({}))
  })
  const counts = bench.read(transaction => idsOf(transaction, users).map(ids => ids.length))
  assert.deepEqual(counts, [count])
  assert.equal(bench.store.changes(epoch, 10).at(-1)?.changes.length, count)
})

test('changes are removed when they are older than the history of their collection', async () => {
  await using bench = new Bench()
  const made = await bench.write(transaction => ({
    short: createCollection(transaction, 'short', { history_days: 0n }),
    long: createCollection(transaction, 'long', { history_days: 10n }),
    all: createCollection(transaction, 'all'),
  }))
  const { all, long, short } = made
  const background = new Background(bench.store)
  for (let id = 1; id <= 3; id++) {
    await bench.write(transaction => {
      for (const collection of [short, long, all]) transaction.put(documentRef(collection, id), data({}))
    })
    bench.now += day
  }
  const counts = () =>
    bench.read(transaction => [short, long, all].map(each => idsOf(transaction, each).length))
  await background.runAll()
  assert.deepEqual(counts(), [0, 3, 3])
  assert.equal(bench.rows('changes').length, 0)
  assert.deepEqual(bench.store.check(), [])
  bench.now += 9 * day
  await background.runAll()
  assert.deepEqual(counts(), [0, 1, 3])
  bench.now += 100 * day
  await background.runAll()
  assert.deepEqual(counts(), [0, 0, 3])
  // A collection that keeps everything is checked again, because its rules may change.
  await bench.put(all, object({ name: 'all', history_days: 1n }))
  bench.now += 40 * day
  await background.runAll()
  assert.deepEqual(counts(), [0, 0, 0])
  const left = bench.kv.read(view => [
    ...view.range(garbageRange('changes', micros(Number.MAX_SAFE_INTEGER - 1))),
  ])
  assert.deepEqual(left, [], 'nothing is left to look at')
})

test('a step over many changes removes a batch, and the check reports changes that the log still refers to', async () => {
  const bench = new Bench()
  const users = await bench.createCollection('users', { history_days: 0n })
  for (let id = 1; id <= 600; id++) {
    bench.now += second
    await bench.put(documentRef(users, id), data({}))
  }
  bench.now += 3 * day
  await new Background(bench.store).runAll()
  assert.equal(bench.rows('collectionChanges').length, 0)
  const time = await bench.put(documentRef(users, 1), data({}))
  const key = collectionChangesKey(rootDatabase, Number(users.id), micros(time), 0)
  const value = bench.kv.read(view => view.get(key))
  await bench.writeRows([{ key, value: undefined }])
  assert.match(bench.store.check().join(), /does not have the changes of .*, which are in the log/)
  await bench.writeRows([{ key, value }])
  const log = changesKey(micros(time), 0)
  await bench.writeRows([{ key: log, value: undefined }])
  assert.match(bench.store.check().join(), /have no pending removal/)
  await bench.store.close()
})

test('a directory without a change record stores the time when the record begins', async () => {
  const bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const time = await bench.put(ref, data({}))
  // The format of versions before the record: only the changes in the log by time.
  await bench.writeRows([
    ...bench.rows('collectionChanges').map(({ key }) => ({ key, value: undefined })),
    ...bench.rows('changes').map(({ key }) => ({ key, value: undefined })),
    { key: changesKey(micros(time), 0), value: encodeValue([[ref, 0n]]) },
    { key: metaKey('changes by collection since'), value: undefined },
  ])
  const reopened = new Bench(bench.kv)
  assert.equal(reopened.store.read(transaction => transaction.changesSince).result, time)
  const refs = reopened.store.changes(epoch, 10).map(({ changes }) => changes.map(change => change.ref))
  assert.deepEqual(refs, [[ref]])
  await reopened.put(ref, data({ n: 1n }))
  const found = reopened.read(transaction => [transaction.changesSince, idsOf(transaction, users)])
  assert.deepEqual(found, [time, [[1n]]])
  reopened.now += 3 * day
  await new Background(reopened.store).runAll()
  await reopened.close()
})

// Documents as transactions read and write them: versions, times, ttl, ids, the change log. Random transactions are
// compared with a model in random.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch, micros } from '../../../../src/base/micros.ts'
import { WriteNeeded } from '../../../../src/storage/store/store-contract.ts'
import { rootDatabase, TransactionTime } from '../../../../src/values/value.ts'
import { Bench, collectionRef, data, documentRef, object, second } from './support.ts'

test('a created document is read back by later transactions with its commit time', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const ts = await bench.commit(transaction => {
    const made = transaction.put(ref, data({ name: 'ada' }))
    assert.equal(made.ts, TransactionTime.micros)
    assert.equal(made.action, 'create')
    assert.equal(transaction.get(ref), made)
  })
  const version = bench.get(ref)
  assert.deepEqual(version, { ref, ts, action: 'create', fields: data({ name: 'ada' }) })
})

test('placeholders of the commit time become the time when the document is stored', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const ts = await bench.put(ref, data({ at: TransactionTime.micros }))
  const version = bench.get(ref)
  assert.deepEqual(version?.fields, data({ at: BigInt(ts) }))
})

test('several writes to a document in one transaction become one version, relative to the state before', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  await bench.write(transaction => {
    transaction.put(ref, data({ n: 1n }))
    assert.equal(transaction.put(ref, data({ n: 2n })).action, 'create')
  })
  await bench.write(transaction => {
    transaction.delete(ref)
    assert.equal(transaction.get(ref), undefined)
    assert.equal(transaction.put(ref, data({ n: 3n })).action, 'update')
  })
  const actions = bench.read(transaction => Array.from(transaction.versions(ref), version => version.action))
  assert.deepEqual(actions, ['create', 'update'])
})

test('versions are read backwards', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  for (const n of [1n, 2n, 3n]) await bench.put(ref, data({ n }))
  await bench.delete(ref)
  const backwards = bench.read(transaction =>
    Array.from(transaction.versions(ref, { reverse: true }), version => version.action),
  )
  assert.deepEqual(backwards, ['delete', 'update', 'update', 'create'])
})

test('a document whose ttl has passed does not exist, also in the past, and its id is free', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const ts = await bench.put(ref, data({}, bench.now + second))
  assert.ok(bench.get(ref))
  bench.now += second
  assert.equal(bench.get(ref), undefined)
  assert.equal(bench.get(ref, micros(ts)), undefined)
  assert.equal(bench.read(transaction => [...transaction.documents(rootDatabase, 1024, {})]).length, 0)
  bench.now += second
  assert.equal(await bench.write(transaction => transaction.put(ref, data({})).action), 'create')
  assert.equal(bench.read(transaction => [...transaction.versions(ref)]).length, 2)
})

test('commit times increase when the clock stands still or goes back', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const put = () => bench.put(documentRef(users, 1), data({}))
  const first = await put()
  const next = await put()
  bench.now -= second / 2
  const third = await put()
  assert.ok(first < next && next < third)
  const seen = bench.store.read(transaction => transaction.snapshotTime, micros(third + 5)).result
  assert.equal(seen, third + 5)
  assert.ok((await put()) > seen)
})

test('clients cannot move the time far ahead of the clock', async () => {
  await using bench = new Bench()
  const far = bench.now + 3600 * second
  const seen = bench.store.read(transaction => transaction.snapshotTime, micros(far)).result
  assert.ok(seen <= micros(bench.now + 10 * second))
})

test('a write in a reading transaction requests a writing transaction', async () => {
  await using bench = new Bench()
  const ref = documentRef(collectionRef(1024), 1)
  assert.throws(
    () => bench.read(transaction => transaction.put(ref, data({}))),
    error => error instanceof WriteNeeded,
  )
})

test('a transaction that writes nothing commits nothing', async () => {
  await using bench = new Bench()
  await bench.createCollection('users')
  const before = bench.store.changes(epoch, 100)
  await bench.write(transaction => transaction.get(collectionRef(1024)))
  assert.deepEqual(bench.store.changes(epoch, 100), before)
})

test('an error of a transaction reverts all its writes', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const failure = bench.write(transaction => {
    transaction.put(ref, data({}))
    throw new RangeError('stop')
  })
  await assert.rejects(failure, RangeError)
  assert.equal(bench.get(ref), undefined)
})

test('ids increase and contain the time', async () => {
  await using bench = new Bench()
  const ids = await bench.write(transaction => Array.from({ length: 3000 }, () => transaction.newId()))
  for (let index = 1; index < ids.length; index++)
    assert.ok((ids[index] as bigint) > (ids[index - 1] as bigint))
  assert.equal(((ids[0] as bigint) >> 20n) + 1336258850000n, BigInt(bench.now / 1000))
})

test('the change log names the documents that each transaction changed', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const created = await bench.put(ref, data({}))
  bench.now += second
  const inserted = await bench.commit(transaction =>
    transaction.insertVersion(ref, micros(created - 5), data({})),
  )
  assert.deepEqual(bench.store.changes(micros(created - 1), 10), [
    { time: created, changes: [{ ref, validTime: created, kind: 'write', action: 'create' }] },
    {
      time: inserted,
      changes: [{ ref, validTime: created - 5, kind: 'history insert', action: 'create' }],
    },
  ])
  assert.equal(bench.store.changes(epoch, 1).length, 1)
})

test('a version beyond the size limit is rejected', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const big = object({ data: object({ text: 'x'.repeat(8_388_609) }) })
  await assert.rejects(bench.put(documentRef(users, 1), big), { code: 'bad request' })
})

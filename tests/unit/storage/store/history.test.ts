// Writes into the past, and the resulting versions, actions, index entries and events.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  definitionOf,
  documentRef,
  field,
  matchIds,
  object,
  second,
} from './support.ts'

async function started() {
  const bench = new Bench()
  const { items, index } = await bench.write(transaction => {
    const items = createCollection(transaction, 'items', { history_days: 0n })
    return { items, index: createIndex(transaction, 'by_n', { source: items, terms: [field('n')] }) }
  })
  const ref = documentRef(items, 1)
  const actions = () =>
    bench.read(transaction => Array.from(transaction.versions(ref), ({ ts, action }) => [ts, action]))
  const events = (n: bigint) =>
    bench.read(transaction =>
      Array.from(transaction.matchEvents(definitionOf(transaction, index), [n], {}), event => [
        event.ts,
        event.action,
      ]),
    )
  return Object.assign(bench, { ref, index, actions, events })
}

test('a version inserted before the first one turns the first one into an update; its removal reverts this', async () => {
  await using bench = await started()
  const ts = await bench.put(bench.ref, data({ n: 1n }))
  bench.now += second
  const before = ts - 1
  await bench.write(transaction => {
    const inserted = transaction.insertVersion(bench.ref, micros(before), data({ n: 2n }))
    assert.deepEqual(inserted, { ref: bench.ref, ts: before, action: 'create', fields: data({ n: 2n }) })
    assert.deepEqual(transaction.get(bench.ref, micros(before))?.fields, data({ n: 2n }))
  })
  assert.deepEqual(bench.actions(), [
    [before, 'create'],
    [ts, 'update'],
  ])
  assert.deepEqual(bench.events(2n), [
    [before, 'add'],
    [ts, 'remove'],
  ])
  assert.deepEqual(bench.matchIds(bench.index, [2n], before), [1n])
  await bench.write(transaction => assert.ok(transaction.removeVersion(bench.ref, micros(before), 'create')))
  assert.deepEqual(bench.actions(), [[ts, 'create']])
  assert.deepEqual(bench.events(2n), [])
  assert.deepEqual(bench.events(1n), [[ts, 'add']])
})

test('inserting an existing version and removing a missing version change nothing', async () => {
  await using bench = await started()
  const ts = await bench.put(bench.ref, data({ n: 1n }))
  bench.now += second
  const before = micros(ts - 5)
  const insert = (n: bigint) => bench.insertVersion(bench.ref, before, data({ n }))
  const first = await insert(2n)
  const changes = () => bench.store.changes(micros(first), 10).map(({ time }) => time)
  const state = bench.read(transaction => transaction.lastCommitTime)
  await insert(2n)
  await bench.write(transaction => {
    assert.equal(transaction.removeVersion(bench.ref, before, 'delete'), undefined)
    assert.equal(transaction.removeVersion(bench.ref, micros(before - 1), 'create'), undefined)
  })
  assert.deepEqual(changes(), [])
  const after = bench.read(transaction => transaction.lastCommitTime)
  assert.equal(after, state, 'nothing was committed')
  const another = await insert(3n)
  assert.deepEqual(changes(), [another])
})

test('removing the newest version restores the previous one, with its time', async () => {
  await using bench = await started()
  const { ref, index } = bench
  await bench.put(ref, data({ n: 1n }))
  const first = bench.get(ref)
  const replaced = await bench.put(ref, data({ n: 2n }))
  await bench.write(transaction => {
    assert.equal(transaction.removeVersion(ref, micros(replaced), 'delete'), undefined)
    assert.equal(transaction.removeVersion(ref, micros(first?.ts as number), 'create')?.ts, first?.ts)
    transaction.insertVersion(ref, micros(first?.ts as number), data({ n: 1n }))
    assert.equal(transaction.removeVersion(ref, micros(replaced), 'create')?.action, 'update')
  })
  bench.read(transaction => {
    const restored = transaction.get(ref)
    const found = [restored?.ts, restored?.action, restored?.fields]
    assert.deepEqual(found, [first?.ts, first?.action, first?.fields])
    assert.deepEqual(matchIds(transaction, index, [1n]), [1n])
    assert.deepEqual(matchIds(transaction, index, [2n]), [])
  })
})

test('a version replaces one at the same time; a delete in the past ends the version before it', async () => {
  await using bench = await started()
  const { ref, actions } = bench
  const ts = await bench.put(ref, data({ n: 1n }))
  bench.now += 10 * second
  await bench.insertVersion(ref, ts, data({ n: 5n }))
  assert.deepEqual(bench.get(ref)?.fields, data({ n: 5n }))
  const gone = ts + second
  await bench.insertVersion(ref, gone, undefined)
  assert.equal(bench.get(ref), undefined)
  assert.deepEqual(actions(), [
    [ts, 'create'],
    [gone, 'delete'],
  ])
  await bench.write(transaction => transaction.removeVersion(ref, micros(gone), 'delete'))
  assert.ok(bench.get(ref))
})

test('a past version and a new one in one transaction have the right order', async () => {
  await using bench = await started()
  const past = bench.now - second
  const ts = await bench.commit(transaction => {
    assert.equal(transaction.put(bench.ref, data({ n: 1n })).action, 'create')
    transaction.insertVersion(bench.ref, micros(past), data({ n: 2n }))
    assert.deepEqual(transaction.get(bench.ref)?.fields, data({ n: 1n }))
  })
  assert.deepEqual(bench.actions(), [
    [past, 'create'],
    [ts, 'update'],
  ])
})

test('removing the state at the minimum valid time leaves a delete', async () => {
  await using bench = await started()
  const ts = await bench.put(bench.ref, data({ n: 1n }))
  bench.now += 3600 * second
  await bench.write(transaction => transaction.removeVersion(bench.ref, micros(ts), 'create'))
  assert.deepEqual(bench.actions(), [])
  assert.equal(bench.get(bench.ref), undefined)
})

test('expiry writes no event; writing the expired document again removes and adds its entry', async () => {
  await using bench = await started()
  const first = await bench.put(bench.ref, data({ n: 1n }, bench.now + second))
  bench.now += 2 * second
  assert.deepEqual(bench.events(1n), [[first, 'add']])
  const again = await bench.put(bench.ref, data({ n: 1n }))
  assert.deepEqual(bench.events(1n), [
    [first, 'add'],
    [again, 'remove'],
    [again, 'add'],
  ])
})

test('keys may be written into the past', async () => {
  await using bench = new Bench()
  const key = new Ref(rootDatabase, native.keys, 9n)
  await bench.put(key, object({ role: 'admin' }))
  await bench.write(transaction =>
    transaction.insertVersion(key, micros(transaction.snapshotTime - second), object({ role: 'server' })),
  )
  const databases = bench.read(transaction => transaction.directory.keyDatabases(9n))
  assert.deepEqual(databases, [rootDatabase])
})

test('two processes on one data directory never share a commit time', async () => {
  const kv = openMemory()
  const [left, right] = [new Bench(kv), new Bench(kv)]
  right.now -= 5 * second
  const users = await left.createCollection('users')
  let last = 0
  for (let round = 0; round < 6; round++) {
    const bench = round % 2 === 0 ? left : right
    const time = await bench.put(documentRef(users, 1), data({ n: BigInt(round) }))
    assert.ok(time > last)
    last = time
  }
  await left.close()
})

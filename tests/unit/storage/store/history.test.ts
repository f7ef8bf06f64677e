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
  return { bench, ref, index, actions, events }
}

test('a version inserted before the first one turns the first one into an update; its removal reverts this', async () => {
  const { bench, ref, index, actions, events } = await started()
  const ts = await bench.commit(transaction => transaction.put(ref, data({ n: 1n })))
  bench.now += second
  const before = ts - 1
  await bench.write(transaction => {
    const inserted = transaction.insertVersion(ref, micros(before), data({ n: 2n }))
    assert.deepEqual(inserted, { ref, ts: before, action: 'create', fields: data({ n: 2n }) })
    assert.deepEqual(transaction.get(ref, micros(before))?.fields, data({ n: 2n }))
  })
  assert.deepEqual(actions(), [
    [before, 'create'],
    [ts, 'update'],
  ])
  assert.deepEqual(events(2n), [
    [before, 'add'],
    [ts, 'remove'],
  ])
  assert.deepEqual(
    bench.read(transaction => matchIds(transaction, index, [2n], before)),
    [1n],
  )
  await bench.write(transaction => assert.ok(transaction.removeVersion(ref, micros(before), 'create')))
  assert.deepEqual(actions(), [[ts, 'create']])
  assert.deepEqual(events(2n), [])
  assert.deepEqual(events(1n), [[ts, 'add']])
  await bench.close()
})

test('inserting an existing version and removing a missing version change nothing', async () => {
  const { bench, ref } = await started()
  const ts = await bench.commit(transaction => transaction.put(ref, data({ n: 1n })))
  bench.now += second
  const before = micros(ts - 5)
  const insert = (n: bigint) =>
    bench.commit(transaction => transaction.insertVersion(ref, before, data({ n })))
  const first = await insert(2n)
  const changes = () => bench.store.changes(micros(first), 10).map(({ time }) => time)
  const state = bench.read(transaction => transaction.lastCommitTime)
  await insert(2n)
  await bench.write(transaction => {
    assert.equal(transaction.removeVersion(ref, before, 'delete'), undefined)
    assert.equal(transaction.removeVersion(ref, micros(before - 1), 'create'), undefined)
  })
  assert.deepEqual(changes(), [])
  assert.equal(
    bench.read(transaction => transaction.lastCommitTime),
    state,
    'nothing was committed',
  )
  const another = await insert(3n)
  assert.deepEqual(changes(), [another])
  await bench.close()
})

test('removing the newest version restores the previous one, with its time', async () => {
  const { bench, ref, index } = await started()
  await bench.write(transaction => transaction.put(ref, data({ n: 1n })))
  const first = bench.read(transaction => transaction.get(ref))
  const replaced = await bench.commit(transaction => transaction.put(ref, data({ n: 2n })))
  await bench.write(transaction => {
    assert.equal(transaction.removeVersion(ref, micros(replaced), 'delete'), undefined)
    assert.equal(transaction.removeVersion(ref, micros(first?.ts as number), 'create')?.ts, first?.ts)
    transaction.insertVersion(ref, micros(first?.ts as number), data({ n: 1n }))
    assert.equal(transaction.removeVersion(ref, micros(replaced), 'create')?.action, 'update')
  })
  bench.read(transaction => {
    const restored = transaction.get(ref)
    assert.deepEqual(
      [restored?.ts, restored?.action, restored?.fields],
      [first?.ts, first?.action, first?.fields],
    )
    assert.deepEqual(matchIds(transaction, index, [1n]), [1n])
    assert.deepEqual(matchIds(transaction, index, [2n]), [])
  })
  await bench.close()
})

test('a version replaces one at the same time; a delete in the past ends the version before it', async () => {
  const { bench, ref, actions } = await started()
  const ts = await bench.commit(transaction => transaction.put(ref, data({ n: 1n })))
  bench.now += 10 * second
  await bench.write(transaction => transaction.insertVersion(ref, micros(ts), data({ n: 5n })))
  assert.deepEqual(bench.read(transaction => transaction.get(ref))?.fields, data({ n: 5n }))
  const gone = ts + second
  await bench.write(transaction => transaction.insertVersion(ref, micros(gone), undefined))
  assert.equal(
    bench.read(transaction => transaction.get(ref)),
    undefined,
  )
  assert.deepEqual(actions(), [
    [ts, 'create'],
    [gone, 'delete'],
  ])
  await bench.write(transaction => transaction.removeVersion(ref, micros(gone), 'delete'))
  assert.ok(bench.read(transaction => transaction.get(ref)))
  await bench.close()
})

test('a past version and a new one in one transaction have the right order', async () => {
  const { bench, ref, actions } = await started()
  const past = bench.now - second
  const ts = await bench.commit(transaction => {
    assert.equal(transaction.put(ref, data({ n: 1n })).action, 'create')
    transaction.insertVersion(ref, micros(past), data({ n: 2n }))
    assert.deepEqual(transaction.get(ref)?.fields, data({ n: 1n }))
  })
  assert.deepEqual(actions(), [
    [past, 'create'],
    [ts, 'update'],
  ])
  await bench.close()
})

test('removing the state at the minimum valid time leaves a delete', async () => {
  const { bench, ref, actions } = await started()
  const ts = await bench.commit(transaction => transaction.put(ref, data({ n: 1n })))
  bench.now += 3600 * second
  await bench.write(transaction => transaction.removeVersion(ref, micros(ts), 'create'))
  assert.deepEqual(actions(), [])
  assert.equal(
    bench.read(transaction => transaction.get(ref)),
    undefined,
  )
  await bench.close()
})

test('expiry writes no event; writing the expired document again removes and adds its entry', async () => {
  const { bench, ref, events } = await started()
  const first = await bench.commit(transaction => transaction.put(ref, data({ n: 1n }, bench.now + second)))
  bench.now += 2 * second
  assert.deepEqual(events(1n), [[first, 'add']])
  const again = await bench.commit(transaction => transaction.put(ref, data({ n: 1n })))
  assert.deepEqual(events(1n), [
    [first, 'add'],
    [again, 'remove'],
    [again, 'add'],
  ])
  await bench.close()
})

test('keys may be written into the past', async () => {
  await using bench = new Bench()
  const key = new Ref(rootDatabase, native.keys, 9n)
  await bench.write(transaction => transaction.put(key, object({ role: 'admin' })))
  await bench.write(transaction =>
    transaction.insertVersion(key, micros(transaction.snapshotTime - second), object({ role: 'server' })),
  )
  assert.deepEqual(
    bench.read(transaction => transaction.directory.keyDatabases(9n)),
    [rootDatabase],
  )
})

test('two processes on one data directory never share a commit time', async () => {
  const kv = openMemory()
  const [left, right] = [new Bench(kv), new Bench(kv)]
  right.now -= 5 * second
  const users = await left.write(transaction => createCollection(transaction, 'users'))
  let last = 0
  for (let round = 0; round < 6; round++) {
    const bench = round % 2 === 0 ? left : right
    const time = await bench.commit(transaction =>
      transaction.put(documentRef(users, 1), data({ n: BigInt(round) })),
    )
    assert.ok(time > last)
    last = time
  }
  await left.close()
})

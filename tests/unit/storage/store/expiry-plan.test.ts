// The plan of checks for expired data: a start reads only collections with work, and no mark is forgotten.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { tagRange } from '../../../../src/storage/keys/keyspace.ts'
import { Sweeper } from '../../../../src/storage/store/sweeper.ts'
import { recordWork, workOf } from '../../../../src/storage/store/sweeper-work.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { CountingStore } from './counting-store.ts'
import { Bench, createCollection, data, day, documentRef, object, second } from './support.ts'

const grace = 15 * 60 * second

/** The number of stored rows of documents and of their histories. */
function versions(bench: Bench, collection: Ref): number {
  const number = Number(collection.id)
  const isOwn = ({ key }: { key: Uint8Array }) => ((key[9] ?? 0) << 8) + (key[10] ?? 0) === number
  return [...bench.rows('document'), ...bench.rows('history')].filter(isOwn).length
}

async function benchWithCollections(count: number, kv = new CountingStore()) {
  const bench = new Bench(kv)
  const collections = await bench.write(transaction =>
    Array.from({ length: count }, (_, at) => createCollection(transaction, `c${at}`, { history_days: 30n })),
  )
  await bench.write(transaction => {
    for (let id = 1; id <= count; id++)
      transaction.put(new Ref(rootDatabase, native.databases, BigInt(id)), object({ name: `d${id}` }))
    for (const collection of collections) transaction.put(documentRef(collection, 1), data({ n: 1n }))
  })
  return Object.assign(bench, { collections, kv })
}

test('a start reads no collections whose data has not expired, and finds the data that expires later', async () => {
  await using bench = await benchWithCollections(500)
  await new Sweeper(bench.store).runAll()
  bench.kv.reads = 0
  const sweeper = new Sweeper(bench.store)
  await sweeper.runAll()
  assert.ok(bench.kv.reads <= 20, `${bench.kv.reads} rows read at the start`)
  const [first] = bench.collections
  assert(first !== undefined)
  await bench.put(documentRef(first, 1), data({ n: 2n }))
  bench.now += 30 * day + grace + second
  await sweeper.runAll()
  assert.equal(versions(bench, first), 1)
  bench.kv.reads = 0
  for (let idle = 0; idle < 10; idle++) {
    bench.now += second
    assert.equal(await sweeper.runOnce(), false)
  }
  assert.ok(bench.kv.reads <= 60, `${bench.kv.reads} rows read with nothing to do`)
})

test('changes after the last plan of a stopped process are planned by the next process', async () => {
  await using bench = await benchWithCollections(3)
  const [first, second_] = bench.collections
  assert(first && second_)
  await new Sweeper(bench.store).runAll()
  await bench.put(documentRef(first, 2), data({}, bench.now + second))
  await new Sweeper(bench.store).runAll()
  await bench.put(documentRef(second_, 1), data({ n: 2n }))
  bench.now += 31 * day
  await new Sweeper(bench.store).runAll()
  assert.equal(versions(bench, first), 1)
  assert.equal(versions(bench, second_), 1)
})

test('without a stored position, all collections are planned again', async () => {
  await using bench = await benchWithCollections(300)
  const [, , third] = bench.collections
  assert(third !== undefined)
  await bench.put(documentRef(third, 1), data({ n: 2n }))
  await new Sweeper(bench.store).runAll()
  // Version 0.2 removes all these rows.
  await bench.store.write(({ rows: { overlay } }) => {
    for (const { key } of [...overlay.range(tagRange('garbage'))]) overlay.set(key, undefined)
  })
  bench.now += 31 * day
  await new Sweeper(bench.store).runAll()
  assert.equal(versions(bench, third), 1)
})

test('collections with very much expired data take turns', async () => {
  await using bench = new Bench()
  const [large, small] = await bench.write(transaction =>
    ['large', 'small'].map(name => createCollection(transaction, name, { history_days: 0n })),
  )
  assert(large && small)
  for (let from = 0; from < 3000; from += 1000)
    await bench.write(transaction => {
      for (let id = from; id < from + 1000; id++) transaction.put(documentRef(large, id), data({}, bench.now))
    })
  bench.now += second
  await bench.put(documentRef(small, 1), data({}, bench.now))
  bench.now += day
  const sweeper = new Sweeper(bench.store)
  while (versions(bench, small) > 0) await sweeper.runOnce()
  assert.ok(versions(bench, large) > 2000, `${versions(bench, large)} documents are left`)
  await sweeper.runAll()
  assert.equal(versions(bench, large), 0)
})

test('a large backlog of a collection does not delay the checks that were added before its own check', async () => {
  await using bench = await benchWithCollections(2)
  const [large, small] = bench.collections
  assert(large && small)
  await bench.write(transaction => {
    for (let id = 1; id <= 4000; id++)
      transaction.put(documentRef(large, id), data({ n: 1n }, bench.now + second))
    transaction.put(documentRef(small, 1), data({ n: 2n }))
  })
  const sweeper = new Sweeper(bench.store)
  await sweeper.runAll()
  await bench.store.write(({ rows: { overlay } }) => {
    for (const { key, target } of [...workOf(overlay, 'history')])
      if (target.id === small.id) overlay.set(key, undefined)
  })
  bench.now += 30 * day + grace + 2 * second
  await sweeper.runOnce()
  await bench.store.write(({ rows: { overlay } }) => recordWork(overlay, 'history', micros(2), small))
  bench.now += 61 * second
  await sweeper.runOnce()
  assert.equal(versions(bench, small), 1)
  assert.ok(versions(bench, large) > 1000, 'the backlog remains')
})

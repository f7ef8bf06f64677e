// Index entries are cached between reads. A store with cached entries returns the same results and costs as a store
// without, whatever was written meanwhile.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import type { Store } from '../../../../src/storage/store/store.ts'
import type { EntryScan, Transaction } from '../../../../src/storage/store/store-contract.ts'
import type { Ref } from '../../../../src/values/value.ts'
import { RandomSource } from '../../../support/random-source.ts'
import { seedsToRun } from '../../../support/seeded.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  definitionOf,
  documentRef,
  field,
  second,
} from './support.ts'

const groups = ['a', 'b']
const long = 'x'.repeat(3000)

/** Returns up to `count` entries of a set, and the cost of the read. */
function read(store: Store, index: Ref, group: string, scan: EntryScan, count: number) {
  const { result, counters } = store.read(transaction => {
    const entries: unknown[] = []
    for (const { values, document } of transaction.match(definitionOf(transaction, index), [group], scan)) {
      entries.push([values, document])
      if (entries.length === count) break
    }
    return entries
  })
  return { entries: result, bytes: counters.readBytes }
}

function scanFrom(random: RandomSource, n: bigint): EntryScan {
  const bounds: readonly EntryScan[] = [
    {},
    { reverse: true },
    { from: { values: [3n], side: 'low' } },
    { to: { values: [n], side: 'high' }, reverse: true },
    { from: { values: [n], side: 'high' }, to: { values: [8n], side: 'low' } },
  ]
  return bounds[random.below(bounds.length)] as EntryScan
}

/** Makes a random write in a transaction. */
function change(transaction: Transaction, random: RandomSource, items: Ref, now: number): void {
  const ref = documentRef(items, 1 + random.below(12))
  const fields = (ttl?: number) => {
    const n = random.below(20) === 0 ? `${long}${random.below(3)}` : BigInt(random.below(10))
    return data({ group: groups[random.below(2)] as string, n }, ttl)
  }
  const live = transaction.get(ref)
  switch (random.below(8)) {
    case 0:
      if (live) transaction.delete(ref)
      return
    case 1:
      transaction.put(ref, fields(now + second * (1 + random.below(20))))
      return
    case 2:
      if (live) transaction.insertVersion(ref, micros(live.ts as number), fields())
      return
    case 3:
      if (live && live.action !== 'delete')
        transaction.removeVersion(ref, micros(live.ts as number), 'create')
      return
    case 4:
      transaction.insertVersion(ref, micros(now - second * (1 + random.below(10))), fields())
      return
    default:
      transaction.put(ref, fields())
  }
}

test('cached entries never change a result, whatever is written', async () => {
  for (const seed of seedsToRun([1, 2, 3, 4, 5, 6])) {
    const random = new RandomSource(seed)
    await using bench = new Bench()
    const other = bench.another(1)
    const { items, index } = await bench.write(transaction => {
      const items = createCollection(transaction, 'items')
      const values = [field('n')]
      return {
        items,
        index: createIndex(transaction, 'by', { source: items, terms: [field('group')], values }),
      }
    })
    for (let round = 0; round < 120; round++) {
      bench.now += second * random.below(3) + (round % 50 === 49 ? 1000 * second : 0)
      const writer = random.below(3) === 0 ? other : bench.store
      if (random.below(2) === 0)
        await writer.write(transaction => change(transaction, random, items, bench.now))
      for (let time = 0; time < 3; time++) {
        const group = groups[random.below(2)] as string
        const scan = scanFrom(random, BigInt(random.below(10)))
        const count = 1 + random.below(8)
        assert.deepEqual(
          read(bench.store, index, group, scan, count),
          read(bench.another(2), index, group, scan, count),
          `seed ${seed}, round ${round}`,
        )
      }
    }
  }
})

test('entries are removed with their collection, and with their index', async () => {
  await using bench = new Bench()
  const make = (name: string) =>
    bench.write(transaction => {
      const items = createCollection(transaction, name)
      const index = createIndex(transaction, `by ${name}`, { source: items, terms: [field('group')] })
      return { items, index }
    })
  const { items, index } = await make('items')
  await bench.put(documentRef(items, 1), data({ group: 'a' }))
  const entries = () => read(bench.store, index, 'a', {}, 10).entries.length
  for (let time = 0; time < 3; time++) assert.equal(entries(), 1)
  await bench.write(transaction => {
    transaction.put(documentRef(items, 2), data({ group: 'a' }))
    assert.equal([...transaction.match(definitionOf(transaction, index), ['a'], {})].length, 2)
  })
  for (let time = 0; time < 3; time++) assert.equal(entries(), 2)
  const past = bench.get(documentRef(items, 2))?.ts as number
  const before = bench.read(transaction => [
    ...transaction.match(definitionOf(transaction, index), ['a'], { at: micros(past - 1) }),
  ])
  assert.equal(before.length, 1)
  const definition = bench.read(transaction => definitionOf(transaction, index))
  await bench.another(1).write(transaction => transaction.delete(items))
  const left = bench.read(transaction => [...transaction.match(definition, ['a'], {})])
  assert.deepEqual(left, [])
})

test('long runs are continued from the store', async () => {
  await using bench = new Bench()
  const { items, index } = await bench.write(transaction => {
    const items = createCollection(transaction, 'items')
    return { items, index: createIndex(transaction, 'by', { source: items, terms: [field('group')] }) }
  })
  await bench.write(transaction => {
    for (let id = 1; id <= 1100; id++) transaction.put(documentRef(items, id), data({ group: 'a' }))
  })
  for (const count of [1, 1, 5, 600, 5, 2000, 2000, 600]) {
    for (const reverse of [false, true]) {
      const got = read(bench.store, index, 'a', { reverse }, count)
      assert.equal(got.entries.length, Math.min(count, 1100))
      assert.deepEqual(got, read(bench.another(1), index, 'a', { reverse }, count))
    }
  }
})

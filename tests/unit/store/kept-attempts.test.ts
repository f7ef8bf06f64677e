// Attempts that another process commits, at a time that this one has announced.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch } from '../../../src/base/micros.ts'
import type { Attempt } from '../../../src/storage/store/attempt.ts'
import type { Transaction } from '../../../src/storage/store/contract.ts'
import { Store } from '../../../src/storage/store/store.ts'
import type { Micros, Ref } from '../../../src/values/value.ts'
import { Bench, createCollection, data, documentRef } from './support.ts'

const write = (ref: Ref, n: bigint) => (transaction: Transaction) => transaction.put(ref, data({ n }))

/** A bench, and another process over the same data. */
async function setUp() {
  const bench = new Bench()
  const collection = await bench.write(transaction => createCollection(transaction, 'things'))
  const lane = new Store(bench.kv, {
    clock: () => epoch,
    timeline: {
      now: () => epoch,
      reach: () => ({ now: epoch, upTo: epoch }),
      announce: time => ({ time, end: () => {} }),
    },
    hooks: { evaluateBinding: () => undefined },
  })
  return { bench, lane, of: (id: number) => documentRef(collection, id) }
}

/** Has `lane` commit its attempt; `meanwhile` happens between the announcement and the commit. */
function commitThere<T>(
  { bench: { store }, lane }: { readonly bench: Bench; readonly lane: Store },
  attempt: Attempt<T>,
  meanwhile: (announced: Micros) => undefined | Promise<unknown> = () => undefined,
) {
  return store.commitElsewhere(attempt, async time => {
    await meanwhile(time)
    return lane.commit(attempt, { time, check: () => {} })
  })
}

test('what another process has committed is there at its time, and compared with what is committed later', async () => {
  const both = await setUp()
  const { bench, lane, of } = both
  const before = bench.store.attempt(transaction => {
    transaction.get(of(1))
    transaction.put(of(2), data({ n: 1n }))
  })
  const beside = bench.store.attempt(transaction => {
    transaction.get(of(3))
    transaction.put(of(4), data({ n: 1n }))
  })
  const done = await commitThere(both, lane.attempt(write(of(1), 5n)))
  assert.ok(done !== 'stale')
  bench.read(transaction => assert.equal(transaction.get(of(1))?.ts, done.time))
  assert.equal(await bench.store.commit(before), 'stale')
  assert.notEqual(await bench.store.commit(beside), 'stale')
  await bench.close()
})

test('it is refused when others have written what it read, and only then', async () => {
  const both = await setUp()
  const { bench, lane, of } = both
  const reading = (ref: Ref, seen: Ref) => (transaction: Transaction) => {
    transaction.get(seen)
    transaction.put(ref, data({ n: 1n }))
  }
  const stale = lane.attempt(reading(of(1), of(2)))
  const late = lane.attempt(reading(of(5), of(6)))
  const sound = lane.attempt(reading(of(3), of(4)))
  await bench.commit(write(of(2), 7n))
  assert.equal(await commitThere(both, stale), 'stale')
  assert.equal(await commitThere(both, late, () => bench.commit(write(of(6), 7n))), 'stale')
  assert.notEqual(await commitThere(both, sound), 'stale')
  await bench.close()
})

test('meanwhile reads do not claim its time, and commits of this process go on', async () => {
  const both = await setUp()
  const { bench, lane, of } = both
  const done = await commitThere(both, lane.attempt(write(of(1), 5n)), async announced => {
    bench.now += 1000
    const read = bench.store.read(transaction => transaction.get(of(1)))
    assert.equal(read.result, undefined)
    assert.ok(read.time < announced)
    const other = await bench.commit(write(of(2), 1n))
    assert.ok(other > announced)
  })
  assert.ok(done !== 'stale')
  bench.read(transaction => {
    const [first, second] = [transaction.get(of(1))?.ts, transaction.get(of(2))?.ts]
    assert.ok(Number(first) > Number(second), 'the commit that came in between was first')
  })
  await bench.close()
})

test('one that fails leaves nothing behind, and the others go on', async () => {
  const both = await setUp()
  const { bench, lane, of } = both
  const attempt = lane.attempt(write(of(1), 5n))
  const [failed, other] = await Promise.allSettled([
    commitThere(both, attempt, () => Promise.reject(new Error('the process has ended'))),
    bench.commit(write(of(2), 1n)),
  ])
  assert.equal(failed.status, 'rejected')
  assert.equal(other.status, 'fulfilled')
  const check = () => {
    throw new Error('the service has ended')
  }
  const orphaned = lane.commit(attempt, { time: attempt.commitTime, check })
  await assert.rejects(orphaned, /the service has ended/)
  bench.read(transaction => assert.equal(transaction.get(of(1)), undefined))
  await bench.close()
})

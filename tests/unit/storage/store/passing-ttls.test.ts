// A `ttl` passes between the evaluation of a transaction and its commit. The stored rows are correct for the commit time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { expiryMarkKey } from '../../../../src/storage/keys/keyspace.ts'
import { historyFloorField } from '../../../../src/storage/store/definitions.ts'
import { retentionLimits } from '../../../../src/storage/store/retention.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { Sweeper } from '../../../../src/storage/store/sweeper.ts'
import type { Micros, ObjectValue, Ref } from '../../../../src/values/value.ts'
import { Bench, data, documentRef, object, second } from './support.ts'

const grace = retentionLimits.historyGraceMicros

async function benchWith() {
  const bench = new Bench()
  const things = await bench.createCollection('things', { history_days: 0n })
  return Object.assign(bench, { things, of: (id: number) => documentRef(things, id) })
}

/** Evaluates `work`, lets `passed` microseconds pass and another transaction commit, then commits. Returns the time. */
async function commitLater(
  bench: Bench & { readonly of: (id: number) => Ref },
  passed: number,
  work: (transaction: Transaction) => unknown,
): Promise<Micros> {
  const attempt = bench.store.attempt(work)
  bench.now += passed
  await bench.put(bench.of(99), data({}))
  const outcome = await bench.store.commit(attempt)
  assert.ok(outcome !== 'stale')
  return outcome.time
}

const put =
  (ref: Ref, fields: ObjectValue) =>
  (transaction: Transaction): unknown =>
    transaction.put(ref, fields)

const marksOf = ({ kv }: Bench, ref: Ref, time: number) =>
  kv.read(view => view.get(expiryMarkKey(ref, micros(time))) !== undefined)

test('a document whose ttl passes before its commit is removed, and the check finds nothing', async () => {
  await using bench = await benchWith()
  const ttl = bench.now + 50
  const time = await commitLater(bench, 1000, put(bench.of(1), data({}, ttl)))
  assert.ok(time > ttl)
  assert.deepEqual(bench.store.check(), [])
  const sweeper = new Sweeper(bench.store)
  // The sweeper comes between the ttl and the commit.
  bench.now = ttl + 100 + grace
  await sweeper.runAll()
  assert.equal(bench.read(transaction => [...transaction.versions(bench.of(1))]).length, 1)
  assert.ok(marksOf(bench, bench.of(1), time))
  bench.now = time + second + grace
  await sweeper.runAll()
  assert.equal(bench.rows('document').length, 1 + 1, 'the other document and the collection')
})

test('a mark that version 0.2 made at the ttl is valid, and the document is marked again', async () => {
  await using bench = await benchWith()
  const ttl = bench.now + 50
  const time = await commitLater(bench, 1000, put(bench.of(1), data({}, ttl)))
  await bench.writeRows([{ key: expiryMarkKey(bench.of(1), micros(time)), value: undefined }])
  assert.ok(marksOf(bench, bench.of(1), ttl))
  assert.deepEqual(bench.store.check(), [])
  bench.now = ttl + 100 + grace
  await new Sweeper(bench.store).runAll()
  assert.ok(marksOf(bench, bench.of(1), time))
})

test('a document that expires before the commit is created again, also below a rewritten past', async () => {
  await using bench = await benchWith()
  const start = bench.now
  const ttl = start + 5 * second
  await bench.write(put(bench.of(1), data({ n: 1n })))
  const attempt = bench.store.attempt(transaction => {
    transaction.put(bench.of(2), data({ n: 2n }))
    transaction.insertVersion(bench.of(2), micros(start), data({ n: 1n }, ttl))
  })
  bench.now += 10 * second
  await bench.write(put(bench.of(1), data({ n: 2n })))
  assert.equal(await bench.store.commit(attempt), 'stale')
})

test('the history that a collection has lost ends at the commit of longer history_days', async () => {
  await using bench = await benchWith()
  const longer = object({ name: 'things', history_days: 30n })
  const attempt = bench.store.attempt(put(bench.things, longer))
  assert.ok(attempt.isStamped)
  bench.now += 100 * second
  await bench.write(put(bench.of(1), data({ n: 1n })))
  assert.equal(await bench.store.commit(attempt), 'stale')
  const time = await bench.commit(put(bench.things, longer))
  const floor = bench.read(transaction => transaction.get(bench.things)?.fields.get(historyFloorField))
  assert.equal(floor, BigInt(time))
  const same = bench.store.attempt(
    put(bench.things, object({ name: 'things', history_days: 30n, ttl_days: 1n })),
  )
  assert.ok(!same.isStamped, 'a definition that reaches no further is not held up')
})

// The bindings of one database do not delay the background work of others. Batches end at the next document, and the
// work of a database pauses in proportion to the time of its bindings. A build that fails repeatedly is retried less and
// less often.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../../src/base/clock.ts'
import { step, stepsPerCheck } from '../../../../src/base/effort.ts'
import { RequestError } from '../../../../src/base/request-errors.ts'
import { documentRange } from '../../../../src/storage/keys/keyspace.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { BuildQueue } from '../../../../src/storage/store/build-queue.ts'
import { indexBuilderLimits } from '../../../../src/storage/store/index-builder.ts'
import { storeLimits } from '../../../../src/storage/store/store.ts'
import { Sweeper } from '../../../../src/storage/store/sweeper.ts'
import { Lambda, type Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench, createCollection, createIndex, data, day, documentRef, object } from './support.ts'

const bound = (source: Ref) => ({
  source: object({ collection: source, fields: object({ b: new Lambda('4', 'd', null) }) }),
  terms: [object({ binding: 'b' })],
})

/** Counts the stored documents of a collection, visible or not. */
const stored = ({ kv }: Bench, { id }: Ref) =>
  kv.read(view => [...view.range(documentRange(rootDatabase, Number(id)))].length)

test('a database pauses in proportion to the time of its bindings, and times add up', async t => {
  let now = 0
  t.mock.method(systemClock, 'elapsedMs', () => now)
  await using bench = new Bench()
  const { store } = bench
  const spend = (database: bigint, micros: number) => {
    t.mock.method(store.bindingBudget, 'counted', (work: () => void, report: (micros: number) => void) => {
      work()
      report(micros)
    })
    store.pauseAfter(database, () => undefined)
  }
  const pauseMs = (database: bigint) => store.bindingPauses.waitMs(database)
  assert.equal(pauseMs(1n), 0)
  spend(1n, 100_000)
  spend(1n, 50_000)
  assert.equal(pauseMs(1n), 150 * storeLimits.bindingPauseFactor)
  assert.equal(pauseMs(2n), 0)
  now = 150 * storeLimits.bindingPauseFactor
  assert.equal(pauseMs(1n), 0)
  spend(1n, 1)
  assert.equal(pauseMs(1n), 0, 'bindings of a short time cause no pause')
})

/** Creates three expired documents of a collection with a binding. */
async function expired(): Promise<Bench & { collection: Ref }> {
  const bench = new Bench(openMemory(), { evaluateBinding: () => 1n })
  const collection = await bench.write(transaction => {
    const collection = createCollection(transaction, 'c', { history_days: 0n })
    createIndex(transaction, 'i', bound(collection))
    for (const id of [1, 2, 3])
      transaction.put(documentRef(collection, id), data({ n: 1n }, bench.now + 1_000_000))
    return collection
  })
  await new Background(bench.store).runAll()
  bench.now += day
  return Object.assign(bench, { collection })
}

test('slow expired documents are removed one per step, and none while their database pauses', async t => {
  await using bench = await expired()
  // The real duration of these bindings does not matter here.
  t.mock.method(bench.store.bindingPauses, 'waitMs', () => 0)
  const sweeper = new Sweeper(bench.store, undefined, 0)
  const counts = new Set<number>()
  // Some steps remove other things, such as old parts of the change log.
  for (let steps = 0; steps < 10; steps++) {
    await sweeper.runOnce()
    counts.add(stored(bench, bench.collection))
  }
  const left = [...counts].filter(count => count < 3)
  assert.deepEqual(left, [2, 1, 0])

  await using other = await expired()
  other.store.bindingPauses.take(rootDatabase, 3_600_000)
  await new Sweeper(other.store, undefined, 0).runAll()
  assert.equal(stored(other, other.collection), 3)
  await new Sweeper(other.store).runAll()
  assert.equal(stored(other, other.collection), 0)
})

test('slow documents of a deleted collection are removed one per step, and none while their database pauses', async t => {
  await using bench = new Bench(openMemory(), { evaluateBinding: () => 1n })
  const collection = await bench.write(transaction => {
    const collection = createCollection(transaction, 'c')
    createIndex(transaction, 'i', bound(collection))
    for (const id of [1, 2, 3]) transaction.put(documentRef(collection, id), data({ n: 1n }))
    return collection
  })
  await bench.delete(collection)
  const rest = t.mock.method(bench.store.bindingPauses, 'waitMs', () => 0)
  const sweeper = new Sweeper(bench.store, undefined, 0)
  const counts: number[] = []
  for (let steps = 0; steps < 2; steps++) {
    await sweeper.runOnce()
    counts.push(stored(bench, collection))
  }
  assert.deepEqual(counts, [2, 1])
  rest.mock.restore()
  bench.store.bindingPauses.take(rootDatabase, 3_600_000)
  await sweeper.runAll()
  assert.equal(stored(bench, collection), 1)
  await new Sweeper(bench.store).runAll()
  assert.equal(stored(bench, collection), 0)
})

test('a build that fails at each change of its document is retried less and less often', async () => {
  let attempts = 0
  const evaluateBinding = () => {
    attempts++
    step(stepsPerCheck)
    throw new RequestError('time out', 'too long')
  }
  await using bench = new Bench(openMemory(), { evaluateBinding })
  const { collection, index } = await bench.write(transaction => {
    const collection = createCollection(transaction, 'c')
    for (let id = 0; id <= indexBuilderLimits.synchronousIndexBuildMax; id++)
      transaction.put(documentRef(collection, id), data({ n: 1n }))
    return { collection, index: createIndex(transaction, 'i', bound(collection)) }
  })
  let nowMs = 0
  const queue = new BuildQueue(
    bench.store,
    () => undefined,
    undefined,
    () => nowMs,
  )
  /** The times of attempts in seconds, while something changes each second. */
  const attemptedAt: number[] = []
  for (; nowMs <= 70_000; nowMs += 1000) {
    bench.now += 1_000_000
    await bench.write(transaction => {
      const fields = transaction.get(index)?.fields
      transaction.put(index, new Map(fields).set('data', object({ n: BigInt(nowMs) })))
    })
    const before = attempts
    await queue.runOnce()
    if (attempts > before) attemptedAt.push(nowMs / 1000)
  }
  assert.deepEqual(attemptedAt, [0, 1, 2, 4, 8, 16, 32, 64])
  await bench.delete(index)
  await bench.delete(collection)
  await new Background(bench.store).runAll()
})

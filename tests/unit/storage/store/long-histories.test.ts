// Builds of indexes and writes into the past, with documents that have many versions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import type { Write } from '../../../../src/storage/kv/kv-contract.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { batchWritesMax } from '../../../../src/storage/store/batch.ts'
import { indexBuilderLimits } from '../../../../src/storage/store/index-builder.ts'
import type { Ref } from '../../../../src/values/value.ts'
import { CountingStore } from './counting-store.ts'
import { Bench, data, documentRef, field, second } from './support.ts'

/** Creates a collection with one document that has `count` versions, one each second. Returns the times of the versions. */
async function withVersions(
  kv: CountingStore,
  count: number,
  fieldsOf: (version: number) => Parameters<typeof data>[0],
): Promise<Bench & { readonly items: Ref; readonly ref: Ref; readonly times: number[] }> {
  const bench = new Bench(kv)
  const items = await bench.createCollection('items')
  const ref = documentRef(items, 1)
  const times: number[] = []
  for (let version = 0; version < count; version++) {
    bench.now += second
    times.push(await bench.put(ref, data(fieldsOf(version))))
  }
  return Object.assign(bench, { items, ref, times })
}

/** Runs one step of a build, and returns its largest transaction, as a number of written rows. */
async function buildStep(kv: CountingStore, background: Background): Promise<number> {
  let most = 0
  kv.onCommit = (writes: readonly Write[]) => {
    most = Math.max(most, writes.length)
  }
  await background.runOnce()
  kv.onCommit = () => undefined
  return most
}

test('a build divides the versions of one document into several transactions', async () => {
  const kv = new CountingStore()
  const count = 3000
  await using bench = await withVersions(kv, count, version => ({ n: BigInt(version), same: 'x' }))
  const index = await bench.createIndex('by_n', {
    source: bench.items,
    terms: [field('n')],
    values: [field('same')],
  })
  const same = await bench.createIndex('by_same', { source: bench.items, terms: [field('same')] })
  const background = new Background(bench.store)
  const largest: number[] = []
  while (!bench.isActive(index) || !bench.isActive(same)) largest.push(await buildStep(kv, background))
  assert.ok(largest.length >= 3, `${largest.length} steps`)
  assert.ok(Math.max(...largest) < count / 2, `${Math.max(...largest)} rows in one transaction`)
})

test('a build continues within a document whose past changes, whose history expires, or that is deleted', async () => {
  for (const change of ['insert', 'remove', 'expire', 'delete'] as const) {
    const kv = new CountingStore()
    await using bench = await withVersions(kv, 2500, version => ({
      tags: ['all', version % 2 === 0 ? 'even' : 'odd'],
    }))
    const index = await bench.createIndex('by_tag', { source: bench.items, terms: [field('tags')] })
    const background = new Background(bench.store)
    await background.runOnce()
    const early = bench.times[10] as number
    if (change === 'insert') await bench.insertVersion(bench.ref, early + 5, data({ tags: ['none'] }))
    if (change === 'remove')
      await bench.write(transaction => {
        assert.ok(transaction.removeVersion(bench.ref, micros(early), 'create'))
      })
    if (change === 'delete') await bench.delete(bench.ref)
    if (change === 'expire') {
      await bench.write(transaction => {
        const current = transaction.get(bench.items)
        transaction.put(bench.items, new Map(current?.fields).set('history_days', 0n))
      })
      bench.now += 3600 * second
    }
    let steps = 0
    while (!bench.isActive(index)) {
      await background.runOnce()
      steps++
    }
    assert.ok(steps > 0, 'the change is in the middle of the build')
    await background.runAll()
  }
})

test('a few versions with many bytes are indexed in the background', async () => {
  const kv = new CountingStore()
  const text = 'x'.repeat(indexBuilderLimits.synchronousIndexBuildBytesMax / 8)
  await using bench = await withVersions(kv, 9, version => ({ n: BigInt(version), text }))
  const index = await bench.createIndex('by_n', { source: bench.items, terms: [field('n')] })
  assert.equal(bench.isActive(index), false)
  await new Background(bench.store).runAll()
  assert.equal(bench.isActive(index), true)
})

test('the cost of a write into the past does not depend on the number of versions', async () => {
  const costs: number[] = []
  for (const count of [20, 1000]) {
    const kv = new CountingStore()
    await using bench = await withVersions(kv, 5, version => ({ n: BigInt(version) }))
    await bench.createIndex('by_n', { source: bench.items, terms: [field('n')], values: [field('same')] })
    for (let version = 5; version < count; version++) {
      bench.now += second
      const fields = data({ n: BigInt(version), same: 'x' })
      bench.times.push(await bench.put(bench.ref, fields))
    }
    const middle = bench.times[count / 2] as number
    const before = kv.reads
    await bench.insertVersion(bench.ref, middle + 5, data({ n: 7n, same: 'x' }))
    await bench.write(transaction =>
      assert.ok(transaction.removeVersion(bench.ref, micros(middle + 5), 'create')),
    )
    costs.push(kv.reads - before)
  }
  const [few, many] = costs
  assert.ok(Number(many) <= Number(few) + 5, `${few} and ${many} rows`)
  assert.ok(Number(few) < batchWritesMax)
})

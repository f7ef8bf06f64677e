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
import { Bench, createCollection, createIndex, data, documentRef, field, second } from './support.ts'

/** Creates a collection with one document that has `count` versions, one each second. Returns the times of the versions. */
async function withVersions(
  kv: CountingStore,
  count: number,
  fieldsOf: (version: number) => Parameters<typeof data>[0],
): Promise<{ readonly bench: Bench; readonly items: Ref; readonly ref: Ref; readonly times: number[] }> {
  const bench = new Bench(kv)
  const items = await bench.write(transaction => createCollection(transaction, 'items'))
  const ref = documentRef(items, 1)
  const times: number[] = []
  for (let version = 0; version < count; version++) {
    bench.now += second
    times.push(await bench.commit(transaction => transaction.put(ref, data(fieldsOf(version)))))
  }
  return { bench, items, ref, times }
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

const isActive = (bench: Bench, index: Ref) =>
  bench.read(transaction => transaction.catalogue.index(index)?.active)

test('a build divides the versions of one document into several transactions', async () => {
  const kv = new CountingStore()
  const count = 3000
  const { bench, items } = await withVersions(kv, count, version => ({ n: BigInt(version), same: 'x' }))
  const index = await bench.write(transaction =>
    createIndex(transaction, 'by_n', { source: items, terms: [field('n')], values: [field('same')] }),
  )
  const same = await bench.write(transaction =>
    createIndex(transaction, 'by_same', { source: items, terms: [field('same')] }),
  )
  const background = new Background(bench.store)
  const largest: number[] = []
  while (!isActive(bench, index) || !isActive(bench, same)) largest.push(await buildStep(kv, background))
  assert.ok(largest.length >= 3, `${largest.length} steps`)
  assert.ok(Math.max(...largest) < count / 2, `${Math.max(...largest)} rows in one transaction`)
  await bench.close()
})

test('a build continues within a document whose past changes, whose history expires, or that is deleted', async () => {
  for (const change of ['insert', 'remove', 'expire', 'delete'] as const) {
    const kv = new CountingStore()
    const { bench, items, ref, times } = await withVersions(kv, 2500, version => ({
      tags: ['all', version % 2 === 0 ? 'even' : 'odd'],
    }))
    const index = await bench.write(transaction =>
      createIndex(transaction, 'by_tag', { source: items, terms: [field('tags')] }),
    )
    const background = new Background(bench.store)
    await background.runOnce()
    const early = times[10] as number
    if (change === 'insert')
      await bench.write(transaction =>
        transaction.insertVersion(ref, micros(early + 5), data({ tags: ['none'] })),
      )
    if (change === 'remove')
      await bench.write(transaction => {
        assert.ok(transaction.removeVersion(ref, micros(early), 'create'))
      })
    if (change === 'delete') await bench.write(transaction => transaction.delete(ref))
    if (change === 'expire') {
      await bench.write(transaction => {
        const current = transaction.get(items)
        transaction.put(items, new Map(current?.fields).set('history_days', 0n))
      })
      bench.now += 3600 * second
    }
    let steps = 0
    while (!isActive(bench, index)) {
      await background.runOnce()
      steps++
    }
    assert.ok(steps > 0, 'the change is in the middle of the build')
    await background.runAll()
    await bench.close()
  }
})

test('a few versions with many bytes are indexed in the background', async () => {
  const kv = new CountingStore()
  const text = 'x'.repeat(indexBuilderLimits.synchronousIndexBuildBytesMax / 8)
  const { bench, items } = await withVersions(kv, 9, version => ({ n: BigInt(version), text }))
  const index = await bench.write(transaction =>
    createIndex(transaction, 'by_n', { source: items, terms: [field('n')] }),
  )
  assert.equal(isActive(bench, index), false)
  await new Background(bench.store).runAll()
  assert.equal(isActive(bench, index), true)
  await bench.close()
})

test('the cost of a write into the past does not depend on the number of versions', async () => {
  const costs: number[] = []
  for (const count of [20, 1000]) {
    const kv = new CountingStore()
    const { bench, items, ref, times } = await withVersions(kv, 5, version => ({ n: BigInt(version) }))
    await bench.write(transaction =>
      createIndex(transaction, 'by_n', { source: items, terms: [field('n')], values: [field('same')] }),
    )
    for (let version = 5; version < count; version++) {
      bench.now += second
      const fields = data({ n: BigInt(version), same: 'x' })
      times.push(await bench.commit(transaction => transaction.put(ref, fields)))
    }
    const middle = times[count / 2] as number
    const before = kv.reads
    await bench.write(transaction =>
      transaction.insertVersion(ref, micros(middle + 5), data({ n: 7n, same: 'x' })),
    )
    await bench.write(transaction => assert.ok(transaction.removeVersion(ref, micros(middle + 5), 'create')))
    costs.push(kv.reads - before)
    await bench.close()
  }
  const [few, many] = costs
  assert.ok(Number(many) <= Number(few) + 5, `${few} and ${many} rows`)
  assert.ok(Number(few) < batchWritesMax)
})

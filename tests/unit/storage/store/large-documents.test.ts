// Background work on a single document whose index rows have more bytes than a batch, or whose rewritten version is
// about as large as a transaction may be. Each step must write about as many bytes as a batch, so that the step fits into
// a transaction, and must not delay the work of other tenants.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { anyType } from '../../../../src/model/schema/field-types.ts'
import { readMigration } from '../../../../src/model/schema/migration-effects.ts'
import { appendSteps } from '../../../../src/model/schema/migration-steps.ts'
import { historyRange } from '../../../../src/storage/keys/keyspace.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { BuildFailure } from '../../../../src/storage/store/index-builder.ts'
import { retentionLimits } from '../../../../src/storage/store/retention.ts'
import type { Ref, Value } from '../../../../src/values/value.ts'
import { CountingStore } from './counting-store.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  day,
  documentRef,
  field,
  matchIds,
  second,
} from './support.ts'

/** A batch writes 4 MiB, and the progress of the work. */
const stepBytesMax = 4_500_000
const tag = (n: number) => `tag ${n}`.padEnd(12, '.')
const tags = (count: number): Value => Array.from({ length: count }, (_, n) => tag(n))
const byTags = { terms: [field('tags')], values: [field('content')] }

/** Number of tags of a version with large entries. Their rows have more than two batches. */
const few = 300
/** A row with this content has about 31 300 bytes: 1270 of the key, and 30 000 of the record. */
const largeContent = new Uint8Array(30_000).fill(7)
/** Number of tags of a version with small entries. The keys of their rows in three indexes have about 7.6 MB. */
const many = 2000
/** A row with this content has about 2600 bytes, half of them in the key. */
const smallContent = new Uint8Array(1300).fill(7)

interface Filled extends Bench {
  readonly kv: CountingStore
  readonly items: Ref
  readonly ref: Ref
  /** The times of the versions. */
  readonly times: readonly number[]
  readonly content: Uint8Array
}

/** Runs background work until `isDone`. Returns the sizes of its transactions in bytes. */
async function work(bench: Filled, isDone: () => boolean): Promise<number[]> {
  const sizes: number[] = []
  bench.kv.onCommit = writes =>
    sizes.push(writes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0))
  const background = new Background(bench.store, error => {
    throw error
  })
  while (!isDone()) await background.runOnce()
  await background.runAll()
  bench.kv.onCommit = () => undefined
  return sizes
}

/**
 * A collection with a document whose versions have these numbers of tags. The entries are small if a version has more
 * than {@link few} tags.
 */
async function filled(
  counts: readonly number[],
  fields: Record<string, Value> = {},
  ttl?: number,
): Promise<Filled> {
  const kv = new CountingStore()
  const bench = new Bench(kv, { readMigration })
  const items = await bench.createCollection('items', fields)
  const ref = documentRef(items, 1)
  const content = Math.max(...counts) > few ? smallContent : largeContent
  const times: number[] = []
  for (const count of counts) {
    bench.now += second
    const end = ttl === undefined ? undefined : bench.now + ttl
    times.push(await bench.put(ref, data({ tags: tags(count), content }, end)))
  }
  return Object.assign(bench, { kv, items, ref, times, content })
}

/** Adds documents, so that an index over the collection is built in the background. */
const addMany = (bench: Bench, items: Ref) =>
  bench.write(transaction => {
    for (let id = 100; id < 400; id++) transaction.put(documentRef(items, id), data({ n: BigInt(id) }))
  })

/** Creates and builds three indexes over `source`. */
async function withIndexes(bench: Filled, source: Value = bench.items): Promise<void> {
  const indexes: Ref[] = []
  for (const name of ['one', 'two', 'three'])
    indexes.push(await bench.createIndex(name, { source, ...byTags }))
  await work(bench, () => indexes.every(index => bench.isActive(index)))
}

test('an index is built in parts if the ended rows of a past version, or the live rows, exceed a batch', async () => {
  await using bench = await filled([few, 1, few])
  await addMany(bench, bench.items)
  const index = await bench.createIndex('by_tags', { source: bench.items, ...byTags })
  assert.equal(bench.isActive(index), false)
  const sizes = await work(bench, () => bench.isActive(index))
  assert.ok(Math.max(...sizes) < stepBytesMax, `${Math.max(...sizes)} bytes in one transaction`)
  const last = [tag(few - 1)]
  bench.read(transaction => {
    assert.deepEqual(matchIds(transaction, index, last), [1n])
    assert.deepEqual(matchIds(transaction, index, last, bench.times[0]), [1n])
    assert.deepEqual(matchIds(transaction, index, last, bench.times[1]), [])
    assert.deepEqual(matchIds(transaction, index, [tag(0)], bench.times[1]), [1n])
  })
})

test('a build continues within the rows of a version that a write into the past replaces', async () => {
  for (const change of ['insert', 'remove', 'delete'] as const) {
    const count = few / 2
    await using bench = await filled([1, count, 2, 3])
    await addMany(bench, bench.items)
    const index = await bench.createIndex('by_tags', { source: bench.items, ...byTags })
    const background = new Background(bench.store)
    while (bench.rows('indexEnded').length < 2) await background.runOnce()
    assert.ok(bench.rows('indexEnded').length < count - 2, 'the change is within the rows of the version')
    const [, , superseding = 0] = bench.times
    await bench.write(transaction => {
      if (change === 'delete') transaction.delete(bench.ref)
      if (change === 'remove') assert.ok(transaction.removeVersion(bench.ref, micros(superseding), 'create'))
      if (change === 'insert')
        transaction.insertVersion(
          bench.ref,
          micros(superseding - 5),
          data({ tags: tags(10), content: bench.content }),
        )
    })
    await work(bench, () => bench.isActive(index))
  }
})

test('a build continues after a row of a past version that is larger than a batch', async () => {
  await using bench = await filled([1])
  await bench.put(bench.ref, data({ tags: tags(1), content: 'short' }))
  await addMany(bench, bench.items)
  // A new version with such an entry would be rejected.
  const values = Array.from({ length: 150 }, () => field('content'))
  const index = await bench.createIndex('wide', { source: bench.items, terms: [field('tags')], values })
  const background = new Background(bench.store)
  for (let step = 0; step < 100 && !bench.isActive(index); step++) await background.runOnce()
  assert.ok(bench.isActive(index))
  bench.read(transaction => {
    assert.deepEqual(matchIds(transaction, index, [tag(0)], bench.times[0]), [1n])
    assert.deepEqual(matchIds(transaction, index, [tag(0)]), [1n])
  })
})

test('an index over a few documents is built in the background if its rows are large', async () => {
  await using bench = await filled([few, 1])
  const index = await bench.write(transaction => {
    transaction.put(documentRef(bench.items, 2), data({ tags: tags(2), content: bench.content }))
    const created = createIndex(transaction, 'by_tags', { source: bench.items, ...byTags })
    transaction.put(documentRef(bench.items, 2), data({ tags: tags(3), content: bench.content }))
    return created
  })
  assert.equal(bench.isActive(index), false)
  await work(bench, () => bench.isActive(index))
  bench.read(transaction => {
    assert.deepEqual(matchIds(transaction, index, [tag(few - 1)], bench.times[0]), [1n])
    assert.deepEqual(matchIds(transaction, index, [tag(2)]), [2n])
  })
})

test('expired versions are removed in parts if the rows of one version exceed a batch', async () => {
  await using bench = await filled([many, 1], { history_days: 1n })
  const { content, ref, times } = bench
  await withIndexes(bench)
  const ended = bench.rows('indexEnded').length
  assert.equal(ended, 3 * (many - 1))
  bench.now += day + retentionLimits.historyGraceMicros + second
  const background = new Background(bench.store)
  while (bench.rows('indexEnded').length === ended) await background.runOnce()
  assert.ok(bench.rows('indexEnded').length > 0, 'a step removes a part of the rows')
  assert.deepEqual(bench.store.check(), [])
  // A write into the expired history meets the version without some of its entries.
  await bench.insertVersion(ref, (times[0] ?? 0) + 5, data({ tags: tags(many), content }))
  assert.deepEqual(bench.store.check(), [])
  // The rest is found without the memory of the first sweeper.
  const sizes = await work(bench, () => bench.rows('indexEnded').length === 0)
  assert.ok(Math.max(...sizes) < stepBytesMax, `${Math.max(...sizes)} bytes in one transaction`)
  assert.equal(bench.kv.read(view => [...view.range(historyRange(ref))]).length, 0)
})

/** Runs the first step of the removal of a document that has expired. The step removes a part of the entries. */
async function expireFirstRows(bench: Filled): Promise<void> {
  await withIndexes(bench)
  bench.now += day + retentionLimits.historyGraceMicros + second
  const live = bench.rows('indexLive').length
  assert.ok(live >= 3 * many, `${live} rows`)
  const background = new Background(bench.store)
  while (bench.rows('indexLive').length === live) await background.runOnce()
  assert.ok(bench.rows('indexLive').length > many, 'a step removes a part of the rows')
  assert.deepEqual(bench.store.check(), [])
}

test('an expired document is removed in parts if its entries exceed a batch', async () => {
  await using bench = await filled([many], { history_days: 0n }, day)
  const { ref } = bench
  await expireFirstRows(bench)
  const sizes = await work(bench, () => bench.rows('indexLive').length < few)
  assert.ok(Math.max(...sizes) < stepBytesMax, `${Math.max(...sizes)} bytes in one transaction`)
  assert.equal(bench.get(ref), undefined)
})

test('an expired document can be created again while its entries are being removed', async () => {
  await using bench = await filled([many], { history_days: 0n }, day)
  const { content, ref } = bench
  await expireFirstRows(bench)
  await bench.put(ref, data({ tags: tags(1), content }))
  assert.deepEqual(bench.store.check(), [])
  bench.now += day
  await work(bench, () => bench.rows('indexEnded').length === 0)
  assert.ok(bench.get(ref))
})

test('the documents of a deleted collection are removed in parts if the entries of one exceed a batch', async () => {
  await using bench = await filled([many, 1, many])
  const { items } = bench
  const other = await bench.createCollection('other')
  // The indexes also cover another collection. Otherwise, they would be deleted together with the collection, and their
  // tables would be removed without reading the document.
  await withIndexes(bench, [items, other])
  assert.ok(bench.rows('indexLive').length >= 3 * many)
  assert.ok(bench.rows('indexEnded').length >= 3 * (many - 1))
  await bench.delete(items)
  const sizes = await work(bench, () => bench.rows('indexLive').length < few)
  assert.ok(Math.max(...sizes) < stepBytesMax, `${Math.max(...sizes)} bytes in one transaction`)
  assert.equal(bench.rows('indexEnded').length, 0)
})

test('a document that a transaction can create can be updated and deleted by a transaction', async () => {
  await using bench = new Bench()
  const items = await bench.write(transaction => {
    const items = createCollection(transaction, 'items')
    createIndex(transaction, 'by_tags', { source: items, ...byTags })
    return items
  })
  const [one, two] = [documentRef(items, 1), documentRef(items, 2)]
  // The live rows have about 16.3 MB, and their keys have 0.65 MB. A transaction may write 16.8 MB.
  const large = data({ tags: tags(520), content: largeContent })
  for (const ref of [one, two]) await bench.put(ref, large)
  await bench.put(one, data({ tags: tags(1), content: largeContent }))
  await bench.delete(two)
})

const long = (megabytes: number) => 'x'.repeat(megabytes * 1_000_000)

/** Adds a field with a default value to the documents of a collection. */
const addField = (bench: Bench, items: Ref, name: string, value: string) =>
  bench.write(transaction => {
    const fields = transaction.get(items)?.fields
    const changed = new Map<string, Value>(fields)
    appendSteps(changed, fields, [{ kind: 'add', path: [name], type: anyType, value }])
    transaction.put(items, changed)
  })

test('a large rewritten version waits for the next batch, and an impossible one delays nothing else', async () => {
  await using bench = await filled([])
  for (let id = 0; id < 3; id++)
    await bench.put(documentRef(bench.items, id), data({ text: long(1.3), one: '', two: '' }))
  await bench.put(documentRef(bench.items, 9), data({ text: long(8) }))
  const errors: unknown[] = []
  const background = new Background(bench.store, error => errors.push(error))
  await addField(bench, bench.items, 'one', long(5))
  await background.runAll()
  assert.equal(errors.length, 0)
  await addField(bench, bench.items, 'two', long(5))
  const late = await bench.createCollection('late', { history_days: 0n })
  await bench.put(documentRef(late, 1), data({}, bench.now + second))
  bench.now += day
  await background.runAll()
  assert.equal(errors.length, 1)
  assert.ok(errors[0] instanceof BuildFailure)
  assert.equal(bench.read(transaction => [...transaction.versions(documentRef(late, 1))]).length, 0)
})

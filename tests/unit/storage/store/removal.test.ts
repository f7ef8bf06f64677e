// Expired versions are found in order of expiry. The cost depends only on the number of removed versions. Each version is
// removed when it expires, however it was written and however the rules of its collection have changed since.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { historyRange, tagRange } from '../../../../src/storage/keys/keyspace.ts'
import { retentionLimits } from '../../../../src/storage/store/retention.ts'
import { Sweeper } from '../../../../src/storage/store/sweeper.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { CountingStore } from './counting-store.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  day,
  documentRef,
  field,
  object,
  second,
  timeOf,
} from './support.ts'

const grace = retentionLimits.historyGraceMicros
const derived = ['history', 'expiry', 'indexLive', 'indexEnded', 'indexEvent'] as const

const versionsOf = ({ kv }: Bench, ref: Ref) => kv.read(view => [...view.range(historyRange(ref))].length)

/** Counts the rows of user collections by kind. */
const countAll = (bench: Bench) => derived.map(kind => bench.rows(kind).length)

async function collectionOf(bench: Bench, fields = {}): Promise<Ref> {
  return bench.write(transaction => {
    const users = createCollection(transaction, 'users', { history_days: 0n, ...fields })
    createIndex(transaction, 'by_n', { source: users, terms: [field('n')] })
    return users
  })
}

test('removal reads at most four rows per removed row, among many that stay', async () => {
  const kv = new CountingStore()
  await using bench = new Bench(kv)
  const users = await collectionOf(bench)
  for (let from = 0; from < 5000; from += 1000) {
    await bench.write(transaction => {
      for (let id = from; id < from + 1000; id++)
        transaction.put(documentRef(users, id), data({ n: BigInt(id) }))
    })
  }
  const sweeper = new Sweeper(bench.store)
  bench.now += grace + second
  await sweeper.runAll()
  const before = countAll(bench)
  await bench.write(transaction => {
    for (let id = 0; id < 300; id++) transaction.put(documentRef(users, id * 15), data({ n: -1n }))
    for (let id = 0; id < 300; id++)
      transaction.put(documentRef(users, 50_000 + id), data({ n: -2n }, bench.now + second))
  })
  await sweeper.runAll()
  assert.equal(bench.rows('history').length, 300, 'not yet')
  bench.now += grace + 2 * second
  ;[kv.reads, kv.removed] = [0, 0]
  await sweeper.runAll()
  const { reads, removed } = kv
  assert.deepEqual(countAll(bench), before)
  assert.ok(removed >= 300 * 3 + 300 * 4, `${removed} rows removed`)
  assert.ok(reads <= 4 * removed, `${reads} rows read for ${removed}`)
  ;[kv.reads, kv.removed] = [0, 0]
  for (let idle = 0; idle < 10; idle++) {
    bench.now += second
    assert.equal(await sweeper.runOnce(), false)
  }
  assert.ok(kv.reads <= 100, `${kv.reads} rows read with nothing to do`)
})

for (const [what, fields] of [
  ['with an index', {}],
  ['whose documents have expired', { history_days: 0n }],
] as const)
  test(`the removal of a collection ${what} does not skip removed rows again for each batch`, async () => {
    const kv = new CountingStore()
    await using bench = new Bench(kv)
    const users = await collectionOf(bench, fields)
    await bench.write(transaction => {
      for (let id = 0; id < 4000; id++)
        transaction.put(documentRef(users, id), data({ n: BigInt(id) }, bench.now + second))
    })
    const sweeper = new Sweeper(bench.store)
    await sweeper.runAll()
    if ('history_days' in fields) bench.now += grace + day
    else await bench.delete(users)
    ;[kv.removed, kv.skipped] = [0, 0]
    await sweeper.runAll()
    assert.equal(kv.removed > 12_000, true, `${kv.removed} rows removed`)
    assert.equal(kv.skipped < 2 * kv.removed, true, `${kv.skipped} rows skipped for ${kv.removed}`)
    assert.deepEqual([bench.rows('expiry').length, bench.rows('indexEnded').length], [0, 0])
  })

test('a version is removed when it expires, not before, also after a restart', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench, { history_days: 1n })
  const ref = documentRef(users, 1)
  await bench.put(ref, data({ n: 1n }))
  const running = new Sweeper(bench.store)
  await running.runAll()
  bench.now += 60 * second
  const superseded = await bench.put(ref, data({ n: 2n }))
  bench.now = superseded + day + grace - second
  await running.runAll()
  await new Sweeper(bench.store).runAll()
  assert.equal(versionsOf(bench, ref), 1)
  bench.now += 2 * second
  await running.runOnce()
  assert.equal(versionsOf(bench, ref), 0)
})

test('a long history of a document is removed in batches', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench)
  const ref = documentRef(users, 1)
  for (let n = 0n; n < 600n; n++) await bench.put(ref, data({ n }))
  bench.now += grace + second
  await new Sweeper(bench.store).runAll()
  assert.deepEqual(countAll(bench).slice(0, 2), [0, 0])
  assert.equal(bench.rows('indexEnded').length, 0)
})

for (const [what, ttlMicros] of [
  ['expired versions', undefined],
  ['versions of an expired document', second],
] as const)
  test(`${what} with more index rows than a transaction may write are removed`, async () => {
    await using bench = new Bench()
    const users = await bench.write(transaction => {
      const users = createCollection(transaction, 'users', { history_days: 0n })
      createIndex(transaction, 'by_tag', { source: users, values: [field('tags')] })
      return users
    })
    const [, , live, , events] = countAll(bench)
    const ref = documentRef(users, 1)
    const tagsOf = (version: number) =>
      Array.from({ length: 100 }, (_, tag) => `${version} ${tag}`.padEnd(1000, '.'))
    for (let version = 0; version < 200; version++)
      await bench.put(ref, data({ tags: tagsOf(version) }, ttlMicros && bench.now + ttlMicros))
    const keyBytes = bench.kv.read(view =>
      [...view.range(tagRange('indexEnded'))].reduce((sum, { key }) => sum + key.length, 0),
    )
    assert.ok(keyBytes > 16_777_216, `${keyBytes} bytes`)
    bench.now += grace + day
    await new Sweeper(bench.store).runAll()
    assert.equal(versionsOf(bench, ref), 0)
    assert.deepEqual(countAll(bench).slice(2), [Number(live) + (ttlMicros ? 0 : 100), 0, events])
  })

test('a shorter, longer or unlimited history applies from its change on', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench, { history_days: 100n })
  const keep = (days: bigint | undefined) =>
    bench.put(users, object({ name: 'users', ...(days !== undefined && { history_days: days }) }))
  const ref = documentRef(users, 1)
  const put = () => bench.put(ref, data({ n: BigInt(bench.now) }))
  const sweeper = new Sweeper(bench.store)
  await put()
  bench.now += day
  await put()
  bench.now += day
  await put()
  bench.now += 10 * second
  await sweeper.runAll()
  assert.equal(versionsOf(bench, ref), 2)
  await keep(1n)
  bench.now += grace
  await sweeper.runAll()
  assert.equal(versionsOf(bench, ref), 1)
  await keep(undefined)
  bench.now += 50 * day
  await sweeper.runAll()
  assert.equal(versionsOf(bench, ref), 1)
  await keep(3n)
  await sweeper.runAll()
  assert.equal(versionsOf(bench, ref), 0)
})

test('a document whose ttl changes is removed after the last ttl, with its entries', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench)
  const ref = documentRef(users, 1)
  const sweeper = new Sweeper(bench.store)
  const put = (ttl?: number) => bench.put(ref, data({ n: 1n }, ttl))
  await put(bench.now + 3600 * second)
  await sweeper.runAll()
  await put(bench.now + 7200 * second)
  bench.now += 3600 * second + grace + second
  await sweeper.runAll()
  assert.notEqual(bench.get(ref), undefined)
  await put()
  bench.now += day
  await sweeper.runAll()
  assert.equal(bench.rows('expiry').length, 0)
  await put(bench.now + second)
  bench.now += grace + 2 * second
  await sweeper.runAll()
  assert.deepEqual(countAll(bench).slice(0, 2), [0, 0])
  assert.equal(bench.rows('indexEnded').length, 0)
})

test('a version before the history that is inserted or removed is cleaned up at once', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench, { history_days: 1n })
  const ref = documentRef(users, 1)
  await bench.put(ref, data({ n: 5n }))
  bench.now += 10 * day
  const sweeper = new Sweeper(bench.store)
  await sweeper.runAll()
  const swept = countAll(bench)
  await bench.write(transaction => {
    transaction.insertVersion(ref, micros(bench.now - 12 * day), data({ n: 1n }))
    transaction.insertVersion(ref, micros(bench.now - 11 * day), data({ n: 2n }))
  })
  assert.equal(versionsOf(bench, ref), 2)
  await sweeper.runAll()
  assert.deepEqual(countAll(bench), swept)
  const other = documentRef(users, 2)
  const recent = bench.now - day / 2
  await bench.write(transaction =>
    transaction.insertVersion(other, micros(bench.now - 11 * day), data({ n: 3n })),
  )
  await bench.write(transaction => transaction.insertVersion(other, micros(recent), undefined))
  await sweeper.runAll()
  assert.equal(versionsOf(bench, other), 2)
  await bench.write(transaction => transaction.removeVersion(other, micros(recent), 'delete'))
  await sweeper.runAll()
  assert.equal(versionsOf(bench, other), 0)
  await bench.delete(other)
  bench.now += 2 * day
  await sweeper.runAll()
  assert.deepEqual(countAll(bench), swept)
})

test('deleted and recreated documents leave nothing behind', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench)
  const sweeper = new Sweeper(bench.store)
  await sweeper.runAll()
  const empty = countAll(bench)
  const ref = documentRef(users, 1)
  for (let round = 0; round < 3; round++) {
    await bench.put(ref, data({ n: 1n }))
    await bench.put(ref, data({ n: 2n }))
    await bench.delete(ref)
  }
  await bench.write(transaction => {
    transaction.put(documentRef(users, 2), data({}))
    transaction.delete(documentRef(users, 2))
  })
  bench.now += grace + second
  await sweeper.runAll()
  assert.deepEqual(countAll(bench), empty)
})

test('updated tokens of databases that were created while the sweeper ran leave no history', async () => {
  await using bench = new Bench()
  const sweeper = new Sweeper(bench.store)
  await sweeper.runAll()
  const child = await bench.write(transaction => {
    const ref = new Ref(rootDatabase, native.databases, transaction.newId())
    transaction.put(ref, object({ name: 'child' }))
    return ref.id
  })
  await sweeper.runAll()
  const token = new Ref(child, native.tokens, 5n)
  const instance = new Ref(child, 1024, 1n)
  await bench.put(token, object({ instance }))
  await bench.put(token, object({ instance, ttl: timeOf(bench.now + 60 * second) }))
  assert.equal(versionsOf(bench, token), 1)
  bench.now += grace + second
  await sweeper.runAll()
  assert.equal(versionsOf(bench, token), 0)
  bench.now += 60 * second
  await sweeper.runAll()
  assert.equal(
    bench.read(
      transaction =>
        [...transaction.directory.tokensOf(instance)].length + [...transaction.versions(token)].length,
    ),
    0,
  )
})

test('a deleted collection is removed with its marks', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench)
  const ref = documentRef(users, 1)
  await bench.put(ref, data({ n: 1n }, bench.now + day))
  await bench.put(ref, data({ n: 2n }, bench.now + 2 * day))
  const sweeper = new Sweeper(bench.store)
  await sweeper.runAll()
  await bench.delete(users)
  await sweeper.runAll()
  assert.equal(bench.rows('expiry').length, 0)
  bench.now += 10 * day
  await sweeper.runAll()
})

test('expired entries of an index that was created later are removed, too', async () => {
  await using bench = new Bench()
  const users = await collectionOf(bench)
  await bench.put(documentRef(users, 1), data({ n: 1n }))
  await bench.put(documentRef(users, 1), data({ n: 2n }))
  bench.now += grace + second
  const before = bench.rows('indexEnded').length
  await bench.createIndex('later', { source: users, terms: [field('n')] })
  assert.equal(bench.rows('indexEnded').length, before + 1)
  await new Sweeper(bench.store).runAll()
  assert.equal(bench.rows('indexEnded').length, 0)
})

test('a step checks a limited number of collections and databases', async () => {
  const kv = new CountingStore()
  await using bench = new Bench(kv)
  const count = 3000
  await bench.write(transaction => {
    for (let at = 0; at < count; at++) createCollection(transaction, `c${at}`)
  })
  const created = await bench.write(transaction =>
    Array.from({ length: count }, (_, at) => {
      const id = transaction.newId()
      transaction.put(new Ref(rootDatabase, native.databases, id), object({ name: `d${at}` }))
      return id
    }),
  )
  const late = created.at(-1) as bigint
  const sweeper = new Sweeper(bench.store)
  let most = 0
  for (let isBusy = true; isBusy; ) {
    const before = kv.reads
    isBusy = await sweeper.runOnce()
    most = Math.max(most, kv.reads - before)
  }
  assert.ok(most < count, `${most} rows in one step`)
  // Data of the last database expires, too.
  const items = await bench.write(transaction => {
    const ref = new Ref(late, native.collections, transaction.nextSchemaId(late, native.collections))
    transaction.put(ref, object({ name: 'items', history_days: 0n }))
    return ref
  })
  const ref = documentRef(items, 1)
  for (const n of [1n, 2n]) {
    await bench.put(ref, data({ n }))
    bench.now += second
  }
  bench.now += grace + day
  const restarted = new Sweeper(bench.store)
  await restarted.runAll()
  assert.equal(versionsOf(bench, ref), 0)
})

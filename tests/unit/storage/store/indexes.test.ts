// Indexes as transactions read them: order, bounds, uniqueness, events, builds. Random transactions are compared with a
// model in random.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '../../../../src/base/assert.ts'
import { rootDatabase, TransactionTime, type Value } from '../../../../src/values/value.ts'
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

async function indexed(spec: { terms?: Value[]; values?: Value[]; unique?: boolean }) {
  const bench = new Bench()
  const { items, index } = await bench.write(transaction => {
    const items = createCollection(transaction, 'items')
    return { items, index: createIndex(transaction, 'by', { source: items, ...spec }) }
  })
  const add = (id: number, fields: Record<string, Value>, ttl?: number) =>
    bench.put(documentRef(items, id), data(fields, ttl))
  const ids = (terms: Value[], at?: number) => bench.matchIds(index, terms, at)
  const values = (terms: Value[], scan: object = {}) =>
    bench.read(transaction =>
      Array.from(transaction.match(definitionOf(transaction, index), terms, scan), entry => entry.values),
    )
  return Object.assign(bench, { items, index, add, ids, values })
}

test('values order entries, each in its own direction, then documents', async () => {
  await using bench = await indexed({
    values: [field('n'), field('s', { reverse: true })],
  })
  await bench.add(1, { n: 2n, s: 'a' })
  await bench.add(2, { n: 1n, s: 'a' })
  await bench.add(3, { n: 1n, s: 'b' })
  await bench.add(4, { n: 1n })
  await bench.add(5, { n: 1.0, s: 'b' })
  await bench.add(6, {})
  assert.deepEqual(bench.ids([]), [4n, 3n, 5n, 2n, 1n])
  assert.deepEqual(bench.values([]), [
    [1n, null],
    [1n, 'b'],
    [1, 'b'],
    [1n, 'a'],
    [2n, 'a'],
  ])
  assert.deepEqual(bench.values([], { from: { values: [2n], side: 'low' } }), [[2n, 'a']])
  assert.deepEqual(bench.values([], { to: { values: [1n, 'b'], side: 'low' } }), [[1n, null]])
  assert.deepEqual(bench.values([], { to: { values: [1n, 'b'], side: 'high' }, reverse: true }), [
    [1, 'b'],
    [1n, 'b'],
    [1n, null],
  ])
  const document = { id: 3n, collection: 1024 }
  assert.deepEqual(bench.values([], { from: { values: [1n, 'b'], document, side: 'low' } }).length, 4)
  assert.deepEqual(bench.values([], { from: { values: [1n, 'b'], document, side: 'high' } }).length, 3)
})

test('values too long for a key are still ordered and bounded', async () => {
  await using bench = await indexed({ values: [field('s')] })
  const text = (end: string) => `${'x'.repeat(5000)}${end}`
  const ends = ['d', 'b', 'e', 'a', 'c']
  for (const [index, end] of ends.entries()) await bench.add(index, { s: text(end) })
  await bench.add(10, { s: 'x' })
  await bench.add(11, { s: 'y' })
  const found = (scan: object) => bench.values([], scan).map(([value]) => (value as string).slice(-1))
  assert.deepEqual(found({}), ['x', 'a', 'b', 'c', 'd', 'e', 'y'])
  assert.deepEqual(found({ reverse: true }), ['y', 'e', 'd', 'c', 'b', 'a', 'x'])
  assert.deepEqual(found({ from: { values: [text('c')], side: 'low' } }), ['c', 'd', 'e', 'y'])
  assert.deepEqual(found({ from: { values: [text('c')], side: 'high' } }), ['d', 'e', 'y'])
  assert.deepEqual(found({ to: { values: [text('c')], side: 'low' } }), ['x', 'a', 'b'])
})

test('a value beyond the limit is not indexed', async () => {
  await using bench = await indexed({ values: [field('s')] })
  await bench.add(1, { s: 'x'.repeat(32_767) })
  await bench.add(2, { s: 'x'.repeat(32_768) })
  assert.equal(bench.values([]).length, 1)
})

test('a unique index rejects a second document with the same terms and values', async () => {
  await using bench = await indexed({ terms: [field('mail')], unique: true })
  const { items, index, add, ids } = bench
  await add(1, { mail: 'a' })
  await assert.rejects(add(2, { mail: 'a' }), /not unique/)
  await add(1, { mail: 'a', again: true })
  await add(2, {})
  await add(3, {})
  await bench.write(transaction => {
    transaction.delete(documentRef(items, 1))
    transaction.put(documentRef(items, 4), data({ mail: 'a' }))
  })
  assert.deepEqual(ids(['a']), [4n])
  await assert.rejects(
    bench.write(transaction => {
      transaction.put(documentRef(items, 5), data({ mail: 'b' }))
      transaction.put(documentRef(items, 6), data({ mail: 'b' }))
    }),
    /not unique/,
  )
  await add(7, { mail: 'ttl' }, bench.now + second)
  await assert.rejects(add(8, { mail: 'ttl' }), /not unique/)
  bench.now += 2 * second
  await add(8, { mail: 'ttl' })
  assert.deepEqual(ids(['ttl']), [8n])
  assert.equal(index.id, 32768n)
})

test('ts as a value is the commit time, a placeholder until then', async () => {
  await using bench = new Bench()
  const { items, index } = await bench.write(transaction => {
    const items = createCollection(transaction, 'items')
    const values = [object({ field: 'ts' })]
    return { items, index: createIndex(transaction, 'by_ts', { source: items, values }) }
  })
  const ts = await bench.commit(transaction => {
    transaction.put(documentRef(items, 1), data({}))
    const [entry] = transaction.match(definitionOf(transaction, index), [], {})
    assert.deepEqual(entry?.values, [TransactionTime.micros])
  })
  const [entry] = bench.read(transaction => [...transaction.match(definitionOf(transaction, index), [], {})])
  assert.deepEqual(entry?.values, [BigInt(ts)])
})

test('an index over existing documents is built with their history', async () => {
  await using bench = new Bench()
  const items = await bench.createCollection('items')
  const ref = documentRef(items, 1)
  const first = await bench.put(ref, data({ n: 1n }))
  const later = await bench.put(ref, data({ n: 2n }))
  const index = await bench.write(transaction => {
    transaction.put(documentRef(items, 2), data({ n: 1n }))
    const made = createIndex(transaction, 'by_n', { source: items, terms: [field('n')] })
    assert.deepEqual(matchIds(transaction, made, [1n]), [2n])
    transaction.put(documentRef(items, 2), data({ n: 5n }))
    assert.deepEqual(matchIds(transaction, made, [1n]), [])
    return made
  })
  bench.read(transaction => {
    assert.deepEqual(matchIds(transaction, index, [1n], first), [1n])
    assert.deepEqual(matchIds(transaction, index, [1n], later), [])
    assert.deepEqual(matchIds(transaction, index, [2n]), [1n])
    assert.deepEqual(matchIds(transaction, index, [5n]), [2n])
  })
})

test('the events of a collection are the add and remove events of its documents', async () => {
  await using bench = await indexed({ terms: [field('tag')] })
  const t1 = await bench.add(1, {})
  await bench.add(1, { changed: true })
  const t3 = await bench.delete(documentRef(bench.items, 1))
  const events = (scan: object) =>
    bench.read(transaction =>
      Array.from(transaction.documentEvents(rootDatabase, 1024, scan), event => [event.ts, event.action]),
    )
  assert.deepEqual(events({}), [
    [t1, 'add'],
    [t3, 'remove'],
  ])
  assert.deepEqual(events({ reverse: true, to: { ts: t3, side: 'low' } }), [[t1, 'add']])
  assert.deepEqual(events({ from: { ts: t1, side: 'high' } }), [[t3, 'remove']])
})

test('a missing entry fails the write that would end it', async () => {
  const bench = await indexed({ terms: [field('tag')] })
  await bench.add(1, { tag: 'a' })
  await bench.add(2, { tag: 'a' })
  const { key } = bench.rows('indexLive').at(-1) as { key: Uint8Array }
  await bench.writeRows([{ key, value: undefined }])
  await bench.add(1, { tag: 'b' })
  await assert.rejects(bench.add(2, { tag: 'b' }), InvariantError)
  // A write that leaves the entry unchanged succeeds.
  await bench.add(2, { tag: 'a', other: true })
  await bench.store.close()
})

test('changes of very many entries can be computed in pieces, and equal entries have no changes', async () => {
  await using bench = await indexed({ terms: [field('tags')] })
  const tags = (from: number) => Array.from({ length: 5_000 }, (_, n) => BigInt(from + n))
  const versions = []
  const contents: Record<string, Value>[] = [{ tags: tags(0) }, { tags: tags(0), n: 1n }, { tags: tags(1) }]
  for (const fields of contents) {
    await bench.add(1, fields)
    versions.push(bench.get(documentRef(bench.items, 1)))
  }
  const [first, other, shifted] = versions
  const changes = (before: typeof first, after: typeof first) =>
    bench.read(transaction => transaction.entryChanges(definitionOf(transaction, bench.index), before, after))
  assert.deepEqual([...changes(first, other)], [])
  const all = [...changes(other, shifted)]
  // The transaction that created the iterable has ended.
  assert.deepEqual(
    all.flatMap(change => (change ? [[change.action, change.terms]] : [])),
    [
      ['remove', [0n]],
      ['add', [5_000n]],
    ],
  )
  assert.ok(all.filter(change => change === undefined).length >= 20)
})

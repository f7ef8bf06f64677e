// Exports of long histories and of collections with many deleted documents: pages and transactions have a limited size.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { readPage } from '../../src/transfer/export-pages.ts'
import { pageRequestText, pageText, readPageRequest, readPageText } from '../../src/transfer/messages.ts'
import { firstPlace, type PagePlace } from '../../src/transfer/read-page.ts'
import type { DocumentRecord } from '../../src/transfer/record.ts'
import { type Ref, rootDatabase } from '../../src/values/value.ts'
import { CountingStore } from '../unit/storage/store/counting-store.ts'
import { Bench, data, documentRef, second } from '../unit/storage/store/support.ts'

interface Export {
  readonly records: readonly DocumentRecord[]
  readonly largestPage: number
  /** The largest number of rows that one transaction has read. */
  readonly largestRead: number
}

/** Exports the collection `items` with its history, through the texts of requests and responses. */
async function exported(bench: Bench, kv: CountingStore): Promise<Export> {
  const { time: at } = bench.store.read(() => undefined)
  const records: DocumentRecord[] = []
  let largestPage = 0
  kv.largestRead = 0
  for (let place: PagePlace | undefined = firstPlace; place !== undefined; ) {
    const request = readPageRequest(pageRequestText({ collection: 'items', at, place, history: true }))
    const page = readPageText(pageText(await readPage(bench.store, rootDatabase, request)))
    records.push(...page.records)
    largestPage = Math.max(largestPage, page.records.length)
    place = page.next
  }
  return { records, largestPage, largestRead: kv.largestRead }
}

/** Writes `count` versions of a document, one each second. Returns their times. */
async function write(bench: Bench, ref: Ref, count: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    bench.now += second
    times.push(await bench.put(ref, data({ n: BigInt(n) })))
  }
  return times
}

test('the versions of a live and of a deleted document are divided into pages', async () => {
  const kv = new CountingStore()
  await using bench = new Bench(kv)
  const items = await bench.createCollection('items')
  const [first, second, third] = [1, 2, 3].map(id => documentRef(items, id)) as [Ref, Ref, Ref]
  const expected = new Map<bigint, readonly number[]>()
  for (const ref of [first, second, third]) expected.set(ref.id, await write(bench, ref, 2500))
  bench.now += 1
  const end = await bench.delete(second)
  expected.set(second.id, [...(expected.get(second.id) as number[]), end])
  bench.now += 1
  const { largestPage, largestRead, records } = await exported(bench, kv)
  for (const [id, times] of expected) {
    const own = records.filter(record => record.id === id).map(({ ts }) => Number(ts))
    const sorted = own.toSorted((left, right) => left - right)
    assert.deepEqual(sorted, times)
  }
  assert.equal(records.length, 7501)
  assert.ok(largestPage <= 1000, `${largestPage} records in a page`)
  assert.ok(largestRead <= 5000, `${largestRead} rows in a transaction`)
})

test('deleted documents are read in transactions of limited size', async () => {
  const kv = new CountingStore()
  await using bench = new Bench(kv)
  const items = await bench.createCollection('items')
  const perCommit = 1000
  const documents = 4000
  const range = (from: number) => Array.from({ length: perCommit }, (_, n) => documentRef(items, from + n))
  for (let from = 1; from <= documents; from += perCommit) {
    bench.now += second
    await bench.write(transaction => {
      for (const ref of range(from)) transaction.put(ref, data({ n: 1n }))
    })
  }
  const alive = documentRef(items, documents)
  for (let from = 1; from <= documents; from += perCommit) {
    bench.now += second
    await bench.write(transaction => {
      for (const ref of range(from)) if (ref.id !== alive.id) transaction.delete(ref)
    })
  }
  bench.now += second
  const { largestPage, largestRead, records } = await exported(bench, kv)
  assert.equal(records.filter(({ isHistory }) => !isHistory).length, 1)
  assert.equal(records.filter(({ isDelete }) => isDelete).length, documents - 1)
  assert.equal(records.length, 2 * documents - 1)
  assert.ok(largestPage <= 1000, `${largestPage} records in a page`)
  assert.ok(largestRead <= 4500, `${largestRead} rows in a transaction`)
})

test('creations without deletions are read in transactions of limited size', async () => {
  const kv = new CountingStore()
  await using bench = new Bench(kv)
  const items = await bench.createCollection('items')
  for (let from = 0; from < 12_000; from += 500) {
    bench.now += second
    await bench.write(transaction => {
      for (let n = 0; n < 500; n++) transaction.put(documentRef(items, from + n), data({ n: 1n }))
    })
  }
  bench.now += second
  const { largestRead, records } = await exported(bench, kv)
  assert.equal(new Set(records.map(({ id }) => id)).size, 12_000)
  assert.ok(largestRead <= 10_000, `${largestRead} rows in a transaction`)
})

test('a position within a history that cannot be read is an error of the client', () => {
  for (const place of [
    ['versions'],
    ['versions', 5],
    ['versions', 5, ['live', null]],
    ['versions', 1.5, ['live', '1']],
    ['versions', 5, ['versions', 5, ['live', '1']]],
  ]) {
    const body = JSON.stringify({ at: 10, collection: 'items', history: true, place })
    assert.throws(() => readPageRequest(body), { name: 'BadRecord' }, JSON.stringify(place))
  }
  const body = JSON.stringify({ at: 10, collection: 'items', place: ['versions', 5, ['ended', 4, '7']] })
  assert.deepEqual(readPageRequest(body).place, {
    part: 'versions',
    after: micros(5),
    of: { part: 'ended', after: micros(4), id: 7n },
  })
})

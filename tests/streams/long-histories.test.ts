// Events, feeds and past writes of a document with many versions: the number of read rows does not depend on the length
// of the history.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { neighboursOf } from '../../src/engine/streams/events.ts'
import { sourceChanges } from '../../src/model/source-changes.ts'
import type { Change, Transaction } from '../../src/storage/store/store-contract.ts'
import type { Ref } from '../../src/values/value.ts'
import { openTestEngine, type TestEngine } from '../support/engine.ts'
import { CountingStore } from '../unit/storage/store/counting-store.ts'
import { Bench, data, documentRef, second } from '../unit/storage/store/support.ts'

/** Creates a document with `count` versions, one each second. Returns the times of the versions. */
async function withVersions(kv: CountingStore, count: number) {
  const bench = new Bench(kv)
  const items = await bench.createCollection('items')
  const ref = documentRef(items, 1)
  const times: number[] = []
  for (let version = 0; version < count; version++) {
    bench.now += second
    times.push(await bench.put(ref, data({ n: BigInt(version) })))
  }
  bench.now += second
  return { bench, ref, times }
}

/** Runs `work` on documents with few and with many versions. Returns the numbers of read rows. */
async function costs(
  work: (transaction: Transaction, ref: Ref, times: readonly number[]) => void,
): Promise<readonly [few: number, many: number]> {
  const rows: number[] = []
  for (const count of [20, 1000]) {
    const kv = new CountingStore()
    const { bench, ref, times } = await withVersions(kv, count)
    const before = kv.reads
    bench.read(transaction => work(transaction, ref, times))
    rows.push(kv.reads - before)
    await bench.close()
  }
  return rows as [number, number]
}

/** The neighbours of a change, found by reading the whole history. */
function expectedNeighbours({ ref, validTime }: Change, txn: number, transaction: Transaction) {
  const versions = [...transaction.versions(ref)].filter(({ ts }) => Number(ts) <= txn)
  return {
    version: versions.find(({ ts }) => ts === validTime),
    previous: versions.findLast(({ ts }) => Number(ts) < validTime),
    next: versions.find(({ ts }) => Number(ts) > validTime),
  }
}

for (const place of ['the first version', 'a version in the middle', 'a lagging write'] as const) {
  test(`the neighbours of a change: ${place}`, async () => {
    const [few, many] = await costs((transaction, ref, times) => {
      const at = place === 'the first version' ? 1 : times.length / 2
      const kind = place === 'a lagging write' ? 'write' : 'history insert'
      const validTime = micros(Number(times[at]))
      const txn = kind === 'write' ? validTime : micros(Number(times.at(-1)) + 1)
      const change: Change = { ref, validTime, kind, action: 'update' }
      const found = neighboursOf(change, txn, transaction)
      assert.equal(found.version?.ts, times[at])
      assert.equal(found.previous?.ts, times[at - 1])
      assert.equal(found.next?.ts, kind === 'write' ? undefined : times[at + 1])
    })
    assert.ok(many <= few + 2, `${few} and ${many} rows`)
  })
}

test('the neighbours are those of the whole history', async () => {
  const kv = new CountingStore()
  const { bench, ref, times } = await withVersions(kv, 12)
  bench.read(transaction => {
    for (const time of times) {
      for (const validTime of [time - 1, time, time + 1]) {
        for (const txn of times) {
          if (txn < validTime) continue
          const change: Change = {
            ref,
            validTime: micros(validTime),
            kind: 'history insert',
            action: 'update',
          }
          assert.deepEqual(
            neighboursOf(change, micros(txn), transaction),
            expectedNeighbours(change, txn, transaction),
          )
        }
      }
    }
  })
  await bench.close()
})

test('the first changes of a document after a time', async () => {
  const [few, many] = await costs((transaction, ref, times) => {
    const from = micros(Number(times[5]))
    const found: number[] = []
    for (const { time } of sourceChanges({ kind: 'document', document: ref }, from, transaction)) {
      found.push(time)
      if (found.length === 3) break
    }
    assert.deepEqual(found, times.slice(5, 8))
  })
  assert.ok(many <= few + 2, `${few} and ${many} rows`)
})

const object = (fields: object) => ({ object: fields })

/** Creates a document with `count` versions through queries. Returns its reference and the times of the versions. */
async function documentIn(engine: TestEngine, count: number) {
  await engine.query({ create_collection: object({ name: 'c', history_days: null }) })
  const ref = { ref: { collection: 'c' }, id: '1' }
  await engine.query({ create: ref, params: object({ data: object({ n: 0 }) }) })
  for (let n = 1; n < count; n++) await engine.query({ update: ref, params: object({ data: object({ n }) }) })
  const page = await engine.query({ paginate: { events: ref }, size: count })
  const times = (page as { data: readonly { ts: number }[] }).data.map(({ ts }) => ts)
  assert.equal(times.length, count)
  return { ref, times }
}

type Times = readonly number[]
const eventPages: Readonly<Record<string, (ref: object, times: Times) => object>> = {
  'a page after a time': (ref, times) => ({
    paginate: { events: ref },
    size: 3,
    after: times.at(-10),
  }),
  'a page before a time': (ref, times) => ({ paginate: { events: ref }, size: 3, before: times[10] }),
  'a page as of a past time': (ref, times) => ({
    at: times[10],
    expr: { paginate: { events: ref }, size: 64 },
  }),
  'the removal of a version': (ref, times) => ({ remove: ref, ts: times[10], action: 'update' }),
}

for (const [name, query] of Object.entries(eventPages)) {
  test(`the history of a document: ${name}`, async () => {
    const rows: number[] = []
    for (const count of [20, 400]) {
      const kv = new CountingStore()
      await using engine = openTestEngine({ kv })
      const { ref, times } = await documentIn(engine, count)
      const before = kv.reads
      await engine.query(query(ref, times))
      rows.push(kv.reads - before)
    }
    const [few, many] = rows as [number, number]
    assert.ok(many <= few + 5, `${few} and ${many} rows`)
  })
}

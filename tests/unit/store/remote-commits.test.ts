// Attempts that workers send to the process that owns the commit log, over sockets within this process.

import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { localTimeline } from '../../../src/base/timeline.ts'
import type { KeyValueStore } from '../../../src/storage/kv/contract.ts'
import { openMemory } from '../../../src/storage/kv/memory.ts'
import { RecentWrites } from '../../../src/storage/kv/recent-writes.ts'
import { storeOver } from '../../../src/storage/kv/store-over.ts'
import { CommitService } from '../../../src/storage/store/commit-service.ts'
import type { Transaction } from '../../../src/storage/store/contract.ts'
import { LocalCommits } from '../../../src/storage/store/local-commits.ts'
import { CommitChannel } from '../../../src/storage/store/remote-commits.ts'
import { SnapshotTimes } from '../../../src/storage/store/snapshot-times.ts'
import { Store } from '../../../src/storage/store/store.ts'
import type { Ref } from '../../../src/values/value.ts'
import { createCollection, data, documentRef } from './support.ts'

const start = 1_700_000_000_000_000
const refused = () => Promise.reject(new Error('a worker commits nothing itself'))

/** A committer and workers, which share a timeline as processes do. */
async function setUp({ workers = 2, kv = openMemory() as KeyValueStore } = {}) {
  let now = start
  const timeline = localTimeline(() => micros(now++))
  const times = new SnapshotTimes(kv, timeline, () => undefined)
  const commits = new LocalCommits({ kv, times, recent: new RecentWrites(), clock: timeline.now })
  const service = new CommitService(kv, commits)
  const made = Array.from({ length: workers }, (_, worker) => {
    const [near, far] = duplexPair()
    const served = service.serve(far)
    const channel = new CommitChannel(near)
    const own = storeOver(kv, { transact: refused, watch: listener => channel.watch(listener) })
    const store = new Store(own, {
      clock: timeline.now,
      timeline,
      worker,
      commits: given => channel.commits(given),
      hooks: { evaluateBinding: () => undefined },
    })
    // Unlike that of a process, the end of a pair does not close the other.
    const cut = () => [near, far].map(each => each.destroy())
    return { channel, cut, served, store }
  })
  const [first] = made as [(typeof made)[number]]
  const { result: collection } = await first.store.write(transaction =>
    createCollection(transaction, 'things'),
  )
  const of = (id: number) => documentRef(collection, id)
  const numberOf = (transaction: Transaction, ref: Ref) =>
    ((transaction.get(ref)?.fields.get('data') as Map<string, bigint> | undefined)?.get('n') ?? 0n) as bigint
  const increment = (ref: Ref) => (transaction: Transaction) => {
    const n = numberOf(transaction, ref) + 1n
    transaction.put(ref, data({ n }))
    return n
  }
  return { kv, made, of, numberOf, increment, first }
}

test('increments of one document by several workers all count, each in the order of its commit', async () => {
  const { increment, made, numberOf, of } = await setUp()
  const ref = of(1)
  const outcomes = await Promise.all(
    made.flatMap(({ store }) => Array.from({ length: 40 }, () => store.write(increment(ref)))),
  )
  const inOrder = outcomes.sort((left, right) => left.time - right.time).map(({ result }) => result)
  assert.deepEqual(
    inOrder,
    Array.from({ length: 80 }, (_, at) => BigInt(at + 1)),
  )
  for (const { store } of made) {
    assert.equal(store.read(transaction => numberOf(transaction, ref)).result, 80n)
    assert.deepEqual(store.check(), [])
  }
})

test('what the second evaluation of a stale transaction throws reaches its caller', async () => {
  const { increment, made, numberOf, of } = await setUp()
  const [{ store: left }, { store: right }] = made as [(typeof made)[0], (typeof made)[0]]
  const ref = of(1)
  const once = (transaction: Transaction) => {
    if (numberOf(transaction, ref) > 0n) throw new Error('it is there')
    return increment(ref)(transaction)
  }
  const outcomes = await Promise.allSettled([left.write(once), right.write(once)])
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const rejected = outcomes.find(each => each.status === 'rejected')
  assert.match(String(rejected?.reason), /it is there/)
})

test('all workers hear of a commit', async () => {
  const { first, increment, made, of } = await setUp()
  const heard = made.map(({ channel }) => new Promise<void>(resolve => channel.watch(resolve)))
  await first.store.write(increment(of(1)))
  await Promise.all(heard)
})

test('a worker whose connection is lost does not know the outcome, and commits nothing more', async () => {
  const { increment, made, of } = await setUp()
  const [{ cut, served, store }] = made as [(typeof made)[0]]
  const pending = store.write(increment(of(1)))
  cut()
  await assert.rejects(pending, { name: 'StoreUnavailableError', outcome: 'unknown' })
  await assert.rejects(store.write(increment(of(1))), {
    name: 'StoreUnavailableError',
    outcome: 'not committed',
  })
  await served
})

test('a worker is over only when none of its attempts can be committed any more', async () => {
  const gate = Promise.withResolvers<void>()
  const memory = openMemory()
  let isHeld = false
  const kv = storeOver(memory, {
    transact: async (work, prepare) => {
      if (isHeld) await gate.promise
      return memory.transact(work, prepare)
    },
  })
  const { increment, made, numberOf, of } = await setUp({ kv, workers: 2 })
  const [{ cut, served, store }, { store: other }] = made as [(typeof made)[0], (typeof made)[0]]
  isHeld = true
  const pending = store.write(increment(of(1))).catch(() => undefined)
  await new Promise(resolve => setImmediate(() => setImmediate(() => setImmediate(resolve))))
  let isOver = false
  const over = served.then(() => {
    isOver = true
  })
  cut()
  await pending
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  assert.ok(!isOver)
  isHeld = false
  gate.resolve()
  await over
  assert.equal(other.read(transaction => numberOf(transaction, of(1))).result, 1n)
})

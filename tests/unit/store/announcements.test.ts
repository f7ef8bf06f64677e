// Snapshot times while commits of other processes are on their way.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMemory } from '../../../src/kv/memory.ts'
import { openStore } from '../../../src/store/store.ts'
import { collectionRef, object, second } from './support.ts'

/** A store whose timeline the test plays the other processes on. */
function storeWithOthers() {
  const others = { clock: 1_700_000_000 * second, oldest: 0, announced: 0 }
  const timeline = {
    now: () => others.clock,
    announced: () => others.announced,
    oldestAnnounced: () => others.oldest,
    announce(oldest: number, newest: number) {
      others.oldest = oldest
      others.announced = newest
      return others.clock
    },
  }
  const hooks = { evaluateBinding: () => undefined }
  const store = openStore(openMemory(), { clock: timeline.now, timeline, hooks })
  return { others, store }
}

const snapshotTime = (store: ReturnType<typeof storeWithOthers>['store'], notBefore?: number) =>
  store.read(transaction => transaction.snapshotTime, notBefore).result

test('a snapshot is before the commits that it cannot see yet', async () => {
  const { others, store } = storeWithOthers()
  const before = snapshotTime(store)
  assert.equal(before, others.clock)
  others.clock += second
  others.oldest = others.clock - 500
  others.announced = others.clock - 400
  assert.equal(snapshotTime(store), others.oldest - 1)
  const seen = others.announced + 100
  assert.equal(snapshotTime(store, seen), seen, 'but not before what its caller has seen')
  others.oldest = before - second
  assert.equal(snapshotTime(store), seen, 'nor before an earlier snapshot')
  others.announced = 0
  assert.equal(snapshotTime(store), others.clock)
  await store.close()
})

test('an announcement is settled by the commit that it was about', async () => {
  const { others, store } = storeWithOthers()
  const put = () => store.write(transaction => transaction.put(collectionRef(1024), object({ name: 'a' })))
  const { time } = await put()
  assert.ok(others.announced > 0 && others.announced <= time)
  others.clock += second
  assert.equal(snapshotTime(store), others.clock, 'its commit is visible')
  await store.close()
})

test('a work that writes nothing takes its announcement back', async () => {
  const { others, store } = storeWithOthers()
  await store.write(transaction => assert.equal(transaction.get(collectionRef(1024)), undefined))
  assert.equal(others.announced, 0)
  const failing = store.write(() => {
    throw new Error('aborted')
  })
  await assert.rejects(failing, /aborted/)
  assert.equal(others.announced, 0)
  await store.close()
})

test('an announcement whose process has crashed does not hold time up for long', async () => {
  const { others, store } = storeWithOthers()
  others.oldest = others.clock
  others.announced = others.clock
  others.clock += 2 * second
  assert.equal(snapshotTime(store), others.oldest - 1)
  // Being next in line, the store's own empty work proves that nothing is on its way.
  await store.write(() => undefined)
  assert.equal(snapshotTime(store), others.clock)
  await store.close()
})

// Snapshot times during running commits, also of other processes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { endOfTime, type Micros, micros } from '../../../../src/base/micros.ts'
import { AnnouncedCommits } from '../../../../src/base/timeline.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { Store } from '../../../../src/storage/store/store.ts'
import { SnapshotTooEarly } from '../../../../src/storage/store/store-contract.ts'
import { timeFromMicros } from '../../../../src/values/time.ts'
import { collectionRef, documentRef, object, second } from './support.ts'

const none = endOfTime

/** A store; the test acts as the other processes on its timeline. */
function storeWithOthers() {
  const others = { clock: 1_700_000_000 * second, oldest: none as number }
  const own = new AnnouncedCommits()
  const now = () => micros(others.clock)
  const timeline = {
    now,
    announce: (atLeast: Micros) => own.begin(atLeast, now),
    reach: () => {
      const oldest = Math.min(own.oldest, micros(others.oldest))
      return { now: now(), upTo: Math.min(now(), micros(oldest - 1)) }
    },
  }
  const hooks = { evaluateBinding: () => undefined }
  const store = new Store(openMemory(), { clock: now, timeline, hooks })
  return { others, own, store }
}

type OneStore = ReturnType<typeof storeWithOthers>['store']

const snapshotTime = (store: OneStore, seen?: number) =>
  store.read(transaction => transaction.snapshotTime, seen === undefined ? seen : micros(seen)).result

const isTooEarly = (store: OneStore, seen: number) => {
  let hasBegun = false
  assert.throws(
    () =>
      store.read(() => {
        hasBegun = true
      }, micros(seen)),
    (error: unknown) => error instanceof SnapshotTooEarly,
  )
  return !hasBegun
}

test('a snapshot is before the commits that it cannot see yet', async () => {
  const { others, store } = storeWithOthers()
  const before = snapshotTime(store)
  assert.equal(before, others.clock)
  others.clock += second
  others.oldest = others.clock - 500
  assert.equal(snapshotTime(store), others.oldest - 1)
  const earlier = others.oldest - 1
  others.oldest = before - second
  assert.equal(snapshotTime(store), earlier, 'nor before an earlier snapshot')
  others.oldest = none
  assert.equal(snapshotTime(store), others.clock)
  await store.close()
})

test('a read is later than what its client has seen, or too early', async () => {
  const { others, store } = storeWithOthers()
  const first = snapshotTime(store, 0)
  assert.ok(isTooEarly(store, first), 'the clock has not moved')
  others.clock += 10
  assert.equal(snapshotTime(store, first), others.clock)
  const seen = others.clock
  others.clock += second
  others.oldest = seen + 1
  assert.ok(isTooEarly(store, seen), 'a commit on its way may get the next microsecond')
  assert.ok(isTooEarly(store, seen + 500_000))
  assert.equal(snapshotTime(store), seen, 'reads of the store itself do not wait')
  others.oldest = none
  assert.equal(snapshotTime(store, seen), others.clock)
  const ahead = others.clock + second
  assert.equal(snapshotTime(store, ahead), ahead, 'what is ahead of the clock')
  await store.close()
})

test('a transaction without writes returns a later time than its client has seen', async () => {
  const { others, store } = storeWithOthers()
  await store.write(transaction => transaction.put(collectionRef(1024), object({ name: 'a' })))
  others.clock += second
  const seen = snapshotTime(store, 0)
  others.oldest = seen + 1
  others.clock += 500
  const { time } = await store.write(transaction => transaction.get(collectionRef(1024)), {
    lastSeen: micros(seen),
  })
  assert.ok(time > seen)
  others.oldest = none
  assert.ok(snapshotTime(store, time) > time)
  await store.close()
})

test('snapshot times stay before an announced commit until it is visible', async () => {
  const { others, own, store } = storeWithOthers()
  const put = store.write(transaction => transaction.put(collectionRef(1024), object({ name: 'a' })))
  const announced = own.oldest
  assert.ok(announced > others.clock)
  others.clock += 500_000
  assert.equal(snapshotTime(store), announced - 1)
  assert.equal((await put).time, announced)
  assert.equal(own.oldest, none)
  assert.equal(snapshotTime(store), others.clock, 'its commit is visible')
  await store.close()
})

test('a transaction that fails or writes nothing leaves no announcement', async () => {
  const { own, store } = storeWithOthers()
  await store.write(transaction => assert.equal(transaction.get(collectionRef(1024)), undefined))
  assert.equal(own.oldest, none)
  const failing = store.write(() => {
    throw new Error('aborted')
  })
  await assert.rejects(failing, /aborted/)
  assert.equal(own.oldest, none)
  store.attempt(transaction => transaction.put(collectionRef(1024), object({ name: 'a' })))
  assert.equal(own.oldest, none, 'nor does an attempt that nobody commits')
  await store.close()
})

test('an announcement of a crashed process delays snapshot times only briefly', async () => {
  const { others, store } = storeWithOthers()
  others.oldest = others.clock
  // Shorter than the wait after which a store commits by itself to pass an announced time.
  others.clock += 0.9 * second
  assert.equal(snapshotTime(store), others.oldest - 1)
  // The store itself commits later, so the announced commit must be after that commit.
  for (let turns = 0; turns < 5; turns++) await turn()
  assert.ok(snapshotTime(store) > others.clock - second)
  await store.close()
})

test('a document that a transaction without writes sees as expired has a ttl before the time of the response', async () => {
  const { others, store } = storeWithOthers()
  const expiry = micros(others.clock + second / 2)
  const collection = collectionRef(1024)
  const ref = documentRef(collection, 7)
  await store.write(transaction => {
    transaction.put(collection, object({ name: 'a' }))
    transaction.put(ref, object({ ttl: timeFromMicros(expiry) }))
  })
  const announced = others.clock + 1000
  // Shorter than the wait after which a store commits by itself to pass an announced time.
  others.clock += 0.9 * second
  others.oldest = announced
  const { result, time } = await store.write(transaction => transaction.get(ref))
  assert.equal(result, undefined)
  assert.ok(time >= expiry, 'not expired at the time of the response')
  await store.close()
})

// Attempts that the process which made them commits itself, when the service gives it leave.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { StoreAttempt } from '../../../src/store/attempt.ts'
import type { CommitLeave, DistantCommit, Transaction } from '../../../src/store/contract.ts'
import { openStore, type TransactionStore } from '../../../src/store/store.ts'
import type { Ref } from '../../../src/values/value.ts'
import { Bench, createCollection, data, documentRef } from './support.ts'

const write = (ref: Ref, n: bigint) => (transaction: Transaction) => transaction.put(ref, data({ n }))

/** A bench, and another process over the same data, which commits when it is let. */
async function setUp() {
  const bench = new Bench()
  const collection = await bench.write(transaction => createCollection(transaction, 'things'))
  const lane = openStore(bench.kv, {
    clock: () => 0,
    timeline: {
      now: () => 0,
      oldestAnnounced: () => Number.POSITIVE_INFINITY,
      announce: time => ({ time, end: () => {} }),
    },
    hooks: { evaluateBinding: () => undefined },
  })
  return { bench, lane, of: (id: number) => documentRef(collection, id) }
}

/** An attempt of `lane`, as the service sees it; `commit` stands between the two. */
function kept(
  lane: TransactionStore,
  attempt: StoreAttempt<unknown>,
  commit: (
    leave: CommitLeave,
    commit: (leave: CommitLeave) => Promise<DistantCommit | 'stale'>,
  ) => Promise<DistantCommit | 'stale'> = (leave, go) => go(leave),
) {
  const { commitTime, isStamped, since } = attempt
  return {
    commitTime,
    isStamped,
    since: since.time,
    commit: (leave: CommitLeave) => commit(leave, given => lane.commitFor(attempt, given, () => {})),
  }
}

test('what another process has committed is there at its time, and compared with what is committed later', async () => {
  const { bench, lane, of } = await setUp()
  const before = bench.store.attempt(transaction => {
    transaction.get(of(1))
    transaction.put(of(2), data({ n: 1n }))
  })
  const beside = bench.store.attempt(transaction => {
    transaction.get(of(3))
    transaction.put(of(4), data({ n: 1n }))
  })
  const time = await bench.store.commitKept(kept(lane, lane.attempt(write(of(1), 5n))))
  assert.ok(time !== 'stale')
  bench.read(transaction => assert.equal(transaction.get(of(1))?.ts, time))
  assert.equal(await bench.store.commit(before), 'stale')
  assert.notEqual(await bench.store.commit(beside), 'stale')
  await bench.close()
})

test('it is refused when others have written what it read, also by what the service alone remembers', async () => {
  const { bench, lane, of } = await setUp()
  const increment = (ref: Ref, seen: Ref) => (transaction: Transaction) => {
    transaction.get(seen)
    transaction.put(ref, data({ n: 1n }))
  }
  const stale = lane.attempt(increment(of(1), of(2)))
  const sound = lane.attempt(increment(of(3), of(4)))
  await bench.commit(write(of(2), 7n))
  assert.equal(await bench.store.commitKept(kept(lane, stale)), 'stale')
  const told: CommitLeave[] = []
  const commit = kept(lane, sound, (leave, go) => {
    told.push(leave)
    return go(leave)
  })
  assert.notEqual(await bench.store.commitKept(commit), 'stale')
  assert.ok((told[0]?.recent?.keyCount ?? 0) > 0, 'the process was told what had been written meanwhile')
  await bench.close()
})

test('nothing else is committed meanwhile, reads go on and do not claim its time', async () => {
  const { bench, lane, of } = await setUp()
  let begun = () => {}
  const beginning = new Promise<void>(resolve => {
    begun = resolve
  })
  let proceed = () => {}
  const commit = kept(lane, lane.attempt(write(of(1), 5n)), async (leave, go) => {
    begun()
    await new Promise<void>(resolve => {
      proceed = resolve
    })
    return go(leave)
  })
  const committed = bench.store.commitKept(commit)
  await beginning
  bench.now += 1000
  let isWritten = false
  const other = bench.commit(write(of(2), 1n)).then(time => {
    isWritten = true
    return time
  })
  await turn()
  assert.equal(isWritten, false)
  const read = bench.store.read(transaction => transaction.get(of(1)))
  assert.equal(read.result, undefined)
  proceed()
  const time = await committed
  assert.ok(time !== 'stale' && time > read.time)
  assert.ok((await other) > time)
  await bench.close()
})

test('one that fails leaves nothing behind, and the others go on', async () => {
  const { bench, lane, of } = await setUp()
  const attempt = lane.attempt(write(of(1), 5n))
  const dead = kept(lane, attempt, () => Promise.reject(new Error('the process has ended')))
  const [failed, other] = await Promise.allSettled([
    bench.store.commitKept(dead),
    bench.commit(write(of(2), 1n)),
  ])
  assert.equal(failed.status, 'rejected')
  assert.equal(other.status, 'fulfilled')
  const orphaned = lane.commitFor(attempt, { time: attempt.commitTime }, () => {
    throw new Error('the service has ended')
  })
  await assert.rejects(orphaned, /the service has ended/)
  bench.read(transaction => assert.equal(transaction.get(of(1)), undefined))
  await bench.close()
})

// Attempts that another process has evaluated and sends to the committing process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch } from '../../../../src/base/micros.ts'
import type { Attempt } from '../../../../src/storage/store/attempt.ts'
import { packAttempt, unpackAttempt } from '../../../../src/storage/store/sent-attempt.ts'
import { Store } from '../../../../src/storage/store/store.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import type { Ref } from '../../../../src/values/value.ts'
import { Bench, data, documentRef } from './support.ts'

const write = (ref: Ref, n: bigint) => (transaction: Transaction) => transaction.put(ref, data({ n }))

/** A bench, and another process over the same data. */
async function setUp() {
  const bench = new Bench()
  const collection = await bench.createCollection('things')
  const lane = new Store(bench.kv, {
    clock: () => epoch,
    timeline: {
      now: () => epoch,
      reach: () => ({ now: epoch, upTo: epoch, isHalted: true }),
      announce: time => ({ time, end: () => {} }),
    },
    hooks: { evaluateBinding: () => undefined },
  })
  let validations = 0
  const send = async (attempt: Attempt<unknown>) => {
    const { body, head } = packAttempt(attempt)
    const half = body.length >> 1
    const parts = [body.subarray(0, half), body.subarray(half)]
    return bench.store.commit(await unpackAttempt(structuredClone(head), parts), {
      validate: async () => {
        validations++
        return lane.validated(attempt)
      },
    })
  }
  return Object.assign(bench, {
    ...{ lane, send, validations: () => validations },
    of: (id: number) => documentRef(collection, id),
  })
}

test('a sent attempt is committed, and later attempts are validated against it', async () => {
  await using bench = await setUp()
  const before = bench.store.attempt(transaction => {
    transaction.get(bench.of(1))
    transaction.put(bench.of(2), data({ n: 1n }))
  })
  const beside = bench.store.attempt(transaction => {
    transaction.get(bench.of(3))
    transaction.put(bench.of(4), data({ n: 1n }))
  })
  const done = await bench.send(bench.lane.attempt(write(bench.of(1), 5n)))
  assert.ok(done !== 'stale')
  bench.read(transaction => assert.equal(transaction.get(bench.of(1))?.ts, done.time))
  assert.equal(await bench.store.commit(before), 'stale')
  assert.notEqual(await bench.store.commit(beside), 'stale')
})

test('a sent attempt is stale exactly when others have written to its read set', async () => {
  await using bench = await setUp()
  const reading = (ref: Ref, seen: Ref) => (transaction: Transaction) => {
    transaction.get(seen)
    transaction.put(ref, data({ n: 1n }))
  }
  const stale = bench.lane.attempt(reading(bench.of(1), bench.of(2)))
  const sound = bench.lane.attempt(reading(bench.of(3), bench.of(4)))
  await bench.commit(write(bench.of(2), 7n))
  assert.equal(await bench.send(stale), 'stale')
  assert.notEqual(await bench.send(sound), 'stale')
})

test('a large attempt is committed as a whole at its commit time, and earlier reads are validated against it', async () => {
  await using bench = await setUp()
  const padding = 'x'.repeat(3000)
  const before = bench.store.attempt(transaction => {
    transaction.get(bench.of(150))
    transaction.put(bench.of(1000), data({ n: 1n }))
  })
  const large = bench.lane.attempt(transaction => {
    for (let id = 1; id <= 300; id++) transaction.put(bench.of(id), data({ n: BigInt(id), padding }))
  })
  // The time for which it was evaluated has passed.
  await bench.commit(write(bench.of(2000), 1n))
  const done = await bench.send(large)
  assert.ok(done !== 'stale')
  bench.read(transaction => {
    for (const id of [1, 150, 300]) assert.equal(transaction.get(bench.of(id))?.ts, done.time)
  })
  assert.equal(await bench.store.commit(before), 'stale')
})

test('a stale attempt is evaluated again without concurrent commits, if its process supports this', async () => {
  await using bench = await setUp()
  const counting = (transaction: Transaction) => {
    const n = transaction.get(bench.of(1))?.fields.get('data')
    const next = n instanceof Map ? (n.get('n') as bigint) + 1n : 1n
    transaction.put(bench.of(1), data({ n: next }))
    return next
  }
  const sent = async (attempt: Attempt<unknown>) => {
    const { body, head } = packAttempt(attempt)
    return await unpackAttempt(structuredClone(head), [body])
  }
  const first = await sent(bench.lane.attempt(counting))
  await bench.commit(counting)
  const others: Promise<unknown>[] = []
  const done = await bench.store.commit(first, {
    validate: async () => 'stale',
    evaluateAt: async time => {
      others.push(bench.store.write(counting))
      await new Promise(resolve => setImmediate(resolve))
      return await sent(bench.lane.attemptAt(counting, time))
    },
  })
  assert.ok(done !== 'stale')
  await Promise.all(others)
  bench.read(transaction => {
    const n = transaction.get(bench.of(1))?.fields.get('data')
    assert.equal(n instanceof Map && n.get('n'), 3n)
  })
  const failing = await sent(bench.lane.attempt(counting))
  await bench.commit(counting)
  const owner = { validate: async () => 'stale' as const, evaluateAt: async () => 'stale' as const }
  assert.equal(await bench.store.commit(failing, owner), 'stale')
})

test('a read set that is too large for the service is validated by the process that has sent it', async () => {
  await using bench = await setUp()
  const { lane, of, send, validations } = bench
  await bench.commit(transaction => {
    for (let id = 1; id <= 4100; id++) transaction.put(of(id), data({ n: 1n }))
  })
  const reading = (target: Ref) => (transaction: Transaction) => {
    for (let id = 1; id <= 4100; id++) transaction.get(of(id))
    transaction.put(target, data({ n: 1n }))
  }
  const padding = 'x'.repeat(1000)
  // Large commits leave a gap in the memory of recent writes.
  const gap = () =>
    send(
      lane.attempt(transaction => {
        for (let id = 5000; id < 5300; id++) transaction.put(of(id), data({ n: 1n, padding }))
      }),
    )
  const sound = lane.attempt(reading(of(6000)))
  const stale = lane.attempt(reading(of(6001)))
  await gap()
  assert.notEqual(await send(sound), 'stale')
  assert.equal(validations(), 1)
  await bench.commit(write(of(7), 2n))
  assert.equal(await send(stale), 'stale')
  assert.equal(validations(), 2)
})

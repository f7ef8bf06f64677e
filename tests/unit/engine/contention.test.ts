// Contention from the view of clients: short queries never fail, and long queries are retried and finally fail with
// 409.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyValueStore } from '../../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../../src/storage/kv/memory.ts'
import { openTestEngine } from '../../support/engine.ts'
import { ManualClock, seededEnvironment } from '../../support/seeded.ts'

/** An engine in which every evaluation on a snapshot takes `micros`. */
async function engineTaking(micros: number) {
  const clock = new ManualClock()
  const kv = openMemory()
  const slow: KeyValueStore = {
    read: read => {
      const result = kv.read(read)
      clock.advance(micros)
      return result
    },
    transact: work => kv.transact(work),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
  }
  const engine = openTestEngine({ kv: slow, environment: seededEnvironment(7, clock) })
  await engine.query({ create_collection: { object: { name: 'counters' } } })
  const made = { create: { collection: 'counters' }, params: { object: { data: { object: { n: 0 } } } } }
  const { ref } = (await engine.query(made)) as { ref: unknown }
  const n = { select: ['data', 'n'], from: { get: ref } }
  const increment = { update: ref, params: { object: { data: { object: { n: { add: [n, 1] } } } } } }
  const all = (count: number, retriesMax?: number) =>
    Promise.all(Array.from({ length: count }, () => engine.send(increment, { retriesMax })))
  return Object.assign(engine, { n, all })
}

test('all short increments of one document commit', async () => {
  await using engine = await engineTaking(0)
  const answers = await engine.all(2000)
  assert.ok(answers.every(({ status }) => status === 200))
  assert.equal(await engine.query(engine.n), 2000)
  for (const { body, txnTime } of answers) assert.equal(JSON.parse(body).resource.ts, txnTime)
  const retries = answers.map(({ metrics }) => metrics?.txnRetries)
  assert.deepEqual(new Set(retries), new Set([0, 1]))
  assert.equal(retries.filter(count => count === 0).length, 1)
})

test('long queries are retried as often as their client allows, and the response has the number of retries', async () => {
  await using engine = await engineTaking(50_000)
  const answers = await engine.all(6, 4)
  const statuses = answers.map(({ status }) => status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 409])
  const counts = answers.map(({ metrics }) => metrics?.txnRetries)
  assert.deepEqual(counts, [0, 1, 2, 3, 4, 5])
  assert.deepEqual(JSON.parse(answers[5]?.body ?? ''), {
    errors: [
      {
        code: 'contended transaction',
        description: 'Transaction was aborted due to detection of concurrent modification.',
      },
    ],
  })
  assert.equal(await engine.query(engine.n), 5)
})

test('without a limit the last retry runs without concurrent commits', async () => {
  await using engine = await engineTaking(50_000)
  const statuses = (await engine.all(6)).map(({ status }) => status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200])
  assert.equal(await engine.query(engine.n), 6)
})

test('a header sets the limit', async () => {
  await using engine = await engineTaking(50_000)
  const statuses = (await engine.all(3, 0)).map(({ status }) => status)
  assert.deepEqual(statuses, [200, 409, 409])
})

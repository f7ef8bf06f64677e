// The service must work with a wrong time of day. The clock is set back and forth while queries run, and nothing times
// out, repeats, or goes backwards.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { openMemory } from '../../../src/storage/kv/memory.ts'
import { openTestEngine } from '../../support/engine.ts'
import { RandomSource } from '../../support/random-source.ts'
import { seededEnvironment, seedsToRun } from '../../support/seeded.ts'

const hour = 3_600_000_000
const object = (fields: object) => ({ object: fields })

/** A time of day that jumps at each reading, and a steady monotonic clock. */
function jumpingClock(random: RandomSource, isJumping: () => boolean) {
  let time = 1_709_251_200_000_000
  return {
    now: () => {
      if (isJumping()) time += (random.below(3) - 1) * random.below(24) * hour
      time += 10
      return micros(time)
    },
    elapsedMs: () => performance.now(),
  }
}

for (const seed of seedsToRun([1, 2])) {
  test(`queries under load while the clock jumps by hours (seed ${seed})`, async () => {
    let isJumping = false
    const random = new RandomSource(seed)
    const environment = seededEnvironment(
      seed,
      jumpingClock(random, () => isJumping),
    )
    const { close, query, send, store } = openTestEngine({ kv: openMemory(), environment })
    await query({ create_collection: object({ name: 'c' }) })
    isJumping = true
    const ids = new Set<string>()
    let newest = 0
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => send({ create: { collection: 'c' }, params: object({}) })),
      )
      for (const { body, status } of answers) {
        assert.equal(status, 201, body)
        ids.add(JSON.parse(body).resource.ref['@ref'].id)
      }
      const times = answers.map(answer => answer.txnTime)
      assert.equal(new Set(times).size, times.length)
      assert.ok(Math.min(...times) > newest)
      newest = Math.max(...times)
      const sum = { reduce: { lambda: ['a', 'x'], expr: { add: [{ var: 'a' }, 1] } }, initial: 0 }
      const long = await send({ ...sum, collection: Array.from({ length: 2000 }, () => 1) })
      assert.equal(long.status, 200, long.body)
      assert.ok(long.txnTime >= newest)
    }
    assert.equal(ids.size, 400)
    assert.equal(await query({ count: { documents: { collection: 'c' } } }), 400)
    isJumping = false
    assert.deepEqual(store.check(), [])
    await close()
  })
}

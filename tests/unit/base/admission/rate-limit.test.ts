// Rate limits: buckets start full, may be overdrawn, and refill at their rate.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bucket, debtRepaidByTime, RateLimit } from '../../../../src/base/admission/rate-limit.ts'

test('a bucket may be overdrawn and refills up to its maximum', () => {
  const bucket = new Bucket({ max: 10, perSecond: 2 }, 1_000)
  assert.equal(bucket.take(10, 1_000), true)
  assert.equal(bucket.waitMs(1_000), 0)
  assert.equal(bucket.take(5, 1_000), false)
  assert.equal(bucket.waitMs(1_000), 2_500)
  assert.equal(bucket.left(3_500), 0)
  assert.equal(bucket.left(3_501) > 0, true)
  assert.equal(bucket.left(60_000), 10)
  assert.equal(bucket.take(-100, 60_000), true)
  assert.equal(bucket.left(60_000), 10)
})

test('each owner has its own bucket, and an unknown owner has a full one', () => {
  let now = 0
  const limit = new RateLimit<string>(debtRepaidByTime, 100, () => now)
  assert.equal(limit.waitMs('a'), 0)
  assert.equal(limit.take('a', 30), false)
  assert.equal(limit.take('a', 30), false)
  assert.deepEqual([limit.waitMs('a'), limit.waitMs('b')], [60, 0])
  now = 45
  assert.equal(limit.left('a'), -15)
  now = 100
  assert.equal(limit.left('a'), 0)
})

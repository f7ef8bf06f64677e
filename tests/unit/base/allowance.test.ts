// Allowances: they start full, may be overdrawn, and refill at their rate.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Allowance, Allowances } from '../../../src/base/allowance.ts'

test('an allowance may be overdrawn and refills up to its maximum', () => {
  const allowance = new Allowance({ max: 10, perSecond: 2 }, 1_000)
  assert.equal(allowance.take(10, 1_000), true)
  assert.equal(allowance.waitMs(1_000), 0)
  assert.equal(allowance.take(5, 1_000), false)
  assert.equal(allowance.waitMs(1_000), 2_500)
  assert.equal(allowance.left(3_500), 0)
  assert.equal(allowance.left(3_501) > 0, true)
  assert.equal(allowance.left(60_000), 10)
  assert.equal(allowance.take(-100, 60_000), true)
  assert.equal(allowance.left(60_000), 10)
})

test('each owner has its own allowance, and an unknown owner has a full one', () => {
  let now = 0
  const allowances = new Allowances<string>({ max: 0, perSecond: 1000 }, 100, () => now)
  assert.equal(allowances.waitMs('a'), 0)
  assert.equal(allowances.take('a', 30), false)
  assert.equal(allowances.take('a', 30), false)
  assert.deepEqual([allowances.waitMs('a'), allowances.waitMs('b')], [60, 0])
  now = 45
  assert.equal(allowances.left('a'), -15)
  now = 100
  assert.equal(allowances.left('a'), 0)
})

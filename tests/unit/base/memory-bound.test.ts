// One memory limit for many holders.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryBound } from '../../../src/base/memory-bound.ts'

const refusal = new Error('no room')
const boundOf = (max: number) => new MemoryBound(max, () => refusal)

test('a reservation above the limit is rejected, and released memory is available again', () => {
  const bound = boundOf(10)
  const release = bound.hold(6)
  bound.hold(4)
  assert.throws(() => bound.hold(1), refusal)
  assert.equal(bound.held, 10)
  release()
  release()
  assert.equal(bound.held, 4)
  bound.hold(6)
})

test('a single holder may reserve any amount', () => {
  const bound = boundOf(10)
  const release = bound.hold(100)
  assert.throws(() => bound.hold(1), refusal)
  release()
  assert.equal(bound.held, 0)
})

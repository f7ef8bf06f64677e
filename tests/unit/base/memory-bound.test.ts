// One bound for what many hold.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryBound } from '../../../src/base/memory-bound.ts'

const refusal = new Error('no room')
const boundOf = (max: number) => new MemoryBound(max, () => refusal)

test('what would pass the bound is refused, and there is room again when something is given back', () => {
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

test('who is alone has room, however much it is', () => {
  const bound = boundOf(10)
  const release = bound.hold(100)
  assert.throws(() => bound.hold(1), refusal)
  release()
  assert.equal(bound.held, 0)
})

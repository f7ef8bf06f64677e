// Token buckets per database: bursts, refilling and debts; only used and limited kinds of operations count.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch } from '../../../src/base/micros.ts'
import { NoticeBoard } from '../../../src/base/notices.ts'
import { OperationLimits, RateLimited } from '../../../src/engine/operation-limits.ts'

/** Limits with a clock that the test advances. */
function limitsAt(perSecond: { compute: number; read: number; write: number }) {
  const clock = { nowMs: 0, now: () => epoch, elapsedMs: () => clock.nowMs }
  const limits = new OperationLimits(perSecond, clock)
  const use = (database: bigint, costs: Partial<Record<'compute' | 'read' | 'write', number>>) => {
    const all = { compute: 0, read: 0, write: 0, ...costs }
    try {
      limits.check(database, all)
    } catch (error) {
      assert.ok(error instanceof RateLimited)
      return error.kinds
    }
    limits.charge(database, all)
    return 'fine'
  }
  return { clock, use }
}

test('the operations of two seconds may be used at once, then as many as are refilled', () => {
  const { clock, use } = limitsAt({ compute: 0, read: 10, write: 0 })
  for (let n = 0; n < 20; n++) assert.equal(use(1n, { read: 1 }), 'fine')
  assert.deepEqual(use(1n, { read: 1 }), ['read'])
  clock.nowMs += 100
  assert.equal(use(1n, { read: 1 }), 'fine')
  assert.deepEqual(use(1n, { read: 1 }), ['read'])
  clock.nowMs += 3_600_000
  for (let n = 0; n < 20; n++) assert.equal(use(1n, { read: 1 }), 'fine')
  assert.deepEqual(use(1n, { read: 1 }), ['read'])
})

test('an expensive query is admitted and leaves a debt', () => {
  const { clock, use } = limitsAt({ compute: 0, read: 10, write: 0 })
  assert.equal(use(1n, { read: 50 }), 'fine')
  clock.nowMs += 3000
  assert.deepEqual(use(1n, { read: 1 }), ['read'])
  clock.nowMs += 100
  assert.equal(use(1n, { read: 1 }), 'fine')
})

test('databases and kinds of operations are independent', () => {
  const { use } = limitsAt({ compute: 5, read: 0, write: 5 })
  assert.equal(use(1n, { write: 10 }), 'fine')
  assert.deepEqual(use(1n, { write: 1 }), ['write'])
  assert.equal(use(2n, { write: 1 }), 'fine')
  assert.equal(use(1n, { read: 1_000_000 }), 'fine')
  assert.equal(use(1n, { compute: 10 }), 'fine')
  assert.deepEqual(use(1n, { compute: 1, write: 1 }), ['compute', 'write'])
})

test('operations of other processes are subtracted once these have reported them', () => {
  const clock = { now: () => epoch, elapsedMs: () => 0 }
  const perSecond = { compute: 0, read: 10, write: 0 }
  const [one, other] = [new OperationLimits(perSecond, clock), new OperationLimits(perSecond, clock)]
  const [boardOfOne, boardOfOther] = [new NoticeBoard(), new NoticeBoard()]
  boardOfOne.join('rates', one)
  boardOfOther.join('rates', other)
  const read = { compute: 0, read: 1, write: 0 }
  assert.equal(boardOfOne.collect(), undefined)
  for (let count = 0; count < 15; count++) one.charge(7n, read)
  boardOfOther.receive(boardOfOne.collect() as string)
  assert.equal(boardOfOne.collect(), undefined, 'told once')
  for (let count = 0; count < 5; count++) {
    other.check(7n, read)
    other.charge(7n, read)
  }
  assert.throws(() => other.check(7n, read), RateLimited)
  other.check(8n, read)
})

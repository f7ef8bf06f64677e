// A limit that clients share: evictions when it is exceeded, and evictions of stalled clients.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryBudget, type Pace, type Share } from '../../../../src/base/admission/memory-budget.ts'
import { epoch } from '../../../../src/base/micros.ts'
import type { Timers } from '../../../../src/base/timers.ts'

/** A budget with a simulated clock, and its evictions. */
function budgetOf(max: number, pace?: Omit<Pace, 'clock' | 'timers'>) {
  let nowMs = 0
  let sweep: (() => void) | undefined
  const timers = {
    after: (_ms: number, callback: () => void) => {
      sweep = callback
      return () => undefined
    },
  } as Timers
  const clock = { now: () => epoch, elapsedMs: () => nowMs }
  const budget = new MemoryBudget(pace ? { max, pace: { ...pace, clock, timers } } : { max })
  const evicted: string[] = []
  return {
    budget,
    evicted,
    open(group: string, name: string, amount = 0): Share {
      return budget.open(group, reason => evicted.push(`${name} ${reason}`), amount)
    },
    pass(ms: number) {
      nowMs += ms
      const swept = sweep
      sweep = undefined
      swept?.()
    },
    isIdle: () => sweep === undefined,
  }
}

test('the largest share of the largest group is evicted first, of equal ones the oldest', () => {
  const { open, evicted, budget } = budgetOf(100)
  open('a', 'a1', 20)
  open('a', 'a2', 30)
  open('a', 'a3', 30)
  open('b', 'b1', 19)
  open('c', 'c1', 2)
  assert.deepEqual(evicted, ['a2 no room'])
  assert.equal(budget.held, 71)
})

test('evictions take turns among the largest groups, and stop below the limit', () => {
  const { open, evicted, budget } = budgetOf(80)
  for (let n = 0; n < 4; n++) open('a', `a${n}`, 10)
  for (let n = 0; n < 5; n++) open('b', `b${n}`, 10)
  assert.deepEqual(evicted, ['b0 no room', 'a0 no room'])
  assert.equal(budget.held, 70)
})

test('a share that exceeds the limit alone is evicted itself', () => {
  const { open, evicted, budget } = budgetOf(100)
  const share = open('a', 'a', 101)
  assert.deepEqual(evicted, ['a no room'])
  share.grow(5)
  share.shrink(5)
  share.close()
  assert.equal(budget.held, 0)
})

test('a share that moves to another group counts there', () => {
  const { open, evicted } = budgetOf(100)
  const moved = open('a', 'moved', 60)
  moved.regroup('b')
  open('a', 'stays', 35)
  open('c', 'newcomer', 10)
  assert.deepEqual(evicted, ['moved no room'])
})

test('a share that stalls for a window is evicted; growing, shrinking and counted movement count as movement, pauses do not stall', () => {
  const { open, evicted, pass, isIdle } = budgetOf(1000, { windowMs: 10, amount: 5 })
  const [still, grows, shrinks, moves, paused] = ['still', 'grows', 'shrinks', 'moves', 'paused'].map(name =>
    open('a', name, 100),
  ) as [Share, Share, Share, Share, Share]
  paused.pause(true)
  pass(10)
  assert.deepEqual(evicted, [])
  for (let turn = 0; turn < 3; turn++) {
    grows.grow(5)
    shrinks.shrink(5)
    moves.move(5)
    pass(10)
  }
  assert.deepEqual(evicted, ['still too slow'])
  paused.pause(false)
  pass(10)
  assert.deepEqual(evicted.length, 5)
  still.close()
  pass(10)
  assert.ok(isIdle())
})

const rejection = new Error('no room')

test('a reservation above the limit is rejected, and released memory is available again', () => {
  const budget = new MemoryBudget({ max: 10, rejection: () => rejection })
  const release = budget.reserve(6)
  budget.reserve(4)
  assert.throws(() => budget.reserve(1), rejection)
  assert.equal(budget.held, 10)
  release()
  release()
  assert.equal(budget.held, 4)
  budget.reserve(6)
})

test('a single reservation may have any amount', () => {
  const budget = new MemoryBudget({ max: 10, rejection: () => rejection })
  const release = budget.reserve(100)
  assert.throws(() => budget.reserve(1), rejection)
  release()
  assert.equal(budget.held, 0)
})

test('shares are evicted for a reservation; pinned shares are not', () => {
  const evicted: string[] = []
  const budget = new MemoryBudget({ max: 10, rejection: () => rejection })
  const pinned = budget.open('a', () => evicted.push('pinned'), 3)
  pinned.pin(true)
  budget.open('a', () => evicted.push('a'), 3)
  budget.open('b', () => evicted.push('b'), 4)
  budget.reserve(5, 'c')
  assert.deepEqual(evicted, ['a', 'b'])
  assert.throws(() => budget.reserve(3, 'c'), rejection)
  pinned.pin(false)
  budget.reserve(3, 'c')
  assert.deepEqual(evicted, ['a', 'b', 'pinned'])
  assert.equal(budget.held, 8)
})

test('a group holds at most its part of the limit', () => {
  const evicted: string[] = []
  const budget = new MemoryBudget({ max: 20, groupPart: 1 / 2, rejection: () => rejection })
  const open = (group: string, name: string) => budget.open(group, () => evicted.push(name), 4)
  for (const name of ['a1', 'a2', 'a3']) open('a', name)
  assert.deepEqual(evicted, ['a1'])
  const moved = open('b', 'b1')
  moved.regroup('a')
  assert.deepEqual(evicted, ['a1', 'a2'])
  budget.reserve(4, 'c')
  assert.throws(() => budget.reserve(7, 'c'), rejection)
  budget.reserve(6, 'c')
  assert.equal(budget.held, 18)
})

test('at the limit, only owners below their fair part are admitted', () => {
  const budget = new MemoryBudget({ max: 4 })
  for (let n = 0; n < 4; n++) budget.open('a', () => assert.fail('nothing is evicted'), 1).pin(true)
  assert.ok(!budget.admits('a', 1))
  assert.ok(budget.admits('b', 1))
  const share = budget.open('b', () => assert.fail('a pinned share is not evicted'))
  share.pin(true)
  share.grow(2)
  assert.ok(!budget.admits('b', 1))
  assert.ok(budget.admits('c', 1))
})

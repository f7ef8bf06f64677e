// A limit that clients share: evictions when it is exceeded, and evictions of stalled clients.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import type { Timers } from '../../src/base/timers.ts'
import { clientOf } from '../../src/server/http/client-address.ts'
import { FairBudget, type Pace, type Share } from '../../src/server/http/fair-budget.ts'

/** A budget with a simulated clock, and its evictions. */
function budgetOf(max: number, pace?: Pace) {
  let nowMs = 0
  let sweep: (() => void) | undefined
  const timers = {
    after: (_ms: number, callback: () => void) => {
      sweep = callback
      return () => undefined
    },
  } as Timers
  const clock = { now: () => epoch, elapsedMs: () => nowMs }
  const budget = new FairBudget(pace ? { max, pace } : { max }, { clock, timers })
  const evicted: string[] = []
  return {
    budget,
    evicted,
    open(group: string, name: string, amount = 0): Share {
      const share = budget.open(group, reason => evicted.push(`${name} ${reason}`))
      share.grow(amount)
      return share
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

test('clients are identified by their IPv4 address or by their IPv6 network', () => {
  const cases: [address: string | undefined, client: string][] = [
    ['127.0.0.2', '127.0.0.2'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    [undefined, ''],
  ]
  for (const [address, client] of cases) assert.equal(clientOf(address), client)
})

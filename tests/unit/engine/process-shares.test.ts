// How long an evaluation may hold the process: by its own work and its waits for the disk.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { starvedMs } from '../../../src/base/clock.ts'
import { step, stepsPerCheck } from '../../../src/base/effort.ts'
import { epoch } from '../../../src/base/micros.ts'
import { ProcessShares } from '../../../src/engine/process-shares.ts'
import { limits } from '../../../src/limits.ts'

function sharesOf(ms: number) {
  const time = { elapsedMs: 1000, starvedMs: 500 }
  const clock = { now: () => epoch, elapsedMs: () => time.elapsedMs }
  const shares = new ProcessShares(ms, clock, () => time.starvedMs)
  return {
    shares,
    /** Works, or waits for the disk. */
    work(ms: number) {
      time.elapsedMs += ms
      step(stepsPerCheck)
    },
    /** Has the runtime collect garbage. */
    collect(ms: number) {
      time.elapsedMs += ms
    },
    /** Waits for a processor. */
    starve(ms: number) {
      time.elapsedMs += ms
      time.starvedMs += ms
    },
  }
}

test('what passes while others have the processor does not count', () => {
  const { shares, starve, work } = sharesOf(20)
  const share = shares.share('a')
  work(10)
  starve(10_000)
  assert.equal(share.isOver(), false)
  work(9)
  starve(5)
  assert.equal(share.isOver(), false)
  work(1)
  assert.equal(share.isOver(), true)
})

test('what has taken few steps is short, unless nothing is', () => {
  const { collect, shares, work } = sharesOf(20)
  const share = shares.share('a')
  step(100)
  collect(10_000)
  assert.equal(share.isOver(), false)
  work(0)
  assert.equal(share.isOver(), true)
  assert.equal(sharesOf(0).shares.share('a').isOver(), true)
})

test('work that turns out to be of another queue has begun when it began', () => {
  const { shares, work } = sharesOf(20)
  const share = shares.share('a')
  work(15)
  share.countFor('b')
  assert.equal(share.isOver(), false)
  work(5)
  assert.equal(share.isOver(), true)
  for (let wasted = 0; wasted <= limits.wastedMsFree; wasted += 20) share.wasted()
  const [one, other] = [shares.share('a'), shares.share('b')]
  work(limits.impatientMs)
  assert.deepEqual([one.isOver(), other.isOver()], [false, true])
})

test('nor does it count as wasted', () => {
  const { shares, starve, work } = sharesOf(20)
  const share = shares.share('a')
  starve(10 * limits.wastedMsFree)
  work(20)
  share.wasted()
  const next = shares.share('a')
  work(limits.impatientMs)
  assert.equal(next.isOver(), false)
})

test('a busy machine is told from a busy thread', t => {
  try {
    readFileSync('/proc/thread-self/schedstat')
  } catch {
    return t.skip('only Linux tells how long a thread has waited for a processor')
  }
  const [startMs, starvedBefore] = [performance.now(), starvedMs()]
  while (performance.now() - startMs < 20);
  const starved = starvedMs() - starvedBefore
  assert.ok(starved >= 0 && starved <= performance.now() - startMs)
})

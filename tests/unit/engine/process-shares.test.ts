// How long an evaluation may hold the process: by its own work and its waits for the disk.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { starvedMs } from '../../../src/base/clock.ts'
import { step, stepsPerCheck } from '../../../src/base/effort.ts'
import { limits } from '../../../src/base/limits.ts'
import { epoch } from '../../../src/base/micros.ts'
import { ProcessShares } from '../../../src/engine/process-shares.ts'

function sharesOf(ms: number) {
  const time = { elapsedMs: 1000, starvedMs: 500 }
  const crowded = new Set<string>()
  const clock = { now: () => epoch, elapsedMs: () => time.elapsedMs }
  const shares = new ProcessShares(
    ms,
    clock,
    () => time.starvedMs,
    queue => crowded.has(queue),
  )
  return {
    shares,
    crowded,
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

test('time in which other programs use the processor does not count', () => {
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

test('an evaluation of few steps is short, unless the limit is zero', () => {
  const { collect, shares, work } = sharesOf(20)
  const share = shares.share('a')
  step(100)
  collect(10_000)
  assert.equal(share.isOver(), false)
  work(0)
  assert.equal(share.isOver(), true)
  assert.equal(sharesOf(0).shares.share('a').isOver(), true)
})

test('a share that is moved to another queue keeps its start', () => {
  const { shares, work } = sharesOf(20)
  const share = shares.share('a')
  work(15)
  share.countFor('b')
  assert.equal(share.isOver(), false)
  work(5)
  assert.equal(share.isOver(), true)
  for (let held = 0; held <= limits.blockingMsFree; held += 20) share.ended()
  const [one, other] = [shares.share('a'), shares.share('b')]
  work(limits.impatientMs)
  assert.deepEqual([one.isOver(), other.isOver()], [false, true])
})

test('such time does not count against the queue, either', () => {
  const { shares, starve, work } = sharesOf(20)
  const share = shares.share('a')
  starve(10 * limits.blockingMsFree)
  work(20)
  share.ended()
  const next = shares.share('a')
  work(limits.impatientMs)
  assert.equal(next.isOver(), false)
})

test('a queue that holds the process again and again gets a smaller share, until the time is forgiven', () => {
  const { collect, shares, work } = sharesOf(20)
  const runs = (ms: number, count: number) => {
    for (let run = 0; run < count; run++) {
      const share = shares.share('a')
      work(ms)
      share.ended()
    }
    return shares.msOf('a')
  }
  assert.equal(runs(limits.impatientMs - 1, 1000), 20, 'short work is never counted')
  assert.equal(runs(8, limits.blockingMsFree / 8), 20)
  assert.equal(runs(8, 1), limits.impatientMs)
  assert.equal(shares.msOf('b'), 20)
  collect((8 / limits.blockingMsPerSecond) * 1000)
  assert.equal(shares.msOf('a'), 20)
})

test('when many queries wait for the slow lane, short queries stay in the service, until cancelled evaluations exceed the limit', () => {
  const { crowded, shares, work } = sharesOf(20)
  const runs = (ms: number, count: number, isWasted: boolean) => {
    for (let run = 0; run < count; run++) {
      const share = shares.share('a')
      work(ms)
      if (isWasted) share.wasted()
      share.ended()
    }
    return shares.msOf('a')
  }
  assert.equal(runs(8, 100, false), limits.impatientMs)
  assert.equal(runs(limits.impatientMs, 100, true), limits.impatientMs)
  crowded.add('a')
  assert.equal(shares.msOf('a'), 20, 'what had little time has wasted none')
  assert.equal(runs(8, 100, false), 20)
  assert.equal(runs(20, limits.blockingMsFree / 20 + 1, true), limits.impatientMs)
})

test('garbage collection for other queries does not count against a short query', () => {
  const { collect, shares } = sharesOf(20)
  const share = shares.share('a')
  collect(10 * limits.blockingMsFree)
  share.ended()
  assert.equal(shares.msOf('a'), 20)
})

test('the clock distinguishes a busy machine from a busy thread', t => {
  try {
    readFileSync('/proc/thread-self/schedstat')
  } catch {
    return t.skip('only Linux reports how long a thread has waited for a processor')
  }
  const [startMs, starvedBefore] = [performance.now(), starvedMs()]
  while (performance.now() - startMs < 20);
  const starved = starvedMs() - starvedBefore
  assert.ok(starved >= 0 && starved <= performance.now() - startMs)
})

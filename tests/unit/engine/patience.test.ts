// How long an evaluation may hold the process: by its own work and its waits for the disk.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { starvedMs } from '../../../src/base/clock.ts'
import { epoch } from '../../../src/base/micros.ts'
import { Patience } from '../../../src/engine/patience.ts'
import { limits } from '../../../src/limits.ts'

function patienceOf(ms: number) {
  const time = { elapsedMs: 1000, starvedMs: 500 }
  const clock = { now: () => epoch, elapsedMs: () => time.elapsedMs }
  const patience = new Patience(ms, clock, () => time.starvedMs)
  return {
    patience,
    /** Works, or waits for the disk. */
    work(ms: number) {
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
  const { patience, starve, work } = patienceOf(20)
  const hold = patience.hold('a')
  work(10)
  starve(10_000)
  assert.equal(hold.isOver(), false)
  work(9)
  starve(5)
  assert.equal(hold.isOver(), false)
  work(1)
  assert.equal(hold.isOver(), true)
})

test('nor does it count as wasted', () => {
  const { patience, starve, work } = patienceOf(20)
  const hold = patience.hold('a')
  starve(10 * limits.wastedMsFree)
  work(20)
  hold.wasted()
  const next = patience.hold('a')
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

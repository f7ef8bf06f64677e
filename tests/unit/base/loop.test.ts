// A background loop: its pauses, waking and stopping.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Loop, type Timers } from '../../../src/base/timers.ts'

/** Timers that record scheduled calls; the test fires them by hand. */
class ManualTimers implements Timers {
  readonly pauses: number[] = []
  pass: () => void = () => undefined
  cancelled = 0

  after(ms: number, callback: () => void) {
    this.pauses.push(ms)
    this.pass = callback
    return () => {
      this.cancelled++
    }
  }

  every(): never {
    throw new Error('a loop has no fixed interval')
  }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('each step follows after the pause that the previous one returned', async () => {
  const timers = new ManualTimers()
  const asked = [0, 20, 10]
  let steps = 0
  const loop = new Loop(timers, async () => asked[steps++] ?? 30)
  await turn()
  assert.deepEqual([steps, timers.pauses], [2, [20]])
  timers.pass()
  await turn()
  assert.deepEqual([steps, timers.pauses], [3, [20, 10]])
  loop.wake()
  await turn()
  assert.deepEqual([steps, timers.pauses, timers.cancelled], [4, [20, 10, 30], 1])
  await loop.stop()
  assert.equal(steps, 4)
})

test('a loop woken during a step starts the next step directly after it', async () => {
  const timers = new ManualTimers()
  let steps = 0
  const loop: Loop = new Loop(timers, async () => {
    await turn()
    if (++steps === 1) loop.wake()
    return 50
  })
  await turn()
  await turn()
  await turn()
  assert.deepEqual([steps, timers.pauses], [2, [50]])
  await loop.stop()
})

test('stop waits for the running step and starts no other', async () => {
  let finish: () => void = () => undefined
  let steps = 0
  const loop = new Loop(new ManualTimers(), () => {
    steps++
    return new Promise(resolve => {
      finish = () => resolve(0)
    })
  })
  let hasStopped = false
  const stopped = loop.stop().then(() => {
    hasStopped = true
  })
  await turn()
  assert.equal(hasStopped, false)
  finish()
  await stopped
  assert.equal(steps, 1)
})

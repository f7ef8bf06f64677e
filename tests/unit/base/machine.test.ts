// The machine's clock, timers, randomness and limits: their guaranteed properties.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { connectionsMax } from '../../../src/base/system-process.ts'
import { systemTimers } from '../../../src/base/timers.ts'

test('the clock returns microseconds of the same day as the runtime', () => {
  const before = Date.now() * 1000
  const now = systemClock.now()
  assert.ok(Number.isSafeInteger(now))
  assert.ok(Math.abs(now - before) < 60_000_000)
  const elapsed = systemClock.elapsedMs()
  assert.ok(systemClock.elapsedMs() >= elapsed)
})

test('time passes', async () => {
  const start = systemClock.now()
  while (systemClock.now() === start) await new Promise(setImmediate)
  assert.ok(systemClock.now() > start)
})

test('a scheduled call can be cancelled', async () => {
  const happened: string[] = []
  const cancel = systemTimers.after(1, () => happened.push('cancelled'))
  cancel()
  await new Promise<void>(resolve => {
    let ticks = 0
    const stop = systemTimers.every(1, () => {
      if (++ticks < 3) return
      stop()
      resolve()
    })
    // The timers under test do not keep the process alive, so the test must.
    const hold = setInterval(() => ticks >= 3 && clearInterval(hold), 1)
  })
  assert.deepEqual(happened, [])
})

test('draws differ, have the requested length and stay within their limit', () => {
  const drawn = new Set<string>()
  for (let n = 0; n < 2000; n++) {
    const hex = systemRandom.hex(8)
    assert.match(hex, /^[0-9a-f]{16}$/)
    drawn.add(hex)
  }
  assert.equal(drawn.size, 2000)
  assert.equal(systemRandom.hex(5000).length, 10_000)
  const bytes = systemRandom.bytes(20)
  assert.equal(bytes.length, 20)
  assert.notDeepEqual(bytes, systemRandom.bytes(20))
  const seen = new Set(Array.from({ length: 500 }, () => systemRandom.below(3)))
  assert.deepEqual([...seen].sort(), [0, 1, 2])
})

test('some descriptors are not used for connections, and without a limit of descriptors, connections have no limit', () => {
  assert.equal(connectionsMax(200), 104)
  assert.equal(connectionsMax(1001), 750)
  assert.equal(connectionsMax(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY)
})

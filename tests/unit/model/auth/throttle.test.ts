// Slowing down guesses: free failures, growing pauses, no lockout, limited queues. The tests advance the time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoticeBoard } from '../../../../src/base/notices.ts'
import { systemRandom } from '../../../../src/base/random.ts'
import { RequestError } from '../../../../src/base/request-errors.ts'
import { FailureThrottle, throttleLimits } from '../../../../src/model/auth/throttle.ts'
import { ManualTime, settled } from './support.ts'

function setUp(below: (limit: number) => number = () => 0) {
  const time = new ManualTime()
  const random = { below, bytes: (count: number) => new Uint8Array(count), hex: () => '' }
  const throttle = new FailureThrottle({ clock: time.clock, timers: time, random })
  const fail = (identity = 'user') => throttle.run(identity, () => Promise.resolve(false))
  const pass = (identity = 'user') => throttle.run(identity, () => Promise.resolve(true))
  return { time, throttle, fail, pass }
}

/** The waiting time of a check, in milliseconds. */
async function delayOf(time: ManualTime, check: Promise<boolean>): Promise<number> {
  let done = false
  void check.then(() => {
    done = true
  })
  await settled()
  const start = time.ms
  while (!done) {
    const next = time.nextAlarm
    assert.ok(next !== undefined, 'the check waits for nothing')
    await time.advance(next)
  }
  return time.ms - start
}

test('a few failures are free, then the pauses grow up to a limit', async () => {
  const { time, fail } = setUp()
  const delays: number[] = []
  for (let attempt = 0; attempt < 14; attempt++) delays.push(Math.round(await delayOf(time, fail())))
  assert.deepEqual(delays.slice(0, throttleLimits.passwordFreeFailures), [0, 0, 0, 0, 0])
  const growing = delays.slice(throttleLimits.passwordFreeFailures)
  assert.ok(
    growing.every((delay, at) => delay > 0 && delay >= (growing[at - 1] ?? 0)),
    String(growing),
  )
  assert.equal(growing.at(-1), throttleLimits.passwordPauseMaxMs)
})

test('the right password still works after many failures, and clears them', async () => {
  const { time, fail, pass } = setUp()
  for (let attempt = 0; attempt < 30; attempt++) await delayOf(time, fail())
  const right = pass()
  assert.ok((await delayOf(time, right)) <= throttleLimits.passwordPauseMaxMs)
  assert.equal(await right, true)
  assert.equal(await delayOf(time, fail()), 0)
})

test('failures of one identity do not slow down another', async () => {
  const { time, fail, pass } = setUp()
  for (let attempt = 0; attempt < 20; attempt++) await delayOf(time, fail('victim'))
  assert.equal(await delayOf(time, pass('other')), 0)
})

test('failures decay', async () => {
  const { time, fail } = setUp()
  for (let attempt = 0; attempt < 10; attempt++) await delayOf(time, fail())
  assert.notEqual(await delayOf(time, fail()), 0)
  await time.advance(3 * throttleLimits.passwordFailureHalfLifeMs)
  assert.equal(await delayOf(time, fail()), 0)
})

test('concurrent guesses are not free: after the free ones they start with pauses between them', async () => {
  const { time, throttle } = setUp()
  const begins: number[] = []
  const checks = Array.from({ length: 20 }, () =>
    throttle.run('user', () => {
      begins.push(time.ms)
      return Promise.resolve(false)
    }),
  )
  await settled()
  assert.equal(begins.length, throttleLimits.passwordFreeFailures)
  const started = time.ms
  while (time.nextAlarm !== undefined) await time.advance(time.nextAlarm)
  await Promise.all(checks)
  const slow = begins.slice(throttleLimits.passwordFreeFailures)
  assert.ok(slow.every((begin, at) => begin > started && begin >= (slow[at - 1] ?? 0)))
  assert.ok(
    Math.max(...slow) - started <= throttleLimits.passwordQueueWaitMs,
    'nobody waits longer than the bound',
  )
  assert.ok(new Set(slow).size > 5)
})

test('a caller that shares credential and address with many guessers waits no longer than a limit', async () => {
  const { time, throttle, fail, pass } = setUp()
  for (let attempt = 0; attempt < 30; attempt++) await delayOf(time, fail())
  let stopped = false
  // Each of them guesses again as soon as it has its result.
  const guesser = async () => {
    while (!stopped) await throttle.run('user', () => Promise.resolve(false))
  }
  const crowd = Array.from({ length: 150 }, guesser)
  await settled()
  for (let owner = 0; owner < 3; owner++) {
    const right = pass()
    assert.ok((await delayOf(time, right)) <= throttleLimits.passwordQueueWaitMs)
    assert.equal(await right, true)
  }
  stopped = true
  while (time.nextAlarm !== undefined) await time.advance(time.nextAlarm)
  await Promise.all(crowd)
})

test('concurrent correct passwords all pass without a pause', async () => {
  const { time, pass } = setUp()
  const results = await Promise.all(Array.from({ length: 50 }, () => pass()))
  assert.ok(results.every(Boolean))
  assert.equal(time.nextAlarm, undefined)
})

test('a flood overfills the queue: a random waiting check is rejected, not the newcomer', async () => {
  const { time, fail, pass } = setUp(limit => limit - 2)
  for (let attempt = 0; attempt < 10; attempt++) await delayOf(time, fail())
  const waiting = Array.from({ length: throttleLimits.passwordQueueMax }, () => fail())
  const outcomes = Promise.allSettled(waiting)
  const owner = pass()
  const rejection = await Promise.race(waiting.map(check => check.catch((error: unknown) => error)))
  assert.ok(rejection instanceof RequestError && rejection.code === 'too many requests')
  while (time.nextAlarm !== undefined) await time.advance(time.nextAlarm)
  assert.equal(await owner, true)
  const rejected = (await outcomes).filter(({ status }) => status === 'rejected')
  assert.equal(rejected.length, 1)
})

test('failures reported by another process slow down as well', async () => {
  const time = new ManualTime()
  const notices = new NoticeBoard()
  const throttle = new FailureThrottle({ clock: time.clock, timers: time, random: systemRandom, notices })
  await time.advance(10_000)
  notices.receive(JSON.stringify({ failures: [['a', false, throttleLimits.passwordFreeFailures]] }))
  await delayOf(
    time,
    throttle.run('a', () => Promise.resolve(false)),
  )
  assert.ok(
    (await delayOf(
      time,
      throttle.run('a', () => Promise.resolve(true)),
    )) > 0,
  )
  assert.equal(notices.collect(), JSON.stringify({ failures: [['a', true, 0]] }))
})

test('a check that throws counts neither way and frees its place', async () => {
  const { time, throttle, fail } = setUp()
  for (let attempt = 0; attempt < 20; attempt++) {
    const broken = throttle.run('user', () => Promise.reject(new TypeError('broken')))
    await assert.rejects(broken, TypeError)
  }
  assert.equal(await delayOf(time, fail()), 0)
})

// The time that decides about removal by age: a clock that jumps is trusted only after a day of running.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { leapWarning, RemovalTime, type TimeMemory } from '../../../src/base/removal-time.ts'

const hour = 3_600_000_000
const day = 24 * hour
const start = 1_700_000_000_000_000

/** A machine whose clock can be set, and whose disk survives restarts of its services. */
class Machine {
  wall = start
  #steadyMs = 0
  stored: TimeMemory | undefined
  readonly leaps: number[] = []

  /** Advances both clocks. */
  pass(micros: number): void {
    this.wall += micros
    this.#steadyMs += micros / 1000
  }

  service(): RemovalTime {
    return new RemovalTime({
      clock: { now: () => micros(this.wall), elapsedMs: () => this.#steadyMs },
      load: () => this.stored,
      save: async memory => {
        this.stored = memory
      },
      onLeap: ahead => this.leaps.push(ahead),
    })
  }
}

test('the removal time follows a clock that behaves', async () => {
  const machine = new Machine()
  const time = machine.service()
  for (let hours = 0; hours < 50; hours++) {
    assert.equal(time.now(), machine.wall)
    machine.pass(hour)
    await time.saveTime()
  }
  machine.wall -= hour
  assert.equal(time.now(), machine.wall)
  machine.wall += 2 * hour
  assert.equal(time.now(), machine.wall)
  // The service is stopped for a night.
  machine.wall += 20 * hour
  assert.equal(machine.service().now(), machine.wall)
  assert.deepEqual(machine.leaps, [])
})

test('a jump of a year and back removes nothing, also over restarts', async () => {
  const machine = new Machine()
  const first = machine.service()
  await first.saveTime()
  machine.pass(hour)
  machine.wall += 365 * day
  assert.equal(first.now(), start + hour)
  machine.pass(hour)
  await first.saveTime()
  assert.deepEqual(machine.leaps, [365 * day])
  const second = machine.service()
  assert.equal(second.now(), start + 2 * hour)
  assert.equal(machine.leaps.length, 2)
  machine.pass(hour)
  machine.wall -= 365 * day
  assert.equal(second.now(), start + 3 * hour)
  await second.saveTime()
  assert.equal(machine.service().now(), start + 3 * hour)
  assert.equal(machine.leaps.length, 2)
})

test('a corrected clock is trusted after a day of running, despite restarts', async () => {
  const machine = new Machine()
  await machine.service().saveTime()
  machine.wall += 30 * day
  for (let run = 0; run < 20; run++) {
    const time = machine.service()
    assert.equal(time.now() < machine.wall - 29 * day, true)
    machine.pass(hour)
    time.now()
    machine.pass(601_000_000)
    await time.saveTime()
    // Time without a running service is not counted.
    machine.wall += hour
  }
  const last = machine.service()
  last.now()
  machine.pass(day)
  assert.equal(last.now(), machine.wall)
  await last.saveTime()
  assert.equal(machine.service().now(), machine.wall)
})

test('a second jump restarts the wait', () => {
  const machine = new Machine()
  const time = machine.service()
  time.now()
  machine.wall += 2 * day
  time.now()
  machine.pass(23 * hour)
  machine.wall += 365 * day
  assert.equal(time.now(), start + 23 * hour)
  machine.pass(23 * hour)
  assert.equal(time.now(), start + 46 * hour)
  assert.deepEqual(machine.leaps, [2 * day, 367 * day])
})

test('a clock that is far behind limits the removal time, and is trusted after a day as well', async () => {
  const machine = new Machine()
  machine.wall = start + 3650 * day
  const time = machine.service()
  await time.saveTime()
  machine.wall = start
  assert.equal(time.now(), start)
  machine.pass(day)
  assert.equal(time.now(), start + day)
  await time.saveTime()
  machine.wall += 365 * day
  assert.equal(machine.service().now(), start + day)
})

test('the state is saved at intervals, and a failed save is not repeated at every call', async () => {
  let saves = 0
  let steadyMs = 0
  const time = new RemovalTime({
    clock: { now: () => micros(start + steadyMs * 1000), elapsedMs: () => steadyMs },
    load: () => undefined,
    save: async () => {
      saves++
      throw new Error('no space')
    },
    onLeap: () => assert.fail(),
  })
  await assert.rejects(time.saveTime())
  for (let second = 0; second < 500; second++) {
    steadyMs += 1000
    await time.saveTime()
  }
  assert.equal(saves, 1)
  steadyMs += 100_000
  await assert.rejects(time.saveTime())
  assert.equal(saves, 2)
})

test('the warning names the data and the size of the jump', () => {
  assert.match(leapWarning('logs', 365 * day), /^the clock is 365\.0 days ahead of .* expired logs are kept/)
  assert.match(leapWarning('logs', -2 * day), /^the clock is 2\.0 days behind/)
})

// The time of day that a node derives from the database.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import { RecordClock } from '../../src/storage/postgres/record-clock.ts'

const begin = 1_700_000_000_000_000

function setUp() {
  let ms = 0
  const clock = new RecordClock(() => ms)
  return {
    clock,
    /** The answer to a request from `requestedMs` arrives at `atMs` and shows the time `shownMs` after the beginning. */
    answer(shownMs: number, atMs: number, requestedMs = atMs) {
      ms = atMs
      clock.learn(micros(begin + shownMs * 1000), requestedMs)
    },
    /** Milliseconds since the beginning by the clock. */
    shows(atMs: number) {
      ms = atMs
      return (clock.now() - begin) / 1000
    },
  }
}

test('a late response does not delay the clock', () => {
  const { answer, shows } = setUp()
  answer(1, 1)
  assert.equal(shows(2), 2)
  answer(12, 212)
  assert.ok(shows(213) > 212)
})

test('an answer that arrives after a pause of the process does not set the clock back', () => {
  const { answer, shows } = setUp()
  answer(0, 0)
  answer(10, 690_010, 10)
  assert.ok(shows(690_010) > 689_000)
})

test('a node whose clock runs fast follows the slower one of the database', () => {
  const { answer, shows } = setUp()
  answer(0, 0)
  for (let ms = 10; ms <= 100_000; ms += 10) answer(ms * 0.9999, ms)
  assert.ok(Math.abs(shows(100_000) - 99_990) < 0.1)
})

test('a clock that was set back pauses until the time has caught up, and then continues', () => {
  const { answer, shows } = setUp()
  answer(5_000, 0)
  assert.equal(shows(0), 5_000)
  answer(100, 100)
  assert.equal(shows(100), 5_000)
  assert.equal(shows(6_000), 6_000)
})

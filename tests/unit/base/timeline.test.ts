// The agreement about time: what each side may rely on, in one process and through the shared file.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { endOfTime, epoch, micros } from '../../../src/base/micros.ts'
import { keepSharedTimeline, openSharedTimeline } from '../../../src/base/shared-timeline.ts'
import { commitDistance, localTimeline } from '../../../src/base/timeline.ts'
import type { Timers } from '../../../src/base/timers.ts'

const folder = mkdtempSync(join(tmpdir(), 'terrarium-timeline-'))
after(() => rmSync(folder, { recursive: true }))

/** Timers whose only repeated call the test makes by hand. */
function handTimers(): Timers & { tick(): void } {
  let repeated = () => {}
  return {
    after: () => () => undefined,
    every(_ms, callback) {
      repeated = callback
      return () => {
        repeated = () => {}
      }
    },
    tick: () => repeated(),
  }
}

test('a local timeline stands still while the clock is set back', () => {
  let clock = 1000
  const timeline = localTimeline(() => micros(clock))
  assert.equal(timeline.now(), 1000)
  clock = 400
  assert.equal(timeline.now(), 1000)
  clock = 1001
  assert.equal(timeline.now(), 1001)
})

test('announced commits come one after another, each later than what was read from the clock', () => {
  let clock = 1000
  const timeline = localTimeline(() => micros(clock))
  assert.equal(timeline.oldestAnnounced(), endOfTime)
  const first = timeline.announce(epoch)
  assert.ok(first.time > timeline.now())
  const second = timeline.announce(micros(5000))
  assert.equal(second.time, 5000)
  const third = timeline.announce(epoch)
  assert.ok(third.time >= second.time + commitDistance)
  first.end()
  assert.equal(timeline.oldestAnnounced(), second.time)
  third.end()
  second.end()
  assert.equal(timeline.oldestAnnounced(), endOfTime)
  clock = 9000
  assert.ok(timeline.announce(epoch).time > 9000)
})

test('announcements are seen by the others until they end or another process takes the place of theirs', () => {
  const file = join(folder, 'announcements')
  const stop = keepSharedTimeline(file, 2, () => 1_700_000_000_000_000, handTimers())
  const [writer, reader] = [openSharedTimeline(file, 0), openSharedTimeline(file, 1)]
  assert.equal(reader.oldestAnnounced(), endOfTime)
  const seen = reader.now()
  const commit = writer.announce(epoch)
  assert.ok(commit.time > seen, 'commits come after every time answered before')
  assert.ok(reader.oldestAnnounced() > 0 && reader.oldestAnnounced() <= commit.time)
  const own = reader.announce(micros(commit.time + 500))
  assert.ok(writer.oldestAnnounced() <= commit.time, 'the oldest of all processes counts')
  commit.end()
  // What is announced is a time that the commit has at the earliest.
  const oldest = writer.oldestAnnounced()
  assert.ok(oldest >= commit.time + 500 && oldest <= own.time)
  own.end()
  assert.equal(writer.oldestAnnounced(), endOfTime)
  writer.announce(epoch)
  assert.ok(Number.isFinite(reader.oldestAnnounced()))
  const successor = openSharedTimeline(file, 0)
  assert.equal(reader.oldestAnnounced(), endOfTime, 'a process that has ended')
  stop()
  for (const timeline of [writer, reader, successor]) timeline.close()
})

test('all follow the time of day forwards, and nobody follows it back', () => {
  const file = join(folder, 'offset')
  const hour = 3_600_000_000
  let clock = 1_700_000_000_000_000
  const timers = handTimers()
  const stop = keepSharedTimeline(file, 1, () => clock, timers)
  const timeline = openSharedTimeline(file, 0)
  const first = timeline.now()
  assert.ok(first >= clock && first < clock + hour / 2)
  clock += hour
  timers.tick()
  timeline.oldestAnnounced()
  const second = timeline.now()
  assert.ok(second >= clock && second < clock + hour / 2)
  clock -= 2 * hour
  timers.tick()
  timeline.oldestAnnounced()
  assert.ok(timeline.now() >= second)
  stop()
  timeline.close()
})

// The agreement about time: what each side may rely on, in one process and through the shared file.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keepSharedTimeline, openSharedTimeline } from '../../../src/base/shared-timeline.ts'
import { localTimeline } from '../../../src/base/timeline.ts'
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
  const timeline = localTimeline(() => clock)
  assert.equal(timeline.now(), 1000)
  clock = 400
  assert.equal(timeline.now(), 1000)
  clock = 1001
  assert.equal(timeline.now(), 1001)
})

test('announcements are seen by the others until they are taken back', () => {
  const file = join(folder, 'announcements')
  const stop = keepSharedTimeline(file, () => 1_700_000_000_000_000, handTimers())
  const [writer, reader] = [openSharedTimeline(file), openSharedTimeline(file)]
  assert.equal(reader.announced(), 0)
  const seen = reader.now()
  const from = writer.now()
  assert.ok(writer.announce(from - 1, from) > seen, 'commits come after every time answered before')
  assert.equal(reader.announced(), from)
  assert.equal(reader.oldestAnnounced(), from - 1)
  writer.announce(0, 0)
  assert.equal(reader.announced(), 0)
  writer.announce(from, from)
  stop()
  const stopAgain = keepSharedTimeline(file, () => 1_700_000_000_000_000, handTimers())
  assert.equal(reader.announced(), 0, 'a new start knows of nothing')
  stopAgain()
  writer.close()
  reader.close()
})

test('all follow the time of day forwards, and nobody follows it back', () => {
  const file = join(folder, 'offset')
  const hour = 3_600_000_000
  let clock = 1_700_000_000_000_000
  const timers = handTimers()
  const stop = keepSharedTimeline(file, () => clock, timers)
  const timeline = openSharedTimeline(file)
  const first = timeline.now()
  assert.ok(first >= clock && first < clock + hour / 2)
  clock += hour
  timers.tick()
  timeline.announced()
  const second = timeline.now()
  assert.ok(second >= clock && second < clock + hour / 2)
  clock -= 2 * hour
  timers.tick()
  timeline.announced()
  assert.ok(timeline.now() >= second)
  stop()
  timeline.close()
})

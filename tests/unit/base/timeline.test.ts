// The agreement of readers and writers about time, within one process and through the shared file.

import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endOfTime, epoch, micros } from '../../../src/base/micros.ts'
import {
  AnnouncedCommits,
  commitDistance,
  localTimeline,
  maintainSharedTimeline,
  openSharedTimeline,
  type Timeline,
} from '../../../src/base/timeline.ts'
import type { Timers } from '../../../src/base/timers.ts'
import { folderOfFile } from '../../support/folder.ts'

const folder = folderOfFile()

/** Timers whose only repeated call is made by the test. */
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

/** The oldest announced time as a reader of the timeline sees it, if it is before the time of day. */
function oldestOf(timeline: Timeline): number {
  const { now, upTo } = timeline.reach()
  assert.ok(upTo !== undefined)
  return upTo < now ? upTo + 1 : endOfTime
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

test('announced commits are ordered, each later than the last reading of the clock', () => {
  let clock = 1000
  const timeline = localTimeline(() => micros(clock))
  assert.equal(oldestOf(timeline), endOfTime)
  const first = timeline.announce(epoch)
  assert.ok(first.time > timeline.now())
  const second = timeline.announce(micros(5000))
  assert.equal(second.time, 5000)
  const third = timeline.announce(epoch)
  assert.ok(third.time >= second.time + commitDistance)
  clock = 6000
  first.end()
  assert.equal(oldestOf(timeline), second.time)
  third.end()
  second.end()
  assert.equal(oldestOf(timeline), endOfTime)
  clock = 9000
  assert.ok(timeline.announce(epoch).time > 9000)
})

test('announcements are visible to other processes until they end or a successor process replaces them', () => {
  const file = join(folder, 'announcements')
  const stop = maintainSharedTimeline(file, 2, () => 1_700_000_000_000_000, handTimers())
  const [writer, reader] = [openSharedTimeline(file, 0), openSharedTimeline(file, 1)]
  assert.equal(oldestOf(reader), endOfTime)
  const seen = reader.now()
  const commit = writer.announce(epoch)
  assert.ok(commit.time > seen, 'commits come after every time answered before')
  assert.equal(reader.reach().upTo, commit.time - 1)
  const own = reader.announce(epoch)
  assert.equal(writer.reach().upTo, commit.time - 1, 'the oldest of all processes counts')
  commit.end()
  assert.equal(writer.reach().upTo, own.time - 1)
  own.end()
  assert.equal(oldestOf(writer), endOfTime)
  const left = writer.announce(epoch)
  assert.equal(reader.reach().upTo, left.time - 1)
  const successor = openSharedTimeline(file, 0)
  assert.equal(oldestOf(reader), endOfTime, 'a process that has ended')
  stop()
  for (const timeline of [writer, reader, successor]) timeline.close()
})

test('times never go back from one process to another, even when the offset grows', () => {
  const file = join(folder, 'order')
  let clock = 1_700_000_000_000_000
  const timers = handTimers()
  const stop = maintainSharedTimeline(file, 2, () => clock, timers)
  const timelines = [openSharedTimeline(file, 0), openSharedTimeline(file, 1)] as const
  const idle = openSharedTimeline(file, 0)
  let latest = 0
  for (let step = 0; step < 2000; step++) {
    const { upTo = 0 } = timelines[step % 2 === 0 ? 0 : 1].reach()
    assert.ok(upTo >= latest, `step ${step} went back by ${latest - upTo}`)
    latest = upTo
    if (step % 500 === 0) {
      clock += 3_600_000_000
      timers.tick()
      // This process has not read the file for long, and has announced nothing yet.
      const { upTo: later = 0 } = idle.reach()
      assert.ok(later >= latest + 3_000_000_000)
      latest = later
    }
    const commit = timelines[step % 3 === 0 ? 0 : 1].announce(epoch)
    assert.ok(commit.time > latest)
    const { upTo: beside = 0 } = idle.reach()
    assert.ok(beside >= latest && beside < commit.time)
    latest = beside
    commit.end()
  }
  stop()
  for (const timeline of [...timelines, idle]) timeline.close()
})

test('while a process determines the time of its commit, other processes get no time', () => {
  const file = join(folder, 'announcing')
  const stop = maintainSharedTimeline(file, 2, () => 1_700_000_000_000_000, handTimers())
  const [writer, reader] = [openSharedTimeline(file, 0), openSharedTimeline(file, 1)]
  const seen: (number | undefined)[] = []
  const own = new AnnouncedCommits(oldest => seen.push(oldest))
  const commit = own.begin(epoch, () => {
    assert.deepEqual(seen, [undefined], 'said before the clock is read')
    return micros(7)
  })
  assert.deepEqual([seen, commit.time], [[undefined, 8], 8])
  // The state that a process leaves when it is killed between the two writes.
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, new Uint8Array(new Float64Array([-1]).buffer), 0, 8, 8)
  closeSync(descriptor)
  assert.equal(reader.reach().upTo, undefined)
  const successor = openSharedTimeline(file, 0)
  assert.equal(oldestOf(reader), endOfTime)
  stop()
  for (const timeline of [writer, reader, successor]) timeline.close()
})

test('all processes follow the time of day forwards, and none follows it back', () => {
  const file = join(folder, 'offset')
  const hour = 3_600_000_000
  let clock = 1_700_000_000_000_000
  const timers = handTimers()
  const stop = maintainSharedTimeline(file, 1, () => clock, timers)
  const timeline = openSharedTimeline(file, 0)
  const first = timeline.now()
  assert.ok(first >= clock && first < clock + hour / 2)
  clock += hour
  timers.tick()
  oldestOf(timeline)
  const second = timeline.now()
  assert.ok(second >= clock && second < clock + hour / 2)
  clock -= 2 * hour
  timers.tick()
  oldestOf(timeline)
  assert.ok(timeline.now() >= second)
  stop()
  timeline.close()
})

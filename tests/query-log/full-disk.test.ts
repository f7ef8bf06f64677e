// A disk that is full when the service starts: the log begins when there is room, and the service does not wait for it.

import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { livePath } from '../../src/query-log/segment-files.ts'
import { SegmentWriter } from '../../src/query-log/segment-writer.ts'
import { temporaryFolder } from '../support/program.ts'

test('a writer begins on a full disk, says so once, and is known to the others when there is room', async () => {
  const folder = await temporaryFolder()
  let isFull = true
  const losses: unknown[] = []
  const writer = new SegmentWriter({
    folder,
    writer: 'a1',
    clock: systemClock,
    timers: systemTimers,
    segmentBytes: 1000,
    segmentMs: 60_000,
    onLoss: records => losses.push(records),
    touch: path => {
      if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      writeFileSync(path, '')
    },
  })
  await writer.flush()
  assert.deepEqual([losses, existsSync(livePath(folder, 'a1'))], [[0], false])
  isFull = false
  await writer.flush()
  assert.deepEqual([losses, existsSync(livePath(folder, 'a1'))], [[0], true])
  await writer.close()
  rmSync(folder, { recursive: true })
})

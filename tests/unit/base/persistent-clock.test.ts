// A clock that does not step back over restarts, whatever happens to its file.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPersistentClock } from '../../../src/base/clock.ts'
import { epoch, micros } from '../../../src/base/micros.ts'
import { folderOfFile } from '../../support/folder.ts'

const folder = folderOfFile()

test('the time continues exactly after a clean stop', () => {
  const file = join(folder, 'clean')
  const first = openPersistentClock(file, 100, () => micros(5000))
  assert.equal(first.now(), 5000)
  first.close()
  let clock = 1000
  const second = openPersistentClock(file, 100, () => micros(clock))
  assert.equal(second.now(), 5000)
  clock = 5001
  assert.equal(second.now(), 5001)
  second.close()
  assert.equal(openPersistentClock(file, 100, () => epoch).now(), 5001)
})

test('after crashes the clock is ahead by at most the given amount', () => {
  const file = join(folder, 'crash')
  let clock = 5000
  const crashed = openPersistentClock(file, 100, () => micros(clock))
  crashed.now()
  clock = 5099
  crashed.now()
  for (let crash = 0; crash < 10; crash++) {
    const { now } = openPersistentClock(file, 100, () => micros(1000))
    assert.equal(now(), 5100)
  }
})

test('a file with other content counts as missing', () => {
  const file = join(folder, 'damaged')
  openPersistentClock(file, 100, () => micros(5000)).close()
  const untouched = openPersistentClock(file, 100, () => micros(7000))
  untouched.now()
  const bytes = readFileSync(file)
  for (const damaged of [bytes.subarray(0, 5), Buffer.alloc(0), Buffer.from(bytes).fill(0x7f, 0, 3)]) {
    writeFileSync(file, damaged)
    assert.equal(openPersistentClock(file, 100, () => micros(10)).now(), 10)
  }
})

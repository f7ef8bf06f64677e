// Checks whether a recorded process is still alive, and is the same process.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { isAlive, processMark } from '../../../src/base/system-process.ts'

const skip = process.platform === 'linux' ? false : 'only Linux has /proc'

test('a process is alive until it has exited', { skip }, async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  const pid = child.pid as number
  const mark = processMark(pid)
  assert.equal(isAlive(pid, mark), true)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  assert.equal(isAlive(pid, mark), false)
  assert.equal(processMark(pid), undefined)
})

test('a process that reuses the number is not the recorded one', { skip }, () => {
  const mark = processMark(process.pid) as string
  assert.equal(isAlive(process.pid, mark), true)
  assert.equal(isAlive(process.pid, mark.replace(/\d+$/, '1')), false)
})

test('nothing is known about processes of another machine, another boot or another container', () => {
  const mark = processMark(process.pid) ?? ''
  assert.equal(isAlive(process.pid, `elsewhere ${mark}`), undefined)
  assert.equal(isAlive(process.pid, undefined), undefined)
})

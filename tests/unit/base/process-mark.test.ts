// Whether a process that was noted still lives, and is the same one.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { isAlive, processMark } from '../../../src/base/process-mark.ts'

const skip = process.platform === 'linux' ? false : 'only Linux tells'

test('a process lives until it has ended', { skip }, async () => {
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

test('another one that got its number is not it', { skip }, () => {
  const mark = processMark(process.pid) as string
  assert.equal(isAlive(process.pid, mark), true)
  assert.equal(isAlive(process.pid, mark.replace(/\d+$/, '1')), false)
})

test('of another machine, another start of it or another container nothing can be told', () => {
  const mark = processMark(process.pid) ?? ''
  assert.equal(isAlive(process.pid, `elsewhere ${mark}`), undefined)
  assert.equal(isAlive(process.pid, undefined), undefined)
})

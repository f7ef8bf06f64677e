// Bounded work: so many at a time, so many waiting, the rest refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueueFull, WorkQueue } from '../../../src/base/work-queue.ts'

test('work runs in order, at most so many at a time; a full queue refuses', async () => {
  const queue = new WorkQueue(2, 2)
  const started: number[] = []
  const finish: (() => void)[] = []
  const work = (name: number) =>
    queue.run(() => {
      started.push(name)
      return new Promise<number>(resolve => finish.push(() => resolve(name)))
    })
  const results = [work(1), work(2), work(3), work(4)]
  await assert.rejects(work(5), error => error instanceof QueueFull)
  assert.deepEqual(started, [1, 2])
  finish[1]?.()
  assert.equal(await results[1], 2)
  assert.deepEqual(started, [1, 2, 3])
  finish[0]?.()
  assert.equal(await results[0], 1)
  assert.deepEqual(started, [1, 2, 3, 4])
  finish[2]?.()
  finish[3]?.()
  assert.deepEqual(await Promise.all(results), [1, 2, 3, 4])
})

test('work that fails gives its place back', async () => {
  const queue = new WorkQueue(1, 1)
  const failing = queue.run(() => Promise.reject(new TypeError('no')))
  const throwing = queue.run(() => {
    throw new TypeError('at once')
  })
  await assert.rejects(failing, TypeError)
  await assert.rejects(throwing, TypeError)
  assert.equal(await queue.run(() => Promise.resolve('fine')), 'fine')
})

// The number of waiting transactions that a commit takes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitQueue } from '../../src/storage/kv/commit-queue.ts'

/** Adds transactions that arrive within `arrivalMs` milliseconds, from `sinceMs` on. */
function addJobs(queue: CommitQueue, count: number, arrivalMs: number, sinceMs = 0): void {
  for (let job = 0; job < count; job++) {
    const arrivedMs = sinceMs + (job === 0 ? 0 : arrivalMs)
    void queue.add(() => ({ result: undefined, writes: [] }), arrivedMs)
  }
}

test('before the first flush, a commit takes all transactions', () => {
  const queue = new CommitQueue()
  addJobs(queue, 32, 1000)
  assert.equal(queue.take().length, 32)
})

test('a commit takes half of the transactions when evaluation and disk wait for each other', () => {
  for (const [waiting, taken] of [
    [32, 16],
    [3, 2],
  ] as const) {
    const queue = new CommitQueue()
    queue.flushed(3)
    addJobs(queue, waiting, 6)
    assert.equal(queue.take().length, taken)
  }
})

test('transactions in two alternating groups stay in two groups', () => {
  const queue = new CommitQueue()
  queue.flushed(3)
  addJobs(queue, 32, 6)
  assert.equal(queue.take().length, 16)
  queue.flushed(3)
  assert.equal(queue.take().length, 16)
  addJobs(queue, 16, 6, 10)
  assert.equal(queue.take().length, 16)
})

test('when the flush takes longer, a commit takes all transactions', () => {
  const queue = new CommitQueue()
  queue.flushed(20)
  addJobs(queue, 32, 6)
  assert.equal(queue.take().length, 32)
})

// The number of waiting transactions that a commit takes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitPace } from '../../src/storage/kv/commit-queue.ts'

test('before the first flush, a commit takes all transactions', () => {
  assert.equal(new CommitPace().take(32, 1000), 32)
})

test('a commit takes half of the transactions when evaluation and disk wait for each other', () => {
  const pace = new CommitPace()
  pace.flushed(3, 0)
  assert.equal(pace.take(32, 6), 16)
  assert.equal(pace.take(3, 6), 2)
  assert.equal(pace.take(1, 6), 1)
})

test('transactions in two alternating groups stay in two groups', () => {
  const pace = new CommitPace()
  pace.flushed(3, 0)
  assert.equal(pace.take(32, 6), 16)
  pace.flushed(3, 16)
  assert.equal(pace.take(16, 6), 16)
})

test('when the flush takes longer, a commit takes all transactions', () => {
  const pace = new CommitPace()
  pace.flushed(20, 0)
  assert.equal(pace.take(32, 6), 32)
})

// How much of what waits a commit takes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitPace } from '../../src/storage/kv/commit-pace.ts'

test('before anything is known of the disk, a commit takes all', () => {
  assert.equal(new CommitPace().take(32, 1000), 32)
})

test('half of the transactions are taken when evaluation and disk wait for each other', () => {
  const pace = new CommitPace()
  pace.flushed(3, 0)
  assert.equal(pace.take(32, 6), 16)
  assert.equal(pace.take(3, 6), 2)
  assert.equal(pace.take(1, 6), 1)
})

test('two groups stay two groups', () => {
  const pace = new CommitPace()
  pace.flushed(3, 0)
  assert.equal(pace.take(32, 6), 16)
  pace.flushed(3, 16)
  assert.equal(pace.take(16, 6), 16)
})

test('where the flush takes longer, everybody waits for one', () => {
  const pace = new CommitPace()
  pace.flushed(20, 0)
  assert.equal(pace.take(32, 6), 32)
})

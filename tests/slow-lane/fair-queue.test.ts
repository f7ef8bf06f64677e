// Whose turn it is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue } from '../../src/slow-lane/fair-queue.ts'

const all = () => true

test('queues take turns, however much is waiting in one of them', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.add('a', item)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  queue.add('b', 'b2')
  const taken = Array.from({ length: 7 }, () => queue.take(all))
  assert.deepEqual(taken, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  assert.equal(queue.take(all), undefined)
})

test('a queue that may not run is passed over and keeps its turn', () => {
  const queue = new FairQueue<string>()
  queue.add('a', 'a1')
  queue.add('b', 'b1')
  assert.equal(
    queue.take(name => name !== 'a'),
    'b1',
  )
  assert.equal(
    queue.take(name => name !== 'a'),
    undefined,
  )
  assert.equal(queue.take(all), 'a1')
})

test('what is taken out does not wait any more', () => {
  const queue = new FairQueue<string>()
  queue.add('a', 'a1')
  queue.add('a', 'a2')
  queue.remove('a', 'a1')
  queue.remove('a', 'a1')
  assert.equal(queue.size, 1)
  assert.equal(queue.lengthOf('a'), 1)
  queue.remove('a', 'a2')
  assert.equal(queue.size + queue.lengthOf('a'), 0)
  assert.equal(queue.take(all), undefined)
})

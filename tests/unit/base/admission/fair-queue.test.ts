// The queue of expensive operations: owners take turns on every level, and the owner with the most operations is
// rejected first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, FairRunner } from '../../../../src/base/admission/fair-queue.ts'

/** A queue with one slot, occupied until `open` is called, and the order in which operations ran. */
function blockedQueue(waitingMax: number) {
  const queue = new FairRunner(1, waitingMax, () => new RangeError('full'))
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.run(['first', ''], () => gate.promise)
  const add = (tenant: string, guesser: string, name = `${tenant}${guesser}`) =>
    queue.run([tenant, guesser], () => {
      order.push(name)
      return Promise.resolve()
    })
  const open = async () => {
    gate.resolve()
    await first
  }
  return { add, open, order, queue }
}

test('owners take turns, however many operations one of them has waiting', async () => {
  const { add, open, order } = blockedQueue(100)
  const all = Array.from({ length: 5 }, (_, at) => add('greedy', 'x', `g${at}`))
  all.push(add('modest', 'y', 'm0'), add('late', 'z', 'l0'), add('modest', 'y', 'm1'))
  await open()
  await Promise.all(all)
  assert.deepEqual(order, ['g0', 'm0', 'l0', 'g1', 'm1', 'g2', 'g3', 'g4'])
})

test('nested owners take turns within their owner', async () => {
  const { add, open, order } = blockedQueue(100)
  const all = ['a', 'a', 'a', 'b'].map(guesser => add('t', guesser))
  all.push(add('u', 'c'))
  await open()
  await Promise.all(all)
  assert.deepEqual(order, ['ta', 'uc', 'tb', 'ta', 'ta'])
})

test('when too many operations wait, the owner with the most is rejected, not the newcomer', async () => {
  const { add, open, order } = blockedQueue(4)
  const greedy = Array.from({ length: 4 }, (_, at) => add('greedy', at < 3 ? 'x' : 'y', `g${at}`))
  const outcomes = Promise.allSettled(greedy)
  const modest = add('modest', 'z', 'm')
  await open()
  await modest
  const rejected = (await outcomes).map(({ status }) => status)
  assert.deepEqual(rejected, ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  await assert.rejects(greedy[2] as Promise<void>, RangeError)
  assert.deepEqual([...order].sort(), ['g0', 'g1', 'g3', 'm'])
})

test('a failed operation frees its slot', async () => {
  const queue = new FairRunner(1, 1, () => new RangeError('full'))
  await assert.rejects(
    queue.run(['a'], () => Promise.reject(new TypeError('broken'))),
    TypeError,
  )
  assert.equal(await queue.run(['a'], () => Promise.resolve(1)), 1)
})

test('queues take turns, however many items one of them has', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.add(['a'], item)
  queue.add(['b'], 'b1')
  queue.add(['c'], 'c1')
  queue.add(['b'], 'b2')
  const taken = Array.from({ length: 7 }, () => queue.take())
  assert.deepEqual(taken, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  assert.equal(queue.take(), undefined)
})

test('a queue that may not run is skipped and keeps its turn', () => {
  const queue = new FairQueue<string>()
  queue.add(['a'], 'a1')
  queue.add(['b'], 'b1')
  assert.equal(
    queue.take(name => name !== 'a'),
    'b1',
  )
  assert.equal(
    queue.take(name => name !== 'a'),
    undefined,
  )
  assert.equal(queue.take(), 'a1')
})

test('a removed item does not wait any longer', () => {
  const queue = new FairQueue<string>()
  queue.add(['a'], 'a1')
  queue.add(['a'], 'a2')
  queue.remove(['a'], 'a1')
  queue.remove(['a'], 'a1')
  assert.equal(queue.size, 1)
  assert.equal(queue.lengthOf('a'), 1)
  queue.remove(['a'], 'a2')
  assert.equal(queue.size + queue.lengthOf('a'), 0)
  assert.equal(queue.take(), undefined)
})

// The background work of the store, with timers that the test fires.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timers } from '../../../../src/base/timers.ts'
import { documentRange } from '../../../../src/storage/keys/keyspace.ts'
import { Background, startBackground } from '../../../../src/storage/store/background.ts'
import { Bench, createCollection, createIndex, data, documentRef, field } from './support.ts'

/** Timers that the test fires. */
class ManualTimers implements Timers {
  readonly #waiting = new Set<() => void>()

  after(_ms: number, callback: () => void): () => void {
    this.#waiting.add(callback)
    return () => this.#waiting.delete(callback)
  }

  every(): () => void {
    throw new RangeError('not used')
  }

  get waiting(): number {
    return this.#waiting.size
  }

  fire(): void {
    for (const callback of [...this.#waiting]) {
      this.#waiting.delete(callback)
      callback()
    }
  }
}

test('background work goes on step by step until it is stopped', async () => {
  await using bench = new Bench()
  const index = await bench.write(transaction => {
    const users = createCollection(transaction, 'users')
    for (let id = 0; id < 200; id++) transaction.put(documentRef(users, id), data({ n: 1n }))
    return createIndex(transaction, 'by_n', { source: users, terms: [field('n')] })
  })
  const timers = new ManualTimers()
  const errors: unknown[] = []
  const background = startBackground(bench.store, timers, error => errors.push(error))
  while (!bench.isActive(index)) {
    timers.fire()
    while (timers.waiting === 0) await new Promise(resolve => setImmediate(resolve))
  }
  assert.equal(bench.isActive(index), true)
  await background.stop()
  assert.equal(timers.waiting, 0)
  assert.deepEqual(errors, [])
})

test('removals continue although a build fails with every step', async () => {
  await using bench = new Bench()
  const removed = await bench.write(transaction => {
    const users = createCollection(transaction, 'users')
    for (let id = 0; id < 200; id++) transaction.put(documentRef(users, id), data({ n: 1n }))
    createIndex(transaction, 'by_n', { source: users, terms: [field('n')] })
    const others = createCollection(transaction, 'others')
    for (let id = 0; id < 200; id++) transaction.put(documentRef(others, id), data({ n: 1n }))
    return others
  })
  await bench.delete(removed)
  const { pauseAfter } = bench.store
  bench.store.pauseAfter = () => {
    throw new RangeError('the build writes too much')
  }
  const background = new Background(bench.store)
  const rows = () =>
    bench.kv.read(view => [...view.range(documentRange(removed.database, Number(removed.id)))].length)
  assert.equal(rows(), 200)
  for (let step = 0; step < 50 && rows() > 0; step++)
    await assert.rejects(background.runOnce(), /the build writes too much/)
  assert.equal(rows(), 0)
  bench.store.pauseAfter = pauseAfter
})

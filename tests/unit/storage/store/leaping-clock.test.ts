// A clock that leaps a year forward and back: data with a retention of that year is not removed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { historyRange } from '../../../../src/storage/keys/keyspace.ts'
import { Background, removalTimeOf } from '../../../../src/storage/store/background.ts'
import { Bench, data, day, documentRef, second } from './support.ts'

test('history and expired documents outlive a leap of the clock, and are removed when it is confirmed', async () => {
  await using bench = new Bench()
  let wall = bench.now
  let steadyMs = 0
  const pass = (micros: number) => {
    wall += micros
    bench.now = Math.max(bench.now, wall)
    steadyMs += micros / 1000
  }
  const leaps: number[] = []
  const start = () =>
    new Background(
      bench.store,
      error => assert.fail(String(error)),
      undefined,
      removalTimeOf(bench.store, { now: () => micros(wall), elapsedMs: () => steadyMs }, ahead =>
        leaps.push(ahead),
      ),
    )
  const users = await bench.createCollection('users', { history_days: 30n })
  const kept = documentRef(users, 1n)
  const mortal = documentRef(users, 2n)
  for (let n = 0n; n < 5n; n++) {
    pass(second)
    await bench.put(kept, data({ n }))
  }
  await bench.put(mortal, data({}, wall + 60 * day))
  const rows = () => bench.kv.read(view => [...view.range(historyRange(kept))].length)
  const run = async (background: Background) => {
    await background.runOnce()
    await background.runAll()
  }
  const first = start()
  await run(first)
  assert.equal(rows(), 4)

  wall += 365 * day
  bench.now = wall
  await run(first)
  await run(start())
  assert.equal(rows(), 4)
  assert.equal(leaps.length, 2)
  assert.equal(bench.get(mortal), undefined)

  wall -= 365 * day
  bench.now = wall
  const back = start()
  await run(back)
  assert.equal(rows(), 4)
  assert.equal(leaps.length, 2)

  wall += 365 * day
  await run(back)
  pass(day)
  await run(back)
  assert.equal(rows(), 0)
})

// How many requests are begun in a turn of the event loop: fewer when turns take long, one of each connection always.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Exchange } from '../../src/http/exchange.ts'
import { Turns, type TurnTaker } from '../../src/http/turns.ts'
import { limits } from '../../src/limits.ts'

const connection = (): TurnTaker => ({ begun: 0, waiting: undefined, hold: () => undefined })
const exchange = (url: string, isGone = false) => ({ url, isGone }) as Exchange

/** Requests that take so long each, by a clock of their own. */
function service(costMs: number) {
  let nowMs = 0
  const handled: string[] = []
  const turns = new Turns(
    ({ url }) => {
      handled.push(url)
      nowMs += costMs
    },
    { now: () => 0, elapsedMs: () => nowMs },
  )
  return { turns, handled }
}

test('cheap requests are begun sixteen of a connection at a time, in their order', async () => {
  const { turns, handled } = service(0)
  const taker = connection()
  const all = Array.from({ length: 100 }, (_, at) => `${at}`)
  for (const url of all) turns.take(taker, exchange(url, url === '50'))
  assert.equal(handled.length, limits.requestsPerTurn)
  while (taker.waiting) await setImmediate()
  assert.deepEqual(
    handled,
    all.filter(url => url !== '50'),
  )
})

test('expensive ones are begun one of each connection, and a newcomer at once', async () => {
  const { turns, handled } = service(1000)
  const greedy = [connection(), connection()]
  for (const [name, taker] of greedy.entries()) {
    for (let at = 0; at < 100; at++) turns.take(taker, exchange(`${name}`))
  }
  await setImmediate()
  for (let turn = 0; turn < 10; turn++) {
    const before = handled.length
    turns.take(connection(), exchange('newcomer'))
    assert.equal(handled.at(-1), 'newcomer')
    await setImmediate()
    assert.deepEqual(handled.slice(before + 1).sort(), ['0', '1'])
  }
})

test('connections share what a turn has room for, and it grows again when requests become cheap', async () => {
  let costMs = 1000
  let nowMs = 0
  const counts = [0, 0]
  const turns = new Turns(
    ({ url }) => {
      counts[Number(url)] = (counts[Number(url)] as number) + 1
      nowMs += costMs
    },
    { now: () => 0, elapsedMs: () => nowMs },
  )
  const takers = [connection(), connection()]
  for (const [name, taker] of takers.entries()) {
    for (let at = 0; at < 1000; at++) turns.take(taker, exchange(`${name}`))
  }
  await setImmediate()
  await setImmediate()
  costMs = 0
  const from = [...counts]
  for (let turn = 0; turn < 4; turn++) await setImmediate()
  const [one, two] = counts.map((count, name) => count - (from[name] as number))
  // One may get one more in each turn.
  assert.ok(Math.abs((one as number) - (two as number)) <= 4, `${one} ${two}`)
  while (takers[0]?.waiting || takers[1]?.waiting) await setImmediate()
  assert.deepEqual(counts, [1000, 1000])
})

test('a connection of which many requests wait is not read until all of them are begun', async () => {
  const { turns, handled } = service(0)
  const holds: [boolean, number][] = []
  const taker: TurnTaker = {
    ...connection(),
    hold: isHeld => holds.push([isHeld, handled.length]),
  }
  const all = limits.requestsPerTurn + limits.requestsWaitingMax
  for (let at = 0; at < all - 1; at++) turns.take(taker, exchange(`${at}`))
  assert.deepEqual(holds, [])
  turns.take(taker, exchange('one too many'))
  assert.deepEqual(holds, [[true, limits.requestsPerTurn]])
  while (taker.waiting) await setImmediate()
  assert.deepEqual(holds.slice(1), [[false, all - 1]])
})

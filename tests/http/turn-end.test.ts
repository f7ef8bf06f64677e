// Responses of one turn of the event loop are sent together; no response waits long or is lost.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import { TurnEnd } from '../../src/server/http/turn-end.ts'

const turn = () => new Promise(setImmediate)

let elapsedMs = 0
let sent: number[] = []
let turnEnd: TurnEnd<number>

beforeEach(() => {
  elapsedMs = 0
  sent = []
  turnEnd = new TurnEnd(item => sent.push(item), { now: () => epoch, elapsedMs: () => elapsedMs })
})

test('the items of a turn are sent at its end, in order', async () => {
  for (const item of [1, 2, 3]) turnEnd.add(item)
  await Promise.resolve()
  assert.deepEqual(sent, [])
  await turn()
  assert.deepEqual(sent, [1, 2, 3])
  turnEnd.add(4)
  await turn()
  assert.deepEqual(sent, [1, 2, 3, 4])
})

test('in a long turn, no item waits for more than a millisecond', async () => {
  turnEnd.add(1)
  elapsedMs = 1.5
  turnEnd.add(2)
  assert.deepEqual(sent, [1, 2])
  turnEnd.add(3)
  assert.deepEqual(sent, [1, 2])
  await turn()
  assert.deepEqual(sent, [1, 2, 3])
})

test('items that are added during sending are sent, too', async () => {
  turnEnd = new TurnEnd(
    item => {
      sent.push(item)
      if (item === 1) turnEnd.add(2)
    },
    { now: () => epoch, elapsedMs: () => elapsedMs },
  )
  turnEnd.add(1)
  await turn()
  await turn()
  assert.deepEqual(sent, [1, 2])
})

// Responses of one turn of the event loop are sent together; no response waits long or is lost.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import { Outbox } from '../../src/server/http/outbox.ts'

const turn = () => new Promise(setImmediate)

let elapsedMs = 0
let sent: number[] = []
let outbox: Outbox<number>

beforeEach(() => {
  elapsedMs = 0
  sent = []
  outbox = new Outbox(item => sent.push(item), { now: () => epoch, elapsedMs: () => elapsedMs })
})

test('the items of a turn are sent at its end, in order', async () => {
  for (const item of [1, 2, 3]) outbox.add(item)
  await Promise.resolve()
  assert.deepEqual(sent, [])
  await turn()
  assert.deepEqual(sent, [1, 2, 3])
  outbox.add(4)
  await turn()
  assert.deepEqual(sent, [1, 2, 3, 4])
})

test('in a long turn, no item waits for more than a millisecond', async () => {
  outbox.add(1)
  elapsedMs = 1.5
  outbox.add(2)
  assert.deepEqual(sent, [1, 2])
  outbox.add(3)
  assert.deepEqual(sent, [1, 2])
  await turn()
  assert.deepEqual(sent, [1, 2, 3])
})

test('items that are added during sending are sent, too', async () => {
  outbox = new Outbox(
    item => {
      sent.push(item)
      if (item === 1) outbox.add(2)
    },
    { now: () => epoch, elapsedMs: () => elapsedMs },
  )
  outbox.add(1)
  await turn()
  await turn()
  assert.deepEqual(sent, [1, 2])
})

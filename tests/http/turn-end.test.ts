// Responses of one turn of the event loop are sent together; no response waits long or is lost.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import type { QueryLog } from '../../src/query-log/query-log.ts'
import { Edge } from '../../src/server/http/edge.ts'
import type { Endpoint } from '../../src/server/http/endpoint.ts'
import type { Exchange } from '../../src/server/http/exchange.ts'
import { TurnEnd } from '../../src/server/http/turn-end.ts'
import { fakeServices } from './fake-engine.ts'

const turn = () => new Promise(setImmediate)

let elapsedMs = 0
let sent: number[] = []
let turnEnd: TurnEnd<number>

beforeEach(() => {
  elapsedMs = 0
  sent = []
  turnEnd = new TurnEnd(items => sent.push(...items), { now: () => epoch, elapsedMs: () => elapsedMs })
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
    items => {
      sent.push(...items)
      if (items.includes(1)) turnEnd.add(2)
    },
    { now: () => epoch, elapsedMs: () => elapsedMs },
  )
  turnEnd.add(1)
  await turn()
  await turn()
  assert.deepEqual(sent, [1, 2])
})

test('the responses of a turn are written before any of them is recorded', async () => {
  const order: string[] = []
  const services = {
    ...fakeServices(),
    // The edge uses only this function.
    queryLog: { record: () => order.push('record') } as Pick<QueryLog, 'record'> as QueryLog,
  }
  const edge = new Edge(services, { build: 'b', host: 'h', pendingRequestsMax: 9 })
  const endpoint: Endpoint = {
    path: '/',
    recorded: true,
    methods: { GET: () => ({ status: 200, body: '{}' }) },
  }
  const respond = () => {
    order.push('response')
    return 0
  }
  // A request without a body uses no other members.
  const request: Partial<Exchange> = {
    version: 1,
    method: 'GET',
    url: '/',
    headers: {},
    hasDisconnected: false,
    respond,
  }
  for (let count = 0; count < 3; count++) edge.serve(endpoint, request as Exchange, {})
  await turn()
  assert.deepEqual(order, ['response', 'response', 'response', 'record', 'record', 'record'])
})

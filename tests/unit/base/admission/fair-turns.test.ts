// The time of the event loop: an owner that has used its part of a turn waits for the next turn, and delays no other owner.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  type Arrival,
  countedMsMin,
  FairTurns,
  fairTurnLimits,
} from '../../../../src/base/admission/fair-turns.ts'
import { epoch } from '../../../../src/base/micros.ts'

const { sharedTurnMs: turnMs } = fairTurnLimits

/** `request` begins a request that takes `ms`, at once or in a later turn. The credential names the owner. */
function turnsOf() {
  let nowMs = 0
  const turns = new FairTurns({ now: () => epoch, elapsedMs: () => nowMs })
  const begun: string[] = []
  const run = (name: string, arrival: Arrival, owner: string | null, ms: number) => {
    begun.push(name)
    turns.measure(
      arrival,
      () => owner ?? undefined,
      () => {
        nowMs += ms
      },
    )
  }
  const request = (
    name: string,
    ms: number,
    { address = 'here', credential = name[0] as string, owner = credential as string | null } = {},
  ) => {
    const arrival = { address, credential }
    if (turns.mustWait(arrival)) return turns.wait(arrival, () => run(name, arrival, owner, ms))
    run(name, arrival, owner, ms)
    return undefined
  }
  /** Returns the names of the requests that began since the last call. */
  const taken = () => begun.splice(0)
  return { request, taken, turns }
}

test('requests of an owner that has used its part wait, and each later turn has room for one of them at least', async () => {
  const { request, taken } = turnsOf()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) request(name, 3 * turnMs)
  assert.deepEqual(taken(), ['a1', 'b1'])
  await turn()
  assert.deepEqual(taken(), ['a2'])
  request('c1', countedMsMin / 2)
  assert.deepEqual(taken(), ['c1'], 'another owner does not wait')
  await turn()
  assert.deepEqual(taken(), ['b2'])
  await turn()
  await turn()
  assert.deepEqual(taken(), ['a3', 'b3'])
})

test('short requests of one owner fill the turns', async () => {
  const { request, taken } = turnsOf()
  const names = Array.from({ length: 12 }, (_, at) => `a${at}`)
  for (const name of names) request(name, turnMs / 4)
  assert.equal(taken().length, 4)
  await turn()
  assert.equal(taken().length, 4)
  await turn()
  assert.equal(taken().length, 4)
})

test('work that is too short to be counted never waits', () => {
  const { request, taken } = turnsOf()
  for (let at = 0; at < 1000; at++) request(`a${at}`, countedMsMin / 2)
  assert.equal(taken().length, 1000)
})

test('owners share a turn', () => {
  const { request, taken } = turnsOf()
  request('a1', turnMs / 2)
  request('b1', turnMs / 4)
  request('a2', turnMs)
  request('b2', turnMs / 4)
  request('b3', turnMs)
  assert.deepEqual(taken(), ['a1', 'b1', 'b2'])
})

test('credentials of one owner share its part, and unknown credentials that of their address', async () => {
  const { request, taken } = turnsOf()
  request('x', turnMs, { owner: 'database' })
  request('y', 1, { owner: 'database' })
  assert.deepEqual(taken(), ['x', 'y'], 'the owner of the second credential was unknown')
  request('y', 1, { owner: 'database' })
  assert.deepEqual(taken(), [])
  await turn()
  assert.deepEqual(taken(), ['y'])
  for (const credential of ['1', '2', '3', '4'])
    request(credential, turnMs, { address: 'there', credential, owner: null })
  assert.deepEqual(taken(), ['1'])
  request('z', 1, { owner: null })
  assert.deepEqual(taken(), ['z'], 'another address does not wait')
})

test('a request that leaves the queue does not begin', async () => {
  const { request, taken } = turnsOf()
  request('a1', turnMs)
  const leave = request('a2', turnMs)
  request('a3', turnMs)
  leave?.()
  await turn()
  assert.deepEqual(taken(), ['a1', 'a3'])
})

test('a client with short requests waits once behind unknown credentials of its address', async () => {
  const { request, taken } = turnsOf()
  for (const name of ['x1', 'x2', 'x3', 'x4']) request(name, turnMs, { credential: name, owner: null })
  request('m1', countedMsMin / 2)
  assert.deepEqual(taken(), ['x1'], 'its credential is not known yet')
  for (let turns = 0; turns < 5; turns++) await turn()
  assert.deepEqual(taken(), ['x2', 'x3', 'x4', 'm1'])
  for (const name of ['x5', 'x6']) request(name, turnMs, { credential: name, owner: null })
  request('m2', countedMsMin / 2)
  assert.deepEqual(taken(), ['x5', 'm2'])
})

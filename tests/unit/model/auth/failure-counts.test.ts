// Failed logins counted across processes: after an exchange, each process knows the failures seen by the others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoticeBoard } from '../../../../src/base/notices.ts'
import { FailureCounts } from '../../../../src/model/auth/throttle.ts'
import { ManualTime } from './support.ts'

function twoProcesses() {
  const { clock } = new ManualTime()
  const [boardOfOne, boardOfOther] = [new NoticeBoard(), new NoticeBoard()]
  const [one, other] = [new FailureCounts(clock, boardOfOne), new FailureCounts(clock, boardOfOther)]
  /** Sends the news of one process to the other; returns whether there were any. */
  const exchange = () => {
    const news = boardOfOne.collect()
    if (news !== undefined) boardOfOther.receive(news)
    return news !== undefined
  }
  return { one, other, exchange }
}

test('failures seen by one process count in another after an exchange, once', () => {
  const { one, other, exchange } = twoProcesses()
  one.failed('guesser')
  one.failed('guesser')
  other.failed('guesser')
  assert.equal(other.of('guesser'), 1)
  assert.equal(exchange(), true)
  assert.equal(other.of('guesser'), 3)
  assert.equal(exchange(), false)
  assert.equal(other.of('guesser'), 3)
})

test('a success is sent as well, with the failures after it', () => {
  const { one, other, exchange } = twoProcesses()
  for (let count = 0; count < 4; count++) one.failed('owner')
  exchange()
  one.passed('owner')
  one.failed('owner')
  exchange()
  assert.equal(other.of('owner'), 1)
})

test('a success without earlier failures is not sent', () => {
  const { one, exchange } = twoProcesses()
  one.passed('owner')
  assert.equal(exchange(), false)
})

test('the news about a flood of guessers is limited', () => {
  const { one, other, exchange } = twoProcesses()
  for (let guesser = 0; guesser < 20_000; guesser++) one.failed(`guesser ${guesser}`)
  one.failed('guesser 1')
  exchange()
  assert.equal(other.of('guesser 1'), 2)
  assert.equal(other.of('guesser 19999'), 0)
})

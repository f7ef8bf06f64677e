// Failures counted over processes: what one has seen, the others know after an exchange.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FailureCounts } from '../../../src/auth/failure-counts.ts'
import { NoticeBoard } from '../../../src/base/notices.ts'
import { ManualTime } from './support.ts'

function twoProcesses() {
  const { clock } = new ManualTime()
  const [boardOfOne, boardOfOther] = [new NoticeBoard(), new NoticeBoard()]
  const [one, other] = [new FailureCounts(clock, boardOfOne), new FailureCounts(clock, boardOfOther)]
  /** What one process has to tell reaches the other; returns whether there was anything. */
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

test('a success is told, too, and what failed after it', () => {
  const { one, other, exchange } = twoProcesses()
  for (let count = 0; count < 4; count++) one.failed('owner')
  exchange()
  one.passed('owner')
  one.failed('owner')
  exchange()
  assert.equal(other.of('owner'), 1)
})

test('a success of somebody who has never failed is no news', () => {
  const { one, exchange } = twoProcesses()
  one.passed('owner')
  assert.equal(exchange(), false)
})

test('what a flood of guessers leaves to tell is bounded', () => {
  const { one, other, exchange } = twoProcesses()
  for (let guesser = 0; guesser < 20_000; guesser++) one.failed(`guesser ${guesser}`)
  one.failed('guesser 1')
  exchange()
  assert.equal(other.of('guesser 1'), 2)
  assert.equal(other.of('guesser 19999'), 0)
})

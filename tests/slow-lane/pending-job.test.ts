// Writing queries in the slow lane, with processes that a test simulates: attempts, validations, responses, exits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { endOfTime, epoch, micros } from '../../src/base/micros.ts'
import { slowLaneLimits } from '../../src/engine/slow-lane/process-pool.ts'
import type { LaneOutcome } from '../../src/engine/slow-lane-contract.ts'
import type { Attempt } from '../../src/storage/store/attempt.ts'
import type { CommitRecord } from '../../src/storage/store/last-commit.ts'
import { packAttempt } from '../../src/storage/store/sent-attempt.ts'
import { assertAnswer, bodyOf, emptyResponse, laneOf, received } from './fake-lane.ts'

/** The job of a writing query. */
async function pendingJob() {
  const all = laneOf(1)
  const outcome = all.run('a', 'x')
  const [process] = all.started
  await received(process, 1)
  const response = emptyResponse
  const write = { key: Uint8Array.of(107), value: Uint8Array.of(118) }
  const { body, head } = packAttempt({ ...attemptParts, writes: [write] })
  process?.say({ kind: 'attempt', response, head }, body)
  const { pending } = (await outcome) as LaneOutcome
  assert.ok(process && pending)
  assert.deepEqual(pending.attempt.writes, [write])
  const answer = (text: string) =>
    process.say({ kind: 'response', response: { ...response, txnTime: micros(10) } }, text)
  const kinds = () => process.received.map(({ message }) => message.kind)
  return { ...all, process, pending, kinds, answer }
}

const lostResponse = {
  code: 'service unavailable',
  description:
    'The query was committed, but its response was lost: the process that evaluated the query has exited.',
}

const since: CommitRecord = { time: micros(3), schemaTime: epoch, chosenIdsMs: 0 }
const attemptParts: Omit<Attempt<undefined>, 'writes'> = {
  result: undefined,
  commitTime: micros(5),
  changesSchema: false,
  chosenIdsMs: 0,
  latestExpiry: epoch,
  nextExpiry: endOfTime,
  counters: { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 },
  isStamped: false,
  since,
  reads: { keys: new Map(), ranges: [] },
  schemas: new Map(),
  evaluationMicros: 1,
}

test('a writing query returns an attempt; its process completes the response and then runs the next job', async () => {
  const { answer, kinds, lane, pending, process, run } = await pendingJob()
  const next = run('a', 'y')
  await turn()
  assert.deepEqual(kinds(), ['job'], 'the process is not free yet')
  pending.begin()
  const response = pending.respondAfterCommit(micros(10))
  await received(process, 2)
  assert.deepEqual(process.received[1]?.message, { kind: 'committed', time: 10 })
  answer('with its time')
  assert.deepEqual([(await response).txnTime, (await response).body], [10, 'with its time'])
  await received(process, 3)
  process.answer('next')
  assert.equal(bodyOf(await next), 'next', 'each response belongs to its own query')
  await lane.close()
})

test('the process re-reads its read set, up to a record of the log', async () => {
  const { kinds, lane, pending, process } = await pendingJob()
  const validated = pending.validate()
  await received(process, 2)
  assert.deepEqual(process.received[1]?.message, { kind: 'validate', logSequence: 12 })
  process.say({ kind: 'validated', since })
  assert.deepEqual(await validated, since)
  const again = pending.validate()
  process.say({ kind: 'validated', since: 'stale' })
  assert.equal(await again, 'stale')
  pending.drop()
  await received(process, 4)
  assert.deepEqual(kinds(), ['job', 'validate', 'validate', 'drop'])
  await lane.close()
})

test('the process evaluates the query once more, up to a record of the log and for a time', async () => {
  const { kinds, lane, pending, process } = await pendingJob()
  pending.begin()
  const evaluated = pending.evaluateAt(micros(20))
  await received(process, 2)
  assert.deepEqual(process.received[1]?.message, { kind: 'evaluate', logSequence: 12, time: 20 })
  const write = { key: new Uint8Array([1]), value: new Uint8Array([2]) }
  const { body, head } = packAttempt({ ...attemptParts, commitTime: micros(20), writes: [write] })
  process.say({ kind: 'evaluated', head }, body)
  const attempt = await evaluated
  assert.ok(attempt !== 'stale')
  assert.deepEqual([attempt.commitTime, attempt.writes], [20, [write]])
  const again = pending.evaluateAt(micros(21))
  process.say({ kind: 'evaluated' })
  assert.equal(await again, 'stale', 'its evaluation has failed')
  const last = pending.evaluateAt(micros(22))
  await received(process, 4)
  process.end(null, 'SIGKILL')
  await assert.rejects(last)
  assert.deepEqual(kinds(), ['job', 'evaluate', 'evaluate', 'evaluate'])
  await lane.close()
})

test('an attempt that is not committed is dropped', async () => {
  const { kinds, lane, pending, process, run } = await pendingJob()
  pending.drop()
  pending.drop()
  const next = run('a', 'y')
  await received(process, 3)
  assert.deepEqual(kinds(), ['job', 'drop', 'job'])
  await assertAnswer(process, next, 'next')
  await lane.close()
})

test('a waiting query is cancelled at its deadline, but not while its attempt is being committed', async () => {
  const waiting = await pendingJob()
  waiting.time.advance(1000 + slowLaneLimits.laneGraceMs)
  assert.equal(waiting.process.signalCode, 'SIGKILL')
  await assert.rejects(waiting.pending.validate(), { code: 'time out' })
  await waiting.lane.close()

  const { answer, lane, pending, process, time } = await pendingJob()
  pending.begin()
  time.advance(10 * (1000 + slowLaneLimits.laneGraceMs))
  assert.equal(process.signalCode, null)
  const closed = lane.close()
  await turn()
  assert.equal(process.signalCode, null, 'close waits for it')
  const response = pending.respondAfterCommit(micros(10))
  answer('done')
  assert.equal((await response).body, 'done')
  await closed
  assert.equal(process.signalCode, 'SIGKILL')

  const stuck = await pendingJob()
  stuck.pending.begin()
  const unanswered = stuck.pending.respondAfterCommit(micros(9))
  const ending = stuck.lane.close()
  stuck.time.advance(slowLaneLimits.laneEndGraceMs)
  await assert.rejects(unanswered, lostResponse)
  await ending
})

test('the response to a committed query is lost with its process, before and after the request for it', async () => {
  for (const isAsked of [true, false]) {
    const { deaths, lane, pending, process } = await pendingJob()
    pending.begin()
    const asked = isAsked ? pending.respondAfterCommit(micros(9)) : undefined
    process.end(null, 'SIGKILL')
    await assert.rejects(asked ?? pending.respondAfterCommit(micros(9)), lostResponse)
    assert.deepEqual(deaths, ['SIGKILL'])
    await lane.close()
  }
})

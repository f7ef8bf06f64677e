// Queries that move to the slow lane: a query that has held the process for too long, parsing included, and at once a
// query that was long the last time.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { languages } from '../../../src/app/languages.ts'
import { epoch } from '../../../src/base/micros.ts'
import { systemTimers } from '../../../src/base/timers.ts'
import type { QueryMetrics, QueryRequest } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import type { StreamOpener } from '../../../src/engine/engine-options.ts'
import { LongQueries } from '../../../src/engine/long-queries.ts'
import { type LaneJob, Leads, type SlowLane } from '../../../src/engine/slow-lane.ts'
import { schemaOptions, schemaRequestText } from '../../../src/fql10/wire/schema-request.ts'
import type { SessionHost } from '../../../src/model/session.ts'
import { openTestEngine } from '../../support/engine.ts'

const afterMs = 20

/** An engine for which every query is long, or no query, with a slow lane that takes `laneMs`. */
function openImpatient(t: TestContext, laneMs: () => number, isLong = true) {
  const { close, store } = openTestEngine()
  t.after(close)
  const jobs: LaneJob[] = []
  const crowd = { isCrowded: false }
  const holds: { readonly queues: string[]; isDropped: boolean; hasEnded: boolean }[] = []
  const slowLane: SlowLane = {
    leads: new Leads(),
    longQueries: new LongQueries(() => afterMs),
    isCrowded: () => crowd.isCrowded,
    run(job) {
      jobs.push(job)
      const metrics = { queryTimeMs: laneMs(), rateLimited: [] } as unknown as QueryMetrics
      return Promise.resolve({ status: 200, body: '', txnTime: epoch, metrics, database: 0n })
    },
    share(queue) {
      const hold = { queues: [queue], isDropped: false, hasEnded: false }
      holds.push(hold)
      return {
        isOver: () => {
          hold.isDropped = isLong
          return isLong
        },
        countFor: other => hold.queues.push(other),
        wasted: () => undefined,
        ended: () => {
          hold.hasEnded = true
        },
      }
    },
  }
  const authority = { kind: 'builtin', role: 'admin', database: 0n } as const
  const engine = createEngine({
    store,
    identifier: {
      identify: () => ({ database: 0n, authority, identity: undefined, credential: undefined }),
    },
    languages,
    host: { now: () => 0 } as unknown as SessionHost,
    streams: {} as unknown as StreamOpener,
    timers: systemTimers,
    slowLane,
    onInternalError: error => assert.fail(String(error)),
  })
  const ask = async (body: string, other: Partial<QueryRequest> = {}, status = 200) => {
    const request = { authorization: 'Bearer x', language: '4', dialect: '4', body, timeoutMs: 1000 } as const
    assert.equal((await engine.query({ ...request, ...other })).status, status)
  }
  return { ask, jobs, holds, crowd, droppedCount: () => holds.filter(({ isDropped }) => isDropped).length }
}

const long = `[${Array(50)
  .fill('['.repeat(500) + ']'.repeat(500))
  .join(',')}]`

test('a query that takes too long to parse moves to the slow lane before the parsing ends', async t => {
  const { ask, holds, jobs } = openImpatient(t, () => afterMs)
  await ask(long)
  assert.deepEqual(
    jobs.map(({ request }) => request.body),
    [long],
  )
  // The query has a single share. It begins with the parsing of the text, before the caller is known, and continues as a
  // share of the database.
  assert.deepEqual(holds, [
    { queues: ['credential Bearer x', 'database 0'], isDropped: true, hasEnded: true },
  ])
})

test('a query that was long the last time moves at once, as long as it is long in the slow lane', async t => {
  let laneMs = afterMs
  const { ask, jobs, droppedCount } = openImpatient(t, () => laneMs)
  await ask(long)
  await ask(long)
  assert.deepEqual([jobs.length, droppedCount()], [2, 1])
  laneMs = afterMs / 2
  await ask(long)
  await ask(long)
  assert.deepEqual([jobs.length, droppedCount()], [4, 1], 'it is not so short that it was tried here again')
  laneMs = afterMs / 2 - 1
  await ask(long)
  assert.deepEqual([jobs.length, droppedCount()], [5, 1])
  await ask(long)
  assert.deepEqual([jobs.length, droppedCount()], [6, 2], 'it was tried here again')
})

test('a remembered query is tried in the service when many wait for the slow lane', async t => {
  const { ask, crowd, droppedCount } = openImpatient(t, () => afterMs)
  await ask(long)
  crowd.isCrowded = true
  await ask(long)
  assert.equal(droppedCount(), 2)
})

test('a query that is long for one caller is tried for another caller', async t => {
  const { ask, droppedCount } = openImpatient(t, () => afterMs)
  await ask(long)
  await ask(long, { authorization: 'Bearer y' })
  assert.equal(droppedCount(), 2)
})

test('a failing query has held the process, too', async t => {
  const { ask, holds, jobs } = openImpatient(t, () => afterMs, false)
  await ask('{"no_such_function": 1}', {}, 400)
  await ask('[1', {}, 400)
  assert.equal(jobs.length, 0)
  assert.deepEqual(
    holds.map(({ hasEnded }) => hasEnded),
    [true, true],
  )
})

test('pushed schema files move to the slow lane at once', async t => {
  const { ask, jobs, droppedCount } = openImpatient(t, () => afterMs)
  const files = [{ name: 'main.fsl', text: 'collection Author {}' }]
  const push = schemaRequestText({ method: 'POST', path: ['update'], parameters: {}, files, text: '' })
  await ask(push, { language: '10', dialect: '10', options: schemaOptions })
  assert.deepEqual([jobs.length, droppedCount()], [1, 0])
})

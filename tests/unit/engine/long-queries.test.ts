// Queries that move to the slow lane: a query that has held the process for too long, parsing included, and at once a
// query that was long the last time.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { languages } from '../../../src/app/languages.ts'
import { TimeBudget, TimedWork } from '../../../src/base/admission/time-budget.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { epoch } from '../../../src/base/micros.ts'
import { systemTimers } from '../../../src/base/timers.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import type { QueryMetrics, QueryRequest } from '../../../src/engine/engine-contract.ts'
import type { StreamOpener } from '../../../src/engine/engine-options.ts'
import { LongQueries } from '../../../src/engine/long-queries.ts'
import { OperationLimits } from '../../../src/engine/operation-limits.ts'
import { queryMemory } from '../../../src/engine/query-memory.ts'
import { type LaneJob, Leads, type SlowLane } from '../../../src/engine/slow-lane-contract.ts'
import { schemaOptions, schemaRequestText } from '../../../src/fql10/wire/schema-request.ts'
import type { SessionHost } from '../../../src/model/session.ts'
import { openTestEngine } from '../../support/engine.ts'

const afterMs = 20

/** An engine for which every query is long, or no query, with a slow lane that takes `laneMs`. */
function openImpatient(t: TestContext, isLong = true, laneMs = () => afterMs) {
  const { close, store } = openTestEngine()
  t.after(close)
  const jobs: LaneJob[] = []
  const crowd = { isCrowded: false }
  const time = new TimeBudget({ ms: isLong ? 0 : Number.POSITIVE_INFINITY })
  const begin = t.mock.method(time, 'begin')
  const countFor = t.mock.method(TimedWork.prototype, 'countFor')
  const isOver = t.mock.method(TimedWork.prototype, 'isOver')
  const cancel = t.mock.method(TimedWork.prototype, 'cancel')
  const end = t.mock.method(TimedWork.prototype, 'end')
  const slowLane: SlowLane = {
    leads: new Leads(),
    time,
    longQueries: new LongQueries(() => afterMs),
    isCrowded: () => crowd.isCrowded,
    run(job) {
      jobs.push(job)
      const metrics = { queryTimeMs: laneMs(), rateLimited: [] } as unknown as QueryMetrics
      return Promise.resolve({ status: 200, body: '', txnTime: epoch, metrics, database: 0n })
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
    memory: queryMemory(16),
    rateLimits: new OperationLimits({ compute: 0, read: 0, write: 0 }, systemClock),
    onInternalError: error => assert.fail(String(error)),
  })
  const ask = async (body: string, other: Partial<QueryRequest> = {}, status = 200) => {
    const request = { authorization: 'Bearer x', language: '4', dialect: '4', body, timeoutMs: 1000 } as const
    assert.equal((await engine.query({ ...request, ...other }, undefined)).status, status)
  }
  return {
    ask,
    jobs,
    crowd,
    begin: begin.mock,
    countFor: countFor.mock,
    cancel: cancel.mock,
    isOver: isOver.mock,
    end: end.mock,
  }
}

const long = `[${Array(50)
  .fill('['.repeat(500) + ']'.repeat(500))
  .join(',')}]`

test('a query that takes too long to parse moves to the slow lane before the parsing ends', async t => {
  const { ask, begin, cancel, countFor, end, jobs } = openImpatient(t)
  await ask(long)
  const bodies = jobs.map(({ request }) => request.body)
  assert.deepEqual(bodies, [long])
  // The query is a single piece of work. It begins with the parsing of the text, before the caller is known, and continues
  // as work of the database.
  const begun = begin.calls.map(call => call.arguments)
  assert.deepEqual(begun, [['credential Bearer x']])
  const counted = countFor.calls.map(call => call.arguments)
  assert.deepEqual(counted, [['database 0']])
  assert.deepEqual([cancel.callCount(), end.callCount()], [1, 1])
})

test('a query that was long the last time moves at once, as long as it is long in the slow lane', async t => {
  let laneMs = afterMs
  const { ask, isOver, jobs } = openImpatient(t, true, () => laneMs)
  await ask(long)
  await ask(long)
  assert.deepEqual([jobs.length, isOver.callCount()], [2, 1])
  laneMs = afterMs / 2
  await ask(long)
  await ask(long)
  assert.deepEqual(
    [jobs.length, isOver.callCount()],
    [4, 1],
    'it is not so short that it was tried here again',
  )
  laneMs = afterMs / 2 - 1
  await ask(long)
  assert.deepEqual([jobs.length, isOver.callCount()], [5, 1])
  await ask(long)
  assert.deepEqual([jobs.length, isOver.callCount()], [6, 2], 'it was tried here again')
})

test('a remembered query is tried in the service when many wait for the slow lane', async t => {
  const { ask, crowd, isOver } = openImpatient(t)
  await ask(long)
  crowd.isCrowded = true
  await ask(long)
  assert.equal(isOver.callCount(), 2)
})

test('a query that is long for one caller is tried for another caller', async t => {
  const { ask, isOver } = openImpatient(t)
  await ask(long)
  await ask(long, { authorization: 'Bearer y' })
  assert.equal(isOver.callCount(), 2)
})

test('a failing query has held the process, too', async t => {
  const { ask, begin, end, jobs } = openImpatient(t, false)
  await ask('{"no_such_function": 1}', {}, 400)
  await ask('[1', {}, 400)
  assert.equal(jobs.length, 0)
  assert.deepEqual([begin.callCount(), end.callCount()], [2, 2])
})

test('pushed schema files move to the slow lane at once', async t => {
  const { ask, cancel, jobs } = openImpatient(t)
  const files = [{ name: 'main.fsl', text: 'collection Author {}' }]
  const push = schemaRequestText({ method: 'POST', path: ['update'], parameters: {}, files, text: '' })
  await ask(push, { language: '10', dialect: '10', options: schemaOptions })
  assert.deepEqual([jobs.length, cancel.callCount()], [1, 0])
})

test('a remembered query is distinguished from queries of the same and of other lengths', () => {
  const queries = new LongQueries(() => afterMs)
  const withBody = (body: string): QueryRequest => ({
    authorization: 'Bearer x',
    language: '4',
    dialect: '4',
    timeoutMs: 1000,
    body,
  })
  queries.add(withBody('[1]'))
  assert.ok(queries.has(withBody('[1]')))
  for (const body of ['[2]', '[12]', `[1]${' '.repeat(4096)}`]) assert.ok(!queries.has(withBody(body)), body)
  queries.evaluated(withBody('[1]'), '', 0)
  assert.ok(!queries.has(withBody('[1]')))
})

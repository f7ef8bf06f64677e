// What goes to the slow lane: what has held the process for too long, while it was parsed as well, and at once what did so
// when it was asked last.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { epoch } from '../../../src/base/micros.ts'
import { systemTimers } from '../../../src/base/timers.ts'
import type { QueryMetrics, QueryRequest } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { Leads } from '../../../src/engine/leads.ts'
import { LongQueries } from '../../../src/engine/long-queries.ts'
import type { LaneJob, SlowLane } from '../../../src/engine/slow-lane.ts'
import type { StreamOpener } from '../../../src/engine/stream-opener.ts'
import { languages } from '../../../src/languages.ts'
import type { SessionHost } from '../../../src/model/session.ts'
import { schemaOptions, schemaRequestText } from '../../../src/v10/wire/schema-request.ts'
import { openTestEngine } from '../../support/engine.ts'

const afterMs = 20

/** An engine that finds everything long, beside a slow lane that takes `laneMs`. */
function openImpatient(t: TestContext, laneMs: () => number) {
  const { close, store } = openTestEngine()
  t.after(close)
  const jobs: LaneJob[] = []
  const holds: { readonly queues: string[]; isWasted: boolean }[] = []
  const slowLane: SlowLane = {
    leads: new Leads(),
    longQueries: new LongQueries(afterMs),
    run(job) {
      jobs.push(job)
      const metrics = { queryTimeMs: laneMs(), rateLimited: [] } as unknown as QueryMetrics
      return Promise.resolve({ status: 200, body: '', txnTime: epoch, metrics, database: 0n })
    },
    share(queue) {
      const hold = { queues: [queue], isWasted: false }
      holds.push(hold)
      return {
        isOver: () => true,
        countFor: other => hold.queues.push(other),
        wasted: () => {
          hold.isWasted = true
        },
      }
    },
  }
  const authority = { kind: 'builtin', role: 'admin', database: 0n } as const
  const engine = createEngine({
    store,
    identify: () => ({ database: 0n, authority, identity: undefined, credential: undefined }),
    languages,
    host: { now: () => 0 } as unknown as SessionHost,
    timeOfDay: () => epoch,
    streams: {} as unknown as StreamOpener,
    timers: systemTimers,
    slowLane,
    onInternalError: error => assert.fail(String(error)),
  })
  const ask = async (body: string, other: Partial<QueryRequest> = {}) => {
    const request = { authorization: 'Bearer x', language: '4', dialect: '4', body, timeoutMs: 1000 } as const
    assert.equal((await engine.query({ ...request, ...other })).status, 200)
  }
  return { ask, jobs, holds, wastedCount: () => holds.filter(({ isWasted }) => isWasted).length }
}

const long = `[${Array(50)
  .fill('['.repeat(500) + ']'.repeat(500))
  .join(',')}]`

test('what takes too long to be parsed is left to the slow lane, without being parsed to its end', async t => {
  const { ask, holds, jobs } = openImpatient(t, () => afterMs)
  await ask(long)
  assert.deepEqual(
    jobs.map(({ request }) => request.body),
    [long],
  )
  // One share is all that it has: that of the text, which is parsed before it is known who asks, goes on as that of its database.
  assert.deepEqual(holds, [{ queues: ['credential Bearer x', 'database 0'], isWasted: true }])
})

test('what took long the last time goes there at once, as long as it is long there', async t => {
  let laneMs = afterMs
  const { ask, jobs, wastedCount } = openImpatient(t, () => laneMs)
  await ask(long)
  await ask(long)
  assert.deepEqual([jobs.length, wastedCount()], [2, 1])
  laneMs = afterMs - 1
  await ask(long)
  assert.deepEqual([jobs.length, wastedCount()], [3, 1])
  await ask(long)
  assert.deepEqual([jobs.length, wastedCount()], [4, 2], 'it was tried here again')
})

test('what is long for one caller is tried for another', async t => {
  const { ask, wastedCount } = openImpatient(t, () => afterMs)
  await ask(long)
  await ask(long, { authorization: 'Bearer y' })
  assert.equal(wastedCount(), 2)
})

test('schema files that are sent go there at once', async t => {
  const { ask, jobs, wastedCount } = openImpatient(t, () => afterMs)
  const files = [{ name: 'main.fsl', text: 'collection Author {}' }]
  const push = schemaRequestText({ method: 'POST', path: ['update'], parameters: {}, files, text: '' })
  await ask(push, { language: '10', dialect: '10', options: schemaOptions })
  assert.deepEqual([jobs.length, wastedCount()], [1, 0])
})

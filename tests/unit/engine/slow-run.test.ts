// Slow-lane queries whose writes contain their commit time. The commit time is chosen before the evaluation, in whole
// microseconds. Its distance from the present (the lead) depends only on the time that queries need.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ticket } from '../../../src/base/admission/ticket.ts'
import { TimeBudget } from '../../../src/base/admission/time-budget.ts'
import { epoch, type Micros, micros } from '../../../src/base/micros.ts'
import { RequestError } from '../../../src/base/request-errors.ts'
import { LongQueries } from '../../../src/engine/long-queries.ts'
import { type LaneJob, Leads, type SlowLane } from '../../../src/engine/slow-lane-contract.ts'
import { runSlowly } from '../../../src/engine/slow-run.ts'
import type { Attempt } from '../../../src/storage/store/attempt.ts'
import type { Store } from '../../../src/storage/store/store.ts'

/** A service whose queries take `takes` microseconds each after their commit time is chosen. */
function serviceOf(takes: readonly number[]) {
  const leads = new Leads()
  let now = 1_700_000_000_000_000
  const seen: number[] = []
  const slowLane: SlowLane = {
    leads,
    time: new TimeBudget({ ms: 20 }),
    isCrowded: () => false,
    longQueries: new LongQueries(() => 20),
    run: async ({ commitLeadMicros, now: dispatched }: LaneJob) => {
      // Other queries run first.
      now += 3_000_000
      const commitTime = micros(dispatched() + commitLeadMicros)
      seen.push(commitLeadMicros)
      now += takes[seen.length - 1] as number
      const response = { status: 201, body: '', txnTime: epoch, metrics: undefined, database: 0n }
      const pending = {
        attempt: {
          commitTime,
          isStamped: true,
          changesSchema: false,
          evaluationMicros: 0,
        } as Attempt<undefined>,
        begin: () => undefined,
        validate: async () => 'stale' as const,
        evaluateAt: async () => 'stale' as const,
        respondAfterCommit: async (time: Micros) => ({ ...response, txnTime: time }),
        drop: () => undefined,
      }
      return { ...response, pending }
    },
  }
  const committed: { readonly time: number; readonly at: number }[] = []
  const store = {
    now: () => now,
    commit: async ({ commitTime }: Attempt<undefined>) => {
      committed.push({ time: commitTime, at: now })
      return { time: commitTime }
    },
  } as unknown as Store
  const timers = {
    after: (ms: number, callback: () => void) => {
      now += ms * 1000
      setImmediate(callback)
      return () => undefined
    },
    every: () => () => undefined,
  }
  const run = (timeoutMs: number, requireInTime: () => void = () => undefined) =>
    runSlowly({
      slowLane,
      store,
      timers,
      retriesMax: 0,
      requireInTime,
      checkCosts: () => undefined,
      job: commitLeadMicros => ({
        request: { language: '4', dialect: '4', authorization: 'x', body: '', timeoutMs },
        queue: 'a',
        ticket: new Ticket('a'),
        snapshotTime: epoch,
        timeoutMs,
        now: () => micros(Math.floor(now)),
        commitLeadMicros,
      }),
    })
  return { committed, leads, run, seen }
}

test('the commit time is in whole microseconds even if the remaining time is a fraction', async () => {
  const { committed, run, seen } = serviceOf([1_000])
  assert.equal((await run(12.3456789)).status, 201)
  assert.deepEqual(seen, [12_346])
  assert.ok(committed.every(({ time }) => Number.isSafeInteger(time)))
})

test('the lead does not grow with the wait for other queries or with the number of missed commit times', async () => {
  const late = Array<number>(12).fill(400_000.4)
  const { committed, run, seen } = serviceOf([...late.map((each, index) => each + 100_000 * index), 20_000])
  await run(60_000)
  assert.equal(seen[0], 50_000)
  for (const [index, lead] of seen.entries()) {
    assert.ok(Number.isSafeInteger(lead))
    if (index > 0) assert.ok(lead <= Math.ceil(1.5 * (400_001 + 100_000 * (index - 1))), `${index}: ${lead}`)
  }
  for (const { at, time } of committed) assert.ok(at <= time)
})

test('the lead depends on the time that recent queries of the database needed, within limits', async () => {
  const { leads, run, seen } = serviceOf([100_000, 100_000, 100_000, 3_000_000, 100, 100])
  await run(60_000)
  assert.deepEqual(seen.splice(0), [50_000, 150_000])
  await run(60_000)
  assert.deepEqual(seen.splice(0), [150_000])
  leads.record('a', 60_000_000)
  assert.equal(leads.first('a'), 500_000)
  assert.equal(leads.first('another'), 50_000)
  for (let count = 0; count < 12; count++) leads.record('a', 0)
  assert.equal(leads.first('a'), 50_000)
})

test('an attempt that arrives after the deadline is not committed', async () => {
  const { committed, run } = serviceOf([1_000])
  const late = () => {
    throw new RequestError('time out', 'Read timed out.')
  }
  await assert.rejects(run(60_000, late), { code: 'time out' })
  assert.deepEqual(committed, [])
})

// A text that is not long and takes long to be parsed: that, too, is given up in the process that serves everybody.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch } from '../../../src/base/micros.ts'
import { systemTimers } from '../../../src/base/timers.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { Leads } from '../../../src/engine/leads.ts'
import type { LaneJob, SlowLane } from '../../../src/engine/slow-lane.ts'
import type { StreamOpener } from '../../../src/engine/stream-opener.ts'
import { languages } from '../../../src/languages.ts'
import type { SessionHost } from '../../../src/model/session.ts'
import { openTestEngine } from '../../support/engine.ts'

test('what takes too long to be parsed is left to the slow lane, without being parsed to its end', async () => {
  const { close, store } = openTestEngine()
  const jobs: LaneJob[] = []
  const holds: { readonly queues: string[]; isWasted: boolean }[] = []
  const slowLane: SlowLane = {
    leads: new Leads(),
    run(job) {
      jobs.push(job)
      return Promise.resolve({ status: 200, body: '', txnTime: epoch, metrics: undefined, database: 0n })
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
  const body = `[${Array(50)
    .fill('['.repeat(500) + ']'.repeat(500))
    .join(',')}]`
  const { status } = await engine.query({
    authorization: 'Bearer x',
    language: '4',
    dialect: '4',
    body,
    timeoutMs: 1000,
  })
  assert.equal(status, 200)
  assert.equal(jobs.length, 1)
  assert.equal(jobs[0]?.request.body, body)
  // One share is all that it has: that of the text, which nobody has looked at who asks before, goes on as that of its database.
  assert.deepEqual(holds, [{ queues: ['credential Bearer x', 'database 0'], isWasted: true }])
  await close()
})

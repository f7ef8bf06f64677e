// Requests of a database that has used its part of a turn of the event loop wait for the next turn, before they are parsed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languages } from '../../../src/app/languages.ts'
import { FairTurns, fairTurnLimits } from '../../../src/base/admission/fair-turns.ts'
import { Ticket } from '../../../src/base/admission/ticket.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { epoch } from '../../../src/base/micros.ts'
import { systemTimers } from '../../../src/base/timers.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import type { StreamOpener } from '../../../src/engine/engine-options.ts'
import { OperationLimits } from '../../../src/engine/operation-limits.ts'
import { queryMemory } from '../../../src/engine/query-memory.ts'
import type { SessionHost } from '../../../src/model/session.ts'
import { openTestEngine } from '../../support/engine.ts'

test('a hundred long requests of a database delay no other database, and all of them are answered', async t => {
  const { close, store } = openTestEngine()
  t.after(close)
  let nowMs = 0
  const begun: string[] = []
  const engine = createEngine({
    store,
    identifier: {
      identify: secret => {
        begun.push(String(secret))
        nowMs += secret === 'greedy' ? 2 * fairTurnLimits.sharedTurnMs : 0
        const database = secret === 'greedy' ? 1n : 2n
        const authority = { kind: 'builtin', role: 'admin', database } as const
        return { database, authority, identity: undefined, credential: undefined }
      },
    },
    languages,
    host: { now: () => 0 } as unknown as SessionHost,
    streams: {} as unknown as StreamOpener,
    timers: systemTimers,
    turns: new FairTurns({ now: () => epoch, elapsedMs: () => nowMs }),
    memory: queryMemory(16),
    rateLimits: new OperationLimits({ compute: 0, read: 0, write: 0 }, systemClock),
    onInternalError: error => assert.fail(String(error)),
  })
  const request = (authorization: string) =>
    ({ authorization, language: '4', dialect: '4', body: '1', timeoutMs: 60_000 }) as const
  const tickets = Array.from({ length: 100 }, () => new Ticket('address'))
  const greedy = tickets.map(ticket => Promise.resolve(engine.query(request('greedy'), ticket)))
  const modest = engine.query(request('modest'), undefined)
  assert.ok(!(modest instanceof Promise), 'it does not wait')
  assert.deepEqual(begun, ['greedy', 'modest'])
  tickets[50]?.stop('evicted')
  const statuses = (await Promise.all(greedy)).map(({ status }) => status)
  assert.equal(statuses[50], 408, 'an evicted request does not begin')
  assert.deepEqual(statuses.toSpliced(50, 1), Array(99).fill(200))
  assert.equal(begun.length, 100)
})

// A query that waits for something (here for a password to be checked) waits no longer than its time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { systemTimers, type Timers } from '../../../src/base/timers.ts'
import { openTestEngine } from '../../support/engine.ts'

test('a query whose time is over is answered before what it waits for', async () => {
  let isOver = false
  let cancelled = 0
  const timers: Timers = {
    ...systemTimers,
    after(ms, callback) {
      if (isOver) queueMicrotask(callback)
      const cancel = isOver ? () => {} : systemTimers.after(ms, callback)
      return () => {
        cancelled++
        cancel()
      }
    },
  }
  const environment = { clock: systemClock, random: systemRandom, timers }
  const { query, send, close } = openTestEngine({ environment })
  try {
    await query({ create_collection: { object: { name: 'users' } } })
    const credentials = { object: { password: 'secret' } }
    const user = { create: { collection: 'users' }, params: { object: { credentials } } }
    const { ref } = (await query(user)) as { ref: object }
    const login = { login: ref, params: { object: { password: 'secret' } } }
    const before = cancelled
    assert.equal((await send(login)).status, 201)
    assert.ok(cancelled > before, 'no timer is left behind')
    isOver = true
    const { status, body } = await send(login)
    assert.equal(status, 503)
    assert.deepEqual(JSON.parse(body), { errors: [{ code: 'time out', description: 'Read timed out.' }] })
  } finally {
    await close()
  }
})

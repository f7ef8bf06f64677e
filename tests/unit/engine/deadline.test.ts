// A query past its deadline fails, however short its time is: while it waits (here for a password check), and after its
// evaluation. During a commit, the response depends on the outcome of the commit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { systemTimers, type Timers } from '../../../src/base/timers.ts'
import type { KeyValueStore } from '../../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../../src/storage/kv/memory.ts'
import { openTestEngine } from '../../support/engine.ts'

test('a query past its deadline fails before its wait ends', async () => {
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
  await using engine = openTestEngine({ environment })
  const { query, send } = engine
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
})

/** An engine whose clock advances at each reading and during each commit, by the steps that the test sets. */
function slowEngine() {
  const pace = { lookMs: 0, commitMs: 0 }
  let elapsedMs = 0
  const clock = {
    ...systemClock,
    elapsedMs: () => {
      elapsedMs += pace.lookMs
      return elapsedMs
    },
  }
  const memory = openMemory()
  const kv: KeyValueStore = {
    read: work => memory.read(work),
    watch: listener => memory.watch(listener),
    close: () => memory.close(),
    transact: work => {
      elapsedMs += pace.commitMs
      return memory.transact(work)
    },
  }
  const environment = { clock, random: systemRandom, timers: systemTimers }
  const opened = openTestEngine({ kv, environment })
  const ask = async (language: '4' | '10', body: object) => {
    const response = await opened.send(body, { language, timeoutMs: 1 })
    return { status: response.status, body: JSON.parse(response.body) }
  }
  return Object.assign(opened, { pace, ask })
}

test('a short query that exceeds its timeout fails in both languages, and writes nothing', async () => {
  await using engine = slowEngine()
  const { ask, pace, query } = engine
  await query({ create_collection: { object: { name: 'Jar' } } })
  pace.lookMs = 2
  const late = { errors: [{ code: 'time out', description: 'Read timed out (Query eval has timed out.)' }] }
  for (const short of [{ add: [1, 1] }, { create: { collection: 'Jar' } }, { abort: 'failed' }]) {
    assert.deepEqual(await ask('4', short), { status: 503, body: late })
  }
  for (const short of ['1 + 1', 'Jar.create({})', 'abort(1)', 'Jar.all().paginate()', '1 +']) {
    const { body, status } = await ask('10', { query: short })
    assert.deepEqual([status, body.error.code], [440, 'time_out'], short)
    const message = /^Client set aggressive deadline: query needs \d+, timed out within \d+$/
    assert.match(body.error.message, message)
  }
  pace.lookMs = 0
  assert.deepEqual((await ask('10', { query: 'Jar.all().count()' })).body.data, 0)
})

test('a commit under way at the deadline is reported with its outcome', async () => {
  await using engine = slowEngine()
  const { ask, pace, query } = engine
  await query({ create_collection: { object: { name: 'Jar' } } })
  // The first document reserves ids in a commit of its own.
  await query({ create: { collection: 'Jar' } })
  pace.commitMs = 60_000
  assert.equal((await ask('4', { create: { collection: 'Jar' } })).status, 201)
  assert.equal((await ask('10', { query: 'Jar.create({})' })).status, 200)
  assert.deepEqual((await ask('10', { query: 'Jar.all().count()' })).body.data, 3)
})

// The database rejects a commit, and its response to the next attempt arrives when the waiting time of the writes has
// ended. The errors have the outcome and the reason.

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import type { PostgresStore } from '../../src/storage/postgres/postgres.ts'
import type { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { eventually } from '../support/eventually.ts'
import { noPostgres } from '../support/postgres.ts'
import { copyOf, recordOfTest } from '../support/record.ts'
import { put, withFullDisk } from './bytes.ts'

const patienceMs = 10_000
/** Longer than the rows that nodes write by themselves. */
const value = 'x'.repeat(1_000)
const gate = 4711

const record = recordOfTest()
let keeper: PostgresSession
let store: PostgresStore
let nowMs = 0
let isFull = false
/** Attempts to write the replica while it had no room. */
let failures = 0
const ticks = new Set<() => void>()

beforeEach(async () => {
  nowMs = 0
  isFull = false
  failures = 0
  ticks.clear()
  keeper = await record.session()
  const copy = await copyOf(record.location)
  store = await record.node('a', {
    local: withFullDisk(copy, () => {
      if (isFull) failures++
      return isFull
    }),
    clock: { ...systemClock, elapsedMs: () => nowMs },
    timers: {
      ...systemTimers,
      every: (ms, callback) => {
        ticks.add(callback)
        return systemTimers.every(ms, callback)
      },
    },
    writePatienceMs: patienceMs,
  })
})

/** Makes the database reject the first attempt at a commit. `others`: the outcome of later attempts, after the gate opens. */
async function refuse(others: 'RAISE EXCEPTION $$no room$$' | 'RETURN NEW'): Promise<void> {
  const { schema } = record
  await keeper.query(`SELECT pg_advisory_lock(${gate})`)
  await keeper.query(`CREATE SEQUENCE "${schema}".attempts`)
  await keeper.query(`CREATE FUNCTION "${schema}".refuse() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
    IF nextval('"${schema}".attempts') = 1 THEN RAISE EXCEPTION $$no room$$; END IF;
    PERFORM pg_advisory_xact_lock_shared(${gate});
    ${others};
  END $body$`)
  await keeper.query(`CREATE TRIGGER refuse BEFORE INSERT ON "${schema}".log FOR EACH ROW
    WHEN (octet_length(NEW.body) >= ${value.length}) EXECUTE FUNCTION "${schema}".refuse()`)
}

const openGate = () => keeper.query(`SELECT pg_advisory_unlock(${gate})`)

/** Begins a write whose second attempt is sent just before the waiting time ends. Resolves when that attempt is under way. */
async function lateWrite() {
  let attempts = 0
  const outcome: { told?: unknown } = {}
  const write = store.transact(() => {
    if (++attempts > 1) nowMs = patienceMs
    return { result: 'committed', writes: [put('late', value)] }
  })
  const told = write.then(
    result => {
      outcome.told = result
    },
    error => {
      outcome.told = error
    },
  )
  await eventually('the second attempt is under way', async () => {
    const waiting = 'SELECT 1 FROM pg_locks WHERE locktype = $$advisory$$ AND NOT granted'
    return (await record.server.query(waiting)).length > 0
  })
  return { outcome, told }
}

async function look(): Promise<void> {
  for (const tick of ticks) tick()
  await setImmediate()
}

function assertRefusal(told: unknown, outcome: string, message: RegExp): void {
  assert.ok(told instanceof StoreUnavailableError, String(told))
  assert.equal(told.outcome, outcome)
  assert.match(told.message, message)
}

describe('a batch under way when the waiting time of writes ends', { skip: noPostgres }, () => {
  test('its outcome is awaited and returned', async () => {
    await refuse('RAISE EXCEPTION $$no room$$')
    const { outcome, told } = await lateWrite()
    nowMs += 1_000
    await look()
    assert.deepEqual(outcome, {})
    await openGate()
    await told
    assertRefusal(outcome.told, 'not committed', /does not accept commits: no room$/)
  })

  test('without a response the outcome is unknown, and the error has the reason of the failed attempt before', async () => {
    await refuse('RAISE EXCEPTION $$no room$$')
    const { outcome, told } = await lateWrite()
    nowMs += 3_000
    await look()
    await told
    assertRefusal(
      outcome.told,
      'unknown',
      /may have been committed, or not; the previous attempt failed: no room$/,
    )
    await openGate()
    assert.equal(await store.transact(() => ({ result: 'goes on', writes: [] })), 'goes on')
  })

  test('the node continues when a batch is committed without waiting callers, and the replica has no room', async () => {
    await refuse('RETURN NEW')
    const { outcome, told } = await lateWrite()
    nowMs += 3_000
    await look()
    await told
    assertRefusal(outcome.told, 'unknown', /may have been committed, or not/)
    const refresh = async () => store.ready(Number.POSITIVE_INFINITY)
    await refresh()
    isFull = true
    await openGate()
    await eventually('the node has tried to write the replica', () => failures === 1)
    // The last refresh was before the commit, and the clock of the test stands still: without this step, the node would
    // not refresh again.
    nowMs += 1_000
    await eventually('its fault is known', () => store.status.fault?.isLocal === true)
    for (let count = 0; count < 3; count++) await assert.rejects(refresh)
    assert.equal(failures, 1)
    nowMs += 2_000
    await assert.rejects(refresh)
    assert.equal(failures, 2)
    isFull = false
    nowMs += 2_000
    assert.equal(await store.transact(() => ({ result: 'goes on', writes: [] })), 'goes on')
  })
})

// A primary with a synchronous standby: no commit is acknowledged that the standby does not have, however the wait for
// the standby ends.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../../src/base/clock.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { redoLog } from '../../src/storage/postgres/catch-up.ts'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { BackgroundLease } from '../../src/storage/postgres/upkeep.ts'
import { eventually } from '../support/eventually.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { copyOf, openTestNode } from '../support/record.ts'
import { list, put } from './bytes.ts'

/** Longer than any step of a test takes, also on a busy machine. The clock of a test advances by this time. */
const patienceMs = 120_000

const writeKey = (store: KeyValueStore, key: string) =>
  store.transact(() => ({ result: key, writes: [put(key, key)] }))

describe('a commit that waits for its synchronous standby', { skip: noPostgres }, () => {
  const waiting = "SELECT pid, xact_start FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  const interruptions: Readonly<Record<string, (primary: PostgresServer) => Promise<unknown>>> = {
    'whose wait is cancelled': primary =>
      primary.query(`SELECT pg_cancel_backend(pid) FROM (${waiting}) AS waiting`),
    'whose backend is terminated': primary =>
      primary.query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) AS waiting`),
    'whose server is restarted': async primary => {
      await primary.kill()
      await primary.run()
    },
  }
  for (const [name, interrupt] of Object.entries(interruptions))
    test(`${name} has an unknown outcome until a later commit is acknowledged`, async () => {
      await using primary = await PostgresServer.start()
      await using standby = await primary.standby()
      const location = { url: primary.url(), schema: 'waiting' }
      let passedMs = 0
      await using store = await openTestNode(location, {
        clock: { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + passedMs },
        writePatienceMs: patienceMs,
      })
      const write = (key: string) => writeKey(store, key)
      let waited: unknown
      /** Waits until a commit waits for the standby that no earlier call has seen. */
      const isWaiting = () =>
        eventually('a commit waits', async () => {
          const [row] = await primary.query(waiting)
          if (row === undefined || isDeepStrictEqual(row, waited)) return false
          waited = row
          return true
        })
      await write('before')
      await standby.kill()
      const doubtful = write('doubtful')
      // Asserted at once, because no other client would read it meanwhile.
      const rejected = assert.rejects(doubtful, { name: 'StoreUnavailableError', outcome: 'unknown' })
      await isWaiting()
      await interrupt(primary)
      // The next attempt begins after the outcome of the interrupted commit was handled.
      await isWaiting()
      passedMs += patienceMs
      await rejected

      const found = write('found')
      await interrupt(primary)
      await standby.run()
      assert.equal(await found, 'found')
      await primary.kill()
      await standby.promote()
      const session = await PostgresSession.open({ ...location, url: standby.url() }, 'tests')
      const copy = await copyOf({ ...location, url: standby.url() })
      await redoLog(session, copy)
      session.close()
      assert.deepEqual(list(copy, 'a'), ['before=before', 'doubtful=doubtful', 'found=found'])
    })
})

test('an address that leads to a standby: reads continue, replicas stay valid, and writes continue after its promotion', {
  skip: noPostgres,
}, async () => {
  await using primary = await PostgresServer.start()
  await using standby = await primary.standby()
  await using proxy = await FaultyProxy.to(primary.port)
  const location = { url: `postgres://tests@127.0.0.1:${proxy.port}/postgres`, schema: 'moving' }
  const told: (string | undefined)[] = []
  await using store = await openTestNode(location, {
    writePatienceMs: patienceMs,
    onFault: fault => told.push(fault?.reason),
  })
  const write = (key: string) => writeKey(store, key)
  await write('before')
  await standby.query('SELECT pg_wal_replay_pause()')
  // The standby has the commit, but it is not visible there.
  await write('behind')
  proxy.redirect(standby.port)
  proxy.cut()
  const after = write('after')
  await eventually('it is told once', () => told.some(reason => reason?.includes('read-only standby')))
  assert.deepEqual(list(store, 'a'), ['before=before', 'behind=behind'])
  await primary.kill()
  await standby.query('SELECT pg_wal_replay_resume()')
  await standby.promote()
  assert.equal(await after, 'after')
  assert.deepEqual(list(store, 'a'), ['after=after', 'before=before', 'behind=behind'])
})

test('a missing standby: reads and leases do not wait, and the fault names the standby', {
  skip: noPostgres,
}, async () => {
  await using primary = await PostgresServer.start()
  await using standby = await primary.standby()
  const location = { url: primary.url(), schema: 'missing' }
  const faults: (string | undefined)[] = []
  let passedMs = 0
  const elapsedMs = () => systemClock.elapsedMs() + passedMs
  await using store = await openTestNode(location, {
    clock: { ...systemClock, elapsedMs },
    writePatienceMs: 10 * patienceMs,
    onFault: fault => faults.push(fault?.reason),
  })
  const write = (key: string) => writeKey(store, key)
  const missing =
    /wait for a synchronous standby \(synchronous_standby_names is 'standby'; no standby is connected\)/
  await write('before')
  await standby.kill()
  const waiting = write('waiting')
  await eventually('the fault names the standby', () => missing.test(store.status.fault?.reason ?? ''))
  assert.equal(store.status.fault?.isLocal, false)
  // Longer than the time after which a node renews its row.
  const seenBefore = faults.length
  for (let renewal = 0; renewal < 3; renewal++) {
    passedMs += 10_000
    await store.ready(Number.POSITIVE_INFINITY)
    assert.match(store.status.fault?.reason ?? '', missing)
  }
  assert.ok(!faults.slice(seenBefore).includes(undefined), 'the fault is not over')
  assert.deepEqual(list(store, 'b'), ['before=before'])
  const rows = await primary.query(
    "SELECT now() - seen < interval '1 minute' AS lives FROM missing.node WHERE name = 'a'",
  )
  assert.deepEqual(rows, [{ lives: true }])

  const session = await PostgresSession.open(location, 'tests')
  await session.commitLocally()
  const lease = new BackgroundLease('a', () => 0)
  await lease.run(session)
  assert.ok(lease.isHeld)
  session.close()

  await standby.run()
  assert.equal(await waiting, 'waiting')
  await eventually('the fault is over', () => store.status.fault === undefined)
})

// Background work over the shared log. Every connection verifies the store and the version of its tables, so nothing is
// written to another store.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/random.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { encodeBatch } from '../../src/storage/kv/batch.ts'
import { openSameStore } from '../../src/storage/postgres/catch-up.ts'
import { Checkpointer } from '../../src/storage/postgres/checkpoint.ts'
import { RecordFiles } from '../../src/storage/postgres/files.ts'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { ReconnectingSession } from '../../src/storage/postgres/reconnecting-session.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'
import { BackgroundLease, Upkeep } from '../../src/storage/postgres/upkeep.ts'
import { eventually } from '../support/eventually.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { put } from './bytes.ts'

describe('background work over the shared log', { skip: noPostgres }, () => {
  let server: PostgresServer
  let schema = ''
  let schemas = 0
  let storeId = ''

  const makeTables = () =>
    PostgresSession.use({ url: server.url(), schema }, 'tests', session => openTables(session, systemRandom))
  const append = () =>
    PostgresSession.use({ url: server.url(), schema }, 'tests', async session => {
      await session.query(
        `INSERT INTO ${session.table('log')} (seq, batch, node, closed, body)
         SELECT max(seq) + 1, 'b', 'tests', 0, $1 FROM ${session.table('log')}`,
        [encodeBatch([put('key', 'value')])],
      )
    })
  const batches = async () =>
    (await server.query(`SELECT seq FROM ${schema}.log ORDER BY seq`)).map(({ seq }) => Number(seq))
  const checkpoint = async () => Number((await server.query(`SELECT seq FROM ${schema}.checkpoint`))[0]?.seq)

  before(async () => {
    server = await PostgresServer.start()
  })
  after(() => server.stop())
  beforeEach(async () => {
    schema = `upkeep_${++schemas}`
    storeId = await makeTables()
  })

  test('a running node writes no checkpoint into tables of a newer release', async () => {
    const upkeep = new Upkeep({
      open: () => openSameStore({ url: server.url(), schema }, 'a', storeId),
      timers: systemTimers,
      everyMs: 5,
      tasks: [new Checkpointer('a', 600)],
      onError: error => assert.fail(String(error)),
    })
    try {
      await append()
      await eventually('the state is written forward', async () => (await checkpoint()) === 1)
      await server.query(`UPDATE ${schema}.meta SET version = 99`)
      await append()
      // Another checkpointer fails, too.
      const session = await PostgresSession.open({ url: server.url(), schema }, 'b')
      await assert.rejects(new Checkpointer('a', 600).run(session), /version 99; this program knows/)
      session.close()
      await assert.rejects(openSameStore({ url: server.url(), schema }, 'a', storeId), /version 99/)
      assert.equal(await checkpoint(), 1)
    } finally {
      await upkeep.stop()
    }
  })

  test('log rows are kept for the configured time', async () => {
    for (let count = 0; count < 4; count++) await append()
    await server.query(`UPDATE ${schema}.log SET at = now() - interval '20 minutes' WHERE seq < 3`)
    await PostgresSession.use({ url: server.url(), schema }, 'a', async session => {
      const run = async (retentionSeconds: number) => {
        const checkpointer = new Checkpointer('a', retentionSeconds)
        while (await checkpointer.run(session));
        return batches()
      }
      assert.deepEqual(await run(3600), [0, 1, 2, 3, 4])
      assert.deepEqual(await run(600), [3, 4])
    })
  })

  test('neither leases nor files are written to another store behind the same address', async () => {
    const proxy = await FaultyProxy.to(server.port)
    const location = { url: server.url().replace(`:${server.port}/`, `:${proxy.port}/`), schema }
    let rejections = 0
    const open = async () => {
      try {
        return await openSameStore(location, 'a', storeId)
      } catch (error) {
        assert.match(String(error), /leads to another one|contains no store|cannot be reached/)
        if (String(error).includes('another one')) rejections++
        throw error
      }
    }
    const upkeep = new Upkeep({
      open,
      timers: systemTimers,
      everyMs: 5,
      tasks: [new BackgroundLease('a', systemClock.elapsedMs)],
      onError: error => assert.fail(String(error)),
    })
    const files = new RecordFiles(new ReconnectingSession(open), systemRandom)
    const leases = async () => Number((await server.query(`SELECT count(*) FROM ${schema}.lease`))[0]?.count)
    try {
      await eventually('the lease is held', async () => (await leases()) === 1)
      proxy.reject(true)
      await server.query(`DROP SCHEMA ${schema} CASCADE`)
      await makeTables()
      proxy.reject(false)
      await eventually('the work looks for its store', () => rejections > 3)
      assert.equal(await leases(), 0)
      await assert.rejects(files.remove('file'), /leads to another one/)
    } finally {
      await upkeep.stop()
      await proxy.close()
    }
  })
})

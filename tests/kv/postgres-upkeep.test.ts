// Background work over the shared log. Every connection verifies the store and the version of its tables, so nothing is
// written to another store.

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/random.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { encodeBatch } from '../../src/storage/kv/batch.ts'
import { openSameStore } from '../../src/storage/postgres/catch-up.ts'
import { Checkpointer } from '../../src/storage/postgres/checkpoint.ts'
import { RecordFiles } from '../../src/storage/postgres/files.ts'
import type { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { ReconnectingSession } from '../../src/storage/postgres/reconnecting-session.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'
import { BackgroundLease, Upkeep, type UpkeepTask } from '../../src/storage/postgres/upkeep.ts'
import { eventually } from '../support/eventually.ts'
import { noPostgres } from '../support/postgres.ts'
import { recordOfTest } from '../support/record.ts'
import { put } from './bytes.ts'

function startUpkeep(open: () => Promise<PostgresSession>, task: UpkeepTask): AsyncDisposable {
  const onError = (error: unknown) => assert.fail(String(error))
  const upkeep = new Upkeep({ open, timers: systemTimers, everyMs: 5, tasks: [task], onError })
  return { [Symbol.asyncDispose]: () => upkeep.stop() }
}

describe('background work over the shared log', { skip: noPostgres }, () => {
  const record = recordOfTest()
  let storeId = ''

  const makeTables = async () => openTables(await record.session(), systemRandom)
  const append = async () => {
    const session = await record.session()
    await session.query(
      `INSERT INTO ${session.table('log')} (seq, batch, node, closed, body)
       SELECT max(seq) + 1, 'b', 'tests', 0, $1 FROM ${session.table('log')}`,
      [encodeBatch([put('key', 'value')])],
    )
  }
  const number = async (query: string) =>
    Number(Object.values((await record.server.query(query))[0] ?? {})[0])
  const batches = async () =>
    (await record.server.query(`SELECT seq FROM ${record.schema}.log ORDER BY seq`)).map(row =>
      Number(row.seq),
    )
  const checkpoint = () => number(`SELECT seq FROM ${record.schema}.checkpoint`)

  beforeEach(async () => {
    storeId = await makeTables()
  })

  test('a running node writes no checkpoint into tables of a newer release', async () => {
    const open = () => openSameStore(record.location, 'a', storeId)
    await using _ = startUpkeep(open, new Checkpointer('a', 600))
    await append()
    await eventually('the state is written forward', async () => (await checkpoint()) === 1)
    await record.server.query(`UPDATE ${record.schema}.meta SET version = 99`)
    await append()
    // Another checkpointer fails, too.
    const other = new Checkpointer('a', 600).run(await record.session())
    await assert.rejects(other, /version 99; this program knows/)
    await assert.rejects(open(), /version 99/)
    assert.equal(await checkpoint(), 1)
  })

  test('log rows are kept for the configured time', async () => {
    for (let count = 0; count < 4; count++) await append()
    await record.server.query(
      `UPDATE ${record.schema}.log SET at = now() - interval '20 minutes' WHERE seq < 3`,
    )
    const session = await record.session()
    const run = async (retentionSeconds: number) => {
      const checkpointer = new Checkpointer('a', retentionSeconds)
      while (await checkpointer.run(session));
      return batches()
    }
    assert.deepEqual(await run(3600), [0, 1, 2, 3, 4])
    assert.deepEqual(await run(600), [3, 4])
  })

  test('neither leases nor files are written to another store behind the same address', async () => {
    let rejections = 0
    const open = async () => {
      try {
        return await openSameStore(record.proxied, 'a', storeId)
      } catch (error) {
        assert.match(String(error), /leads to another one|contains no store|cannot be reached/)
        if (String(error).includes('another one')) rejections++
        throw error
      }
    }
    await using _ = startUpkeep(open, new BackgroundLease('a', systemClock.elapsedMs))
    const files = new RecordFiles(new ReconnectingSession(open), systemRandom)
    const leases = async () => number(`SELECT count(*) FROM ${record.schema}.lease`)
    await eventually('the lease is held', async () => (await leases()) === 1)
    record.proxy.reject(true)
    await record.server.query(`DROP SCHEMA ${record.schema} CASCADE`)
    await makeTables()
    record.proxy.reject(false)
    await eventually('the work looks for its store', () => rejections > 3)
    assert.equal(await leases(), 0)
    await assert.rejects(files.remove('file'), /leads to another one/)
  })
})

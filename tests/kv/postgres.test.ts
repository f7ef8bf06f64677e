// The engine over a PostgreSQL record passes the suite of every engine, with an empty record for each test.

import { after, before, describe } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { epoch } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import { systemTimers } from '../../src/base/timers.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { copyOf } from '../support/record-copy.ts'
import { storeSuite } from './suite.ts'

describe('postgres', { skip: noPostgres }, () => {
  let server: PostgresServer
  let schemas = 0
  before(async () => {
    server = await PostgresServer.start()
  })
  after(() => server.stop())

  async function open(): Promise<KeyValueStore> {
    const location = { url: server.url(), schema: `store_${++schemas}` }
    return openPostgres({
      location,
      local: await copyOf(location),
      node: 'tests',
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      newestTime: () => epoch,
      onDiverged: reason => {
        throw new Error(reason)
      },
    })
  }
  storeSuite('postgres', open)
})

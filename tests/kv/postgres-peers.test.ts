// Nodes that stop reading the responses of the database during a commit. The other nodes continue.

import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { epoch } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { openPostgres, type PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { lockHead, readHead, readLog } from '../../src/storage/postgres/record.ts'
import { openTables } from '../../src/storage/postgres/tables.ts'
import { eventually } from '../support/eventually.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { patience } from '../support/patience.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { copyOf } from '../support/record-copy.ts'
import { bytes, put } from './bytes.ts'

const holdMs = 500
const never = () => () => undefined
/** More bytes than the buffers of sockets hold. */
const large = new Uint8Array(24 << 20)

const write = (store: PostgresStore, key: string) =>
  store.transact(() => ({ result: key, writes: [put(key, '')] }))
const writeLarge = (store: PostgresStore) =>
  store.transact(() => ({ result: 0, writes: [{ key: bytes('large'), value: large }] }))
/** Writes the large value. The time that the write takes is not the subject of a test. */
const storeLarge = (store: PostgresStore) =>
  eventually('the large value is stored', () =>
    writeLarge(store).then(
      () => true,
      () => false,
    ),
  )

describe('a node that does not read the responses to its queries', { skip: noPostgres }, () => {
  let server: PostgresServer
  let proxy: FaultyProxy
  let schema = ''
  let stores: PostgresStore[] = []
  let schemas = 0

  before(async () => {
    server = await PostgresServer.start()
  })
  after(() => server.stop())
  beforeEach(async () => {
    proxy = await FaultyProxy.to(server.port)
    schema = `peers_${++schemas}`
    stores = []
    const session = await PostgresSession.open({ url: server.url(), schema }, 'tests')
    await openTables(session, systemRandom)
    session.close()
  })
  afterEach(async () => {
    await proxy.close()
    await Promise.all(stores.map(store => store.close()))
  })

  const proxied = () => server.url().replace(String(server.port), String(proxy.port))

  /** Opens a node. A node that `follows` polls the log by itself. */
  async function node(name: string, url: string, follows = true): Promise<PostgresStore> {
    const location = { url, schema, holdMs }
    const store = await openPostgres({
      location,
      local: await copyOf(location),
      node: name,
      clock: follows ? systemClock : { ...systemClock, elapsedMs: () => 0 },
      timers: follows ? systemTimers : { after: never, every: never },
      random: systemRandom,
      newestTime: () => epoch,
      // Only the database closes the connection of a node that is stuck, because the proxy keeps it open.
      writePatienceMs: patience(60_000),
      onDiverged: reason => assert.fail(reason),
    })
    stores.push(store)
    return store
  }

  test('a node that stops while it catches up for a commit releases the head', async () => {
    const stuck = await node('stuck', proxied(), false)
    const other = await node('other', server.url())
    await storeLarge(other)
    const asked = new Promise<void>(resolve => {
      proxy.stallsAfter = sent => {
        if (!sent.includes('bytes_before')) return false
        resolve()
        return true
      }
    })
    const late = write(stuck, 'late').catch(() => undefined)
    await asked
    assert.equal(await write(other, 'meanwhile'), 'meanwhile')
    await proxy.close()
    await stuck.close()
    await late
  })

  test('a session that holds the head and does not read its response is closed', async () => {
    const other = await node('other', server.url())
    await storeLarge(other)
    const session = await PostgresSession.open({ url: proxied(), schema, holdMs }, 'stuck')
    await lockHead(session)
    proxy.stallsAfter = sent => sent.includes('bytes_before')
    const rows = readLog(session, 0, 1).catch(() => undefined)
    assert.equal(await write(other, 'meanwhile'), 'meanwhile')
    session.close()
    await rows
  })

  test('a first commit whose query text does not arrive releases the head', async () => {
    const stuck = await node('stuck', proxied())
    const other = await node('other', server.url())
    const { seq } = await readHeadOf()
    // A part of the text has been sent when the node stops.
    const begun = new Promise<void>(resolve => {
      proxy.swallowsAfter = sent => {
        if (sent.length < 16_384) return false
        resolve()
        return true
      }
    })
    const late = writeLarge(stuck).catch(() => undefined)
    await begun
    assert.equal(await write(other, 'meanwhile'), 'meanwhile')
    assert.equal((await readHeadOf()).seq, seq + 1)
    await proxy.close()
    await stuck.close()
    await late
  })

  async function readHeadOf() {
    const session = await PostgresSession.open({ url: server.url(), schema }, 'tests')
    const head = await readHead(session)
    session.close()
    return head
  }

  test('a commit stops waiting for the head before its node gives up', async () => {
    const session = await PostgresSession.open({ url: server.url(), schema, holdMs: 60_000 }, 'tests')
    const [row] = await session.query('SHOW lock_timeout')
    assert.equal(row?.lock_timeout, '7s')
    session.close()
  })
})

// Nodes that stop reading the responses of the database during a commit. The other nodes continue.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import type { PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { lockHead, readHead, readLog } from '../../src/storage/postgres/record.ts'
import { eventually } from '../support/eventually.ts'
import { patience } from '../support/patience.ts'
import { noPostgres } from '../support/postgres.ts'
import { recordOfTest } from '../support/record.ts'
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
  const record = recordOfTest()

  /** Opens a node. A node that `follows` polls the log by itself. */
  const node = (name: string, location = record.location, follows = true) =>
    record.node(name, {
      location: { ...location, holdMs },
      ...(!follows && {
        clock: { ...systemClock, elapsedMs: () => 0 },
        timers: { after: never, every: never },
      }),
      // Only the database closes the connection of a node that is stuck, because the proxy keeps it open.
      writePatienceMs: patience(60_000),
    })
  const head = async () => readHead(await record.session())

  test('a node that stops while it catches up for a commit releases the head', async () => {
    const stuck = await node('stuck', record.proxied, false)
    const other = await node('other')
    await storeLarge(other)
    const asked = new Promise<void>(resolve => {
      record.proxy.stallsAfter = sent => {
        if (!sent.includes('bytes_before')) return false
        resolve()
        return true
      }
    })
    write(stuck, 'late').catch(() => undefined)
    await asked
    assert.equal(await write(other, 'meanwhile'), 'meanwhile')
  })

  test('a session that holds the head and does not read its response is closed', async () => {
    const other = await node('other')
    await storeLarge(other)
    const session = await record.session({ ...record.proxied, holdMs })
    await lockHead(session)
    record.proxy.stallsAfter = sent => sent.includes('bytes_before')
    readLog(session, 0, 1).catch(() => undefined)
    assert.equal(await write(other, 'meanwhile'), 'meanwhile')
  })

  test('a first commit whose query text does not arrive releases the head', async () => {
    const stuck = await node('stuck', record.proxied)
    const other = await node('other')
    const { seq } = await head()
    // A part of the text has been sent when the node stops.
    const begun = new Promise<void>(resolve => {
      record.proxy.swallowsAfter = sent => {
        if (sent.length < 16_384) return false
        resolve()
        return true
      }
    })
    writeLarge(stuck).catch(() => undefined)
    await begun
    assert.equal(await write(other, 'meanwhile'), 'meanwhile')
    assert.equal((await head()).seq, seq + 1)
  })

  test('a commit stops waiting for the head before its node gives up', async () => {
    const session = await record.session({ ...record.location, holdMs: 60_000 })
    const [row] = await session.query('SHOW lock_timeout')
    assert.equal(row?.lock_timeout, '7s')
  })
})

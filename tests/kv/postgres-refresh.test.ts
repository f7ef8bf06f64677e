// When a node refreshes its replica from the record, and which reads wait for a refresh.

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import type { PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { noPostgres } from '../support/postgres.ts'
import { recordOfTest } from '../support/record.ts'
import { ManualClock } from '../support/seeded.ts'
import { bytes, put } from './bytes.ts'

/** Maximum age of reads while the database is unavailable. */
const staleReadsMs = 60_000

const never = () => () => undefined

/** Repeats a refresh that failed because PostgreSQL did not respond in time, for example on a busy machine. */
async function recover(node: PostgresStore): Promise<void> {
  while (node.status.fault !== undefined) await node.ready(Number.POSITIVE_INFINITY)?.catch(() => undefined)
}

describe('the freshness of a node', { skip: noPostgres }, () => {
  const record = recordOfTest()
  let clock: ManualClock
  let node: PostgresStore

  beforeEach(async () => {
    clock = new ManualClock()
    node = await open('node')
  })

  /** A node whose clock and connections the test controls. */
  const open = (name: string, readPatienceMs = staleReadsMs) =>
    record.node(name, {
      location: record.proxied,
      clock,
      timers: { after: never, every: never },
      readPatienceMs,
    })

  const pass = (ms: number) => clock.advance(ms * 1000)
  const readKey = () => node.read(view => view.get(bytes('key')))

  test('a read starts the next refresh before the last is too old, without waiting', async () => {
    pass(2)
    assert.equal(node.ready(0), undefined)
    assert.equal(node.status.lagMs, 2, 'what is two milliseconds old is fresh enough')
    pass(2)
    assert.equal(node.ready(0), undefined)
    await eventually('the refresh that the read has begun ends', () =>
      recover(node).then(() => node.status.lagMs === 0),
    )
  })

  test('a read waits when the last refresh is too old', async () => {
    pass(6)
    const wait = node.ready(0)
    assert.ok(wait)
    await wait
    await recover(node)
    assert.equal(node.status.lagMs, 0)
    // The time of the database advances, unlike the clock of this test. On a slow machine, the closed time may be too old
    // after the first refresh.
    await eventually('a fresh read does not wait', () => node.ready(0) === undefined)
  })

  test('a commit counts as a refresh', async () => {
    pass(100)
    await node.transact(() => ({ result: undefined, writes: [put('key', 'value')] }))
    assert.equal(node.status.lagMs, 0)
    assert.equal(node.ready(0), undefined)
    assert.deepEqual(readKey(), bytes('value'))
  })

  test('reads end by the age of the replica, also directly after a pause of the process', async () => {
    await node.transact(() => ({ result: undefined, writes: [put('key', 'value')] }))
    record.proxy.reject(true)
    record.proxy.cut()
    pass(staleReadsMs - 1)
    await node.ready(0)
    assert.deepEqual(readKey(), bytes('value'), 'young enough')
    pass(2)
    await node.ready(0)
    assert.throws(readKey, StoreUnavailableError)
    record.proxy.reject(false)
    await node.ready(Number.POSITIVE_INFINITY)
    assert.deepEqual(readKey(), bytes('value'))
  })

  test('the first read after a pause waits for a refresh, and no read sees the old state', async () => {
    await node.transact(() => ({ result: undefined, writes: [put('key', 'value')] }))
    pass(staleReadsMs + 1)
    assert.throws(readKey, StoreUnavailableError, 'without a wait')
    const wait = node.ready(0)
    assert.ok(wait)
    await wait
    await recover(node)
    assert.deepEqual(readKey(), bytes('value'))
    assert.equal(node.status.lagMs, 0)
  })

  test('an idle node without a fault is readable, also if reads must end with the first fault', async () => {
    await node.close()
    node = await open('strict', 0)
    pass(2_000)
    assert.equal(readKey(), undefined)
    record.proxy.reject(true)
    record.proxy.cut()
    await node.ready(0)
    assert.throws(readKey, StoreUnavailableError)
  })
})

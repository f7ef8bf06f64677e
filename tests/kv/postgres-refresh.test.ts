// When a node refreshes its replica from the record, and which reads wait for a refresh.

import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import { openPostgres, type PostgresStore } from '../../src/storage/kv/postgres/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { copyOf } from '../support/record-copy.ts'
import { ManualClock } from '../support/seeded.ts'
import { bytes, put } from './bytes.ts'

const never = () => () => undefined

describe('the freshness of a node', { skip: noPostgres }, () => {
  let server: PostgresServer
  let clock: ManualClock
  let node: PostgresStore
  let schemas = 0

  before(async () => {
    server = await PostgresServer.start()
  })
  after(() => server.stop())
  beforeEach(async () => {
    clock = new ManualClock()
    node = await open('node')
  })
  afterEach(() => node.close())

  /** A node over its own record, whose clock the test controls. */
  async function open(name: string): Promise<PostgresStore> {
    const location = { url: server.url(), schema: `fresh_${++schemas}` }
    return openPostgres({
      location,
      local: await copyOf(location),
      node: name,
      clock,
      timers: { after: never, every: never },
      random: systemRandom,
      newestTime: () => epoch,
      onDiverged: reason => assert.fail(reason),
    })
  }

  const pass = (ms: number) => clock.advance(ms * 1000)

  test('a read starts the next refresh before the last is too old, without waiting', async () => {
    pass(2)
    assert.equal(node.ready(0), undefined)
    assert.equal(node.standing.lagMs, 2, 'what is two milliseconds old is fresh enough')
    pass(2)
    assert.equal(node.ready(0), undefined)
    await eventually('the refresh that the read has begun ends', () => node.standing.lagMs === 0)
  })

  test('a read waits when the last refresh is too old', async () => {
    pass(6)
    const wait = node.ready(0)
    assert.ok(wait)
    await wait
    assert.equal(node.standing.lagMs, 0)
    assert.equal(node.ready(0), undefined)
  })

  test('a commit counts as a refresh', async () => {
    pass(100)
    await node.transact(() => ({ result: undefined, writes: [put('key', 'value')] }))
    assert.equal(node.standing.lagMs, 0)
    assert.equal(node.ready(0), undefined)
    assert.deepEqual(
      node.read(view => view.get(bytes('key'))),
      bytes('value'),
    )
  })
})

// Two nodes that both believe to hold the lease of the background work, for example after a pause longer than the
// lease. The test controls the clocks of the leases. Doing the work twice must have the same result as doing it once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { redoLog } from '../../src/storage/postgres/catch-up.ts'
import { advanceCheckpoint } from '../../src/storage/postgres/checkpoint.ts'
import { copyState } from '../../src/storage/postgres/copy-state.ts'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { BackgroundLease } from '../../src/storage/postgres/upkeep.ts'
import { Background } from '../../src/storage/store/background.ts'
import { list } from '../kv/bytes.ts'
import { noPostgres, type PostgresServer } from '../support/postgres.ts'
import { postgresOfFile } from '../support/record.ts'
import {
  createCollection,
  createIndex,
  data,
  definitionOf,
  documentRef,
  field,
} from '../unit/storage/store/support.ts'
import { type NodeStore, openPair } from './in-process.ts'

/** The parts of a node that matter for background work. */
interface Node extends NodeStore {
  readonly background: Background
  readonly lease: BackgroundLease
  /** Its monotonic clock in milliseconds, which stands still while the node is paused. */
  readonly clock: { ms: number }
}

async function openNodes(server: PostgresServer) {
  const pair = await openPair(server)
  const { session } = pair
  const nodeOf = (name: string, { kv, store }: NodeStore): Node => {
    const clock = { ms: 0 }
    const lease = new BackgroundLease(name, () => clock.ms)
    const background = new Background(store, error => assert.fail(error as Error))
    return { kv, store, background, lease, clock }
  }
  const moveEnd = (offset: string) =>
    session.query(`UPDATE ${session.table('lease')} SET until = now() + interval '${offset}'`)
  return {
    ...pair,
    a: nodeOf('a', pair.a),
    b: nodeOf('b', pair.b),
    /** Ends the lease by the database's clock. */
    endLease: () => moveEnd('-1 second'),
    /** Extends the lease by the database's clock, because it may end while this process stalls. */
    extendLease: () => moveEnd('1 hour'),
  }
}

describe('two holders of a lease', { skip: noPostgres }, () => {
  const server = postgresOfFile()

  test('a paused node learns from its own clock that its lease is over, and from the row that another node has it', async () => {
    await using nodes = await openNodes(server)
    const { a, b, endLease, extendLease, session } = nodes
    await a.lease.run(session)
    await extendLease()
    await b.lease.run(session)
    assert.deepEqual([a.lease.isHeld, b.lease.isHeld], [true, false])
    await endLease()
    await b.lease.run(session)
    await extendLease()
    // A clock that stood still, like that of a suspended machine, does not show the end of the lease.
    assert.deepEqual([a.lease.isHeld, b.lease.isHeld], [true, true])
    a.clock.ms += 5_000
    assert.deepEqual([a.lease.isHeld, b.lease.isHeld], [false, true])
    await a.lease.run(session)
    assert.deepEqual([a.lease.isHeld, b.lease.isHeld], [false, true])
  })

  test('both build an index and remove expired versions: the result is correct', async () => {
    await using nodes = await openNodes(server)
    const { a, b, endLease, session } = nodes
    const documents = 300
    const { result } = await a.store.write(transaction => {
      const users = createCollection(transaction, 'users', { history_days: 0n })
      for (let id = 0; id < documents; id++) transaction.put(documentRef(users, id), data({ n: 1n }))
      return users
    })
    for (const n of [2n, 3n])
      await a.store.write(transaction => {
        for (let id = 0; id < documents; id++) transaction.put(documentRef(result, id), data({ n }))
      })
    const made = await a.store.write(transaction =>
      createIndex(transaction, 'by_n', { source: result, terms: [field('n')] }),
    )
    await a.lease.run(session)
    await endLease()
    await b.lease.run(session)
    assert.deepEqual([a.lease.isHeld, b.lease.isHeld], [true, true])
    for (let rounds = 0, isBusy = true; isBusy || rounds < 8; rounds++) {
      await Promise.all([a, b].map(node => node.kv.ready(Number.POSITIVE_INFINITY)))
      const busy = await Promise.all([a, b].map(node => node.background.runOnce()))
      isBusy = busy.includes(true)
    }
    await Promise.all([a, b].map(node => node.kv.ready(Number.POSITIVE_INFINITY)))
    for (const { store } of [a, b]) {
      assert.deepEqual(store.check(), [])
      const found = store.read(transaction => {
        const index = definitionOf(transaction, made.result)
        assert.equal(index.active, true)
        return [...transaction.match(index, [3n], {})].length
      })
      assert.equal(found.result, documents)
      const activations = store.read(transaction => [...transaction.versions(made.result)].length)
      assert.equal(activations.result, 2, 'created, and built once')
    }
    assert.deepEqual(list(a.kv), list(b.kv))
  })

  test('both update the state: it is the state of the log', async () => {
    await using nodes = await openNodes(server)
    const { a, location, session } = nodes
    for (let n = 0; n < 60; n++)
      await a.kv.transact(() => ({
        result: undefined,
        writes: [
          { key: Buffer.from('Zcount'), value: Buffer.from(String(n)) },
          { key: Buffer.from(`Zrow ${n}`), value: Buffer.from(String(n)) },
          { key: Buffer.from(`Zrow ${n - 7}`), value: undefined },
        ],
      }))
    const other = await PostgresSession.open(location, 'other')
    const advance = async (on: PostgresSession) => {
      while (await advanceCheckpoint(on));
    }
    await Promise.all([advance(session), advance(other)])
    const copy = openMemory()
    await copyState(session, copy, 'new', () => undefined)
    assert.deepEqual(list(copy, 'Z'), list(a.kv, 'Z'))
    await redoLog(session, copy)
    assert.deepEqual(list(copy, 'Z'), list(a.kv, 'Z'))
    other.close()
  })
})

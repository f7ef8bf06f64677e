// Failures of connections and servers of the engine over PostgreSQL: each acknowledged transaction is applied exactly
// once, transactions rejected with "not committed" are not applied, and all nodes have the same state. The file takes
// more than 20 seconds, because it stops and starts PostgreSQL and waits for lost connections.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import { redoLog } from '../../src/storage/postgres/catch-up.ts'
import { advanceCheckpoint } from '../../src/storage/postgres/checkpoint.ts'
import { copyState } from '../../src/storage/postgres/copy-state.ts'
import type { PostgresStore } from '../../src/storage/postgres/postgres.ts'
import { readHead, readLog } from '../../src/storage/postgres/record.ts'
import { readNote } from '../../src/storage/postgres/replica.ts'
import { eventually } from '../support/eventually.ts'
import { noPostgres } from '../support/postgres.ts'
import { copyOf, openTestNode, recordOfTest } from '../support/record.ts'
import { bytes, list, put, text, withFullDisk } from './bytes.ts'

/** Milliseconds that writes wait for an unavailable database; longer than any step of a test takes. */
const patienceMs = 120_000

const record = recordOfTest()
let names = 0
/** Milliseconds that have passed for the nodes alone. */
let passedMs = 0

const node = (name: string, options: Parameters<typeof openTestNode>[1] = {}) =>
  record.node(name, {
    clock: { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + passedMs },
    writePatienceMs: patienceMs,
    ...options,
  })
const proxiedNode = (name: string) => node(name, { location: record.proxied })

/** Increments a counter and adds a row; resolves with the outcome that the client gets. */
async function increment(
  store: PostgresStore,
  name: string,
): Promise<'acknowledged' | 'rejected' | 'unknown'> {
  try {
    await store.transact(view => {
      const count = Number(text(view.get(bytes('count'))) ?? '0')
      const writes = [put('count', String(count + 1)), put(`op ${name}`, String(count))]
      return { result: undefined, writes }
    })
    return 'acknowledged'
  } catch (error) {
    assert.ok(error instanceof StoreUnavailableError, String(error))
    return error.outcome === 'unknown' ? 'unknown' : 'rejected'
  }
}

/** Asserts that every acknowledged increment counts once, no rejected one counts, and the nodes agree. */
async function verify(told: ReadonlyMap<string, string>): Promise<void> {
  const reader = await node('reader')
  const rows = list(reader)
  const done = new Set(rows.filter(row => row.startsWith('op ')).map(row => row.slice(3).split('=')[0]))
  for (const [name, outcome] of told) {
    if (outcome === 'acknowledged') assert.ok(done.has(name), `${name} was acknowledged and is lost`)
    if (outcome === 'rejected') assert.ok(!done.has(name), `${name} was rejected and is there`)
  }
  assert.ok(rows.includes(`count=${done.size}`), rows.join(', '))
  const counts = rows.filter(row => row.startsWith('op ')).map(row => row.split('=')[1])
  assert.equal(new Set(counts).size, done.size)
  for (const store of record.nodes) {
    await store.transact(() => ({ result: undefined, writes: [] }))
    assert.deepEqual(list(store), rows)
  }
}

async function load(
  nodes: readonly PostgresStore[],
  each: number,
  meanwhile: (done: number) => void | Promise<void>,
): Promise<Map<string, string>> {
  const told = new Map<string, string>()
  await Promise.all(
    nodes.map(async (store, at) => {
      for (let index = 0; index < each; index++) {
        await Promise.all(
          [0, 1, 2].map(async client => {
            const name = `${++names}-${at}-${client}`
            told.set(name, await increment(store, name))
          }),
        )
        if (at === 0) await meanwhile(index)
      }
    }),
  )
  return told
}

describe('faults of connections', { skip: noPostgres }, () => {
  test('all increments of one counter by two nodes count', async () => {
    const nodes = [await node('a'), await node('b')]
    const told = await load(nodes, 40, () => undefined)
    assert.deepEqual(new Set(told.values()), new Set(['acknowledged']))
    await verify(told)
  })

  test('connections that break at any moment: no commit is lost or applied twice', async () => {
    const nodes = [await proxiedNode('a'), await node('b')]
    const told = await load(nodes, 40, index => {
      if (index % 5 === 0) record.proxy.cut()
    })
    await verify(told)
  })

  test('a connection that breaks during COMMIT: the node determines the outcome', async () => {
    const nodes = [await proxiedNode('a'), await node('b')]
    let commits = 0
    record.proxy.cutsAfter = sent => sent.includes('COMMIT') && ++commits % 3 === 0
    const told = await load(nodes, 30, () => undefined)
    record.proxy.cutsAfter = () => false
    assert.ok(commits >= 30)
    assert.deepEqual(new Set(told.values()), new Set(['acknowledged']))
    await verify(told)
  })

  test('a connection that breaks while the head is released: transactions without writes still get their result', async () => {
    const store = await proxiedNode('a')
    let isCut = false
    record.proxy.losesAndCuts = sent => {
      const isLost = sent.includes('ROLLBACK')
      isCut ||= isLost
      return isLost
    }
    assert.equal(await store.transact(() => ({ result: 'nothing to write', writes: [] })), 'nothing to write')
    await eventually('the connection is cut', () => isCut)
    record.proxy.losesAndCuts = () => false
    await verify(new Map([['after', await increment(store, 'after')]]))
  })

  test('a connection that breaks while the head is released: a transaction that arrived after the lock runs again', async () => {
    const store = await proxiedNode('a')
    await increment(store, 'before')
    let runs = 0
    let late: Promise<unknown> | undefined
    record.proxy.losesAndCuts = sent => {
      // The node has asked for the lock, and takes transactions from its queue when it has the lock.
      if (sent.includes('lock head')) late ??= store.transact(() => ({ result: `run ${++runs}`, writes: [] }))
      return sent.includes('ROLLBACK') && runs === 1
    }
    const early = store.transact(() => ({ result: 'nothing to write', writes: [] }))
    assert.equal(await early, 'nothing to write')
    assert.equal(await late, 'run 2')
    record.proxy.losesAndCuts = () => false
    await verify(new Map([['after', await increment(store, 'after')]]))
  })
})

describe('faults of the database', { skip: noPostgres }, () => {
  test('the database is killed during commits and restarted', async () => {
    const nodes = [await node('a'), await node('b')]
    const told = await load(nodes, 30, async index => {
      if (index !== 10) return
      await record.server.kill()
      await record.server.run()
    })
    await verify(told)
  })

  test('while the database is unavailable, reads continue and writes are rejected; afterwards writes continue without intervention', async () => {
    const store = await proxiedNode('a')
    assert.equal(await increment(store, 'before'), 'acknowledged')
    record.proxy.reject(true)
    const away = increment(store, 'away')
    await eventually('the database is away', () => store.status.fault !== undefined)
    passedMs += patienceMs
    assert.equal(await away, 'rejected')
    assert.deepEqual(list(store), ['count=1', 'op before=0'])
    record.proxy.reject(false)
    let outcome = await increment(store, 'after 0')
    const told = new Map([
      ['before', 'acknowledged'],
      ['away', 'rejected'],
      ['after 0', outcome],
    ] as [string, string][])
    for (let attempt = 1; outcome !== 'acknowledged'; attempt++) {
      outcome = await increment(store, `after ${attempt}`)
      told.set(`after ${attempt}`, outcome)
    }
    await verify(told)
  })

  test('nodes that are too old for the tables reject writes, also in open sessions', async () => {
    const told: (string | undefined)[] = []
    const store = await node('a', { onFault: fault => told.push(fault?.reason) })
    assert.equal(await increment(store, 'before'), 'acknowledged')
    const meta = `"${record.schema}".meta`
    const known = await record.server.query(`SELECT version FROM ${meta}`)
    await record.server.query(`UPDATE ${meta} SET version = version + 1`)
    const after = increment(store, 'after')
    const version = /have version \d+; this program knows version \d+/
    await eventually('it is said', () => told.some(reason => version.test(String(reason))))
    passedMs += patienceMs
    assert.equal(await after, 'rejected')
    await record.server.query(`UPDATE ${meta} SET version = ${known[0]?.version}`)
    await eventually(
      'it accepts writes again',
      async () => (await increment(store, 'known again')) === 'acknowledged',
    )
  })
})

describe('nodes with an older replica than the record', { skip: noPostgres }, () => {
  test('a commit whose node has a full disk is reported when there is space, or as committed', async () => {
    let isFull = false
    const local = withFullDisk(await copyOf(record.location), () => isFull)
    const store = await node('full', { local })
    // The disk is full from the moment at which the batch is sent, so the log has the batch.
    const write = async (key: string) => {
      const newest = async () =>
        Number((await record.server.query(`SELECT max(seq) FROM ${record.schema}.log`))[0]?.max)
      const before = await newest()
      const told = store.transact(() => {
        isFull = true
        return { result: key, writes: [put(key, key)] }
      })
      told.catch(() => undefined)
      await eventually('the log has it', async () => isFull && (await newest()) > before)
      return { told }
    }
    const first = await write('first')
    isFull = false
    assert.equal(await first.told, 'first')
    const second = await write('second')
    passedMs += patienceMs
    await assert.rejects(second.told, (error: unknown) => {
      assert.ok(error instanceof StoreUnavailableError)
      assert.match(error.message, /^this was committed, but the replica .* check on another node/)
      return error.outcome === 'unknown'
    })
    isFull = false
    await eventually('it is there here, too', () => list(store, 'a').includes('second=second'))
  })

  test('a node that was paused catches up before it locks the head', async () => {
    let nowMs = 0
    const never = () => () => undefined
    const paused = await node('paused', {
      location: record.proxied,
      clock: { ...systemClock, elapsedMs: () => nowMs },
      // It does not poll the log.
      timers: { after: never, every: never },
    })
    await paused.ready(Number.POSITIVE_INFINITY)
    const told = await load([await node('a')], 3, () => undefined)
    const sent: string[] = []
    record.proxy.cutsAfter = statement => {
      sent.push(...['bytes_before', 'lock head'].filter(part => statement.includes(part)))
      return false
    }
    nowMs += 5_000
    told.set('late', await increment(paused, 'late'))
    assert.deepEqual(sent, ['bytes_before', 'lock head'])
    await verify(told)
  })

  test('a long log with large batches is fetched in parts', async () => {
    const writer = await node('a')
    const value = new Uint8Array(1_000_000)
    const write = (key: string) => ({ key: bytes(key), value })
    for (let n = 0; n < 12; n++) await writer.transact(() => ({ result: n, writes: [write(`large ${n}`)] }))
    await writer.transact(() => ({
      result: 0,
      writes: Array.from({ length: 9 }, (_, n) => write(`one ${n}`)),
    }))
    const session = await record.session()
    const { seq } = await readHead(session)
    const sizes: number[] = []
    for (let after = 0; after < seq; ) {
      const rows = await readLog(session, after, seq)
      sizes.push(rows.length)
      assert.equal(rows[0]?.seq, after + 1)
      after += rows.length
    }
    assert.ok(sizes.length >= 3 && sizes.every(size => size >= 1 && size <= 6), sizes.join(', '))
    const other = await node('b')
    assert.equal(list(other).length, list(writer).length)
  })
})

describe('copies of the record', { skip: noPostgres }, () => {
  test('an interrupted copy continues; a copy of another store, or of a trimmed log, starts again', async () => {
    const writer = await node('a')
    await load([writer], 40, () => undefined)
    const session = await record.session()
    while (await advanceCheckpoint(session));
    const local = openMemory()
    const copied = async (keysMax: number) => {
      let keys = 0
      await copyState(session, local, 'new', progress => {
        keys = progress.keys
        if (keys > keysMax) throw new Error('interrupted')
      }).catch(error => assert.equal((error as Error).message, 'interrupted'))
      return keys
    }
    const all = list(writer).length
    const first = await copied(16)
    assert.ok(first < all, `${first} of ${all} were copied`)
    await load([writer], 2, () => undefined)
    assert.equal(await copied(1_000), all - first)
    const more = list(writer).length - all
    await redoLog(session, local)
    assert.deepEqual(list(local, 'a'), list(writer, 'a'))
    // A complete replica is not an interrupted copy.
    assert.equal(await copied(16), first)
    while (await advanceCheckpoint(session));
    const log = session.table('log')
    await session.query(`DELETE FROM ${log} WHERE seq < (SELECT max(seq) FROM ${log})`)
    assert.equal(await copied(1_000), all + more)
    assert.equal(await copied(16), first)
    await session.query(`UPDATE ${session.table('meta')} SET store_id = 'another'`)
    assert.equal(await copied(1_000), all + more)
  })

  test('a replica is not used for a record that was restored and has continued since, whatever its log contains', async () => {
    const writer = await node('a')
    await load([writer], 2, () => undefined)
    const local = await copyOf(record.location)
    const session = await record.session()
    const log = session.table('log')
    await redoLog(session, local)
    // The record is restored to the previous batch, continued, and trimmed up to the batch of the replica.
    await session.query(
      `UPDATE ${log} SET batch = 'of another past' WHERE seq = (SELECT max(seq) FROM ${log})`,
    )
    await load([await node('b')], 1, () => undefined)
    const { seq } = readNote(local) ?? {}
    await session.query(`DELETE FROM ${log} WHERE seq <= $1`, [seq])
    await assert.rejects(redoLog(session, local), /the log no longer contains its next batch/)
    let reason: string | undefined
    const options = { local, node: 'c', onDiverged: (told: string) => (reason = told) }
    await assert.rejects(openTestNode(record.location, options), StoreUnavailableError)
    assert.equal(reason, 'the log no longer contains its next batch')
    // Entries without a note are not a replica.
    const emptied = { ...options, local: openMemory() }
    await assert.rejects(openTestNode(record.location, emptied), StoreUnavailableError)
    assert.equal(reason, 'it does not name its store')
  })

  test('copying does not wait for the count of rows, and does not fail with it', async () => {
    const writer = await node('a')
    await load([writer], 10, () => undefined)
    const session = await record.session(record.proxied)
    while (await advanceCheckpoint(session));
    record.proxy.losesAndCuts = sent => sent.includes('count(*)')
    const local = openMemory()
    let keys = 0
    await copyState(session, local, 'new', progress => {
      keys = progress.keys
    })
    assert.equal(keys, list(writer).length)
  })

  test('a new node copies the state while writes continue', async () => {
    const writer = await node('a')
    const told = await load([writer], 20, () => undefined)
    const session = await record.session()
    while (await advanceCheckpoint(session));
    const local = openMemory()
    const copying = copyState(session, local, 'new', () => undefined)
    const [more] = await Promise.all([load([writer], 1, () => undefined), copying])
    for (const [name, outcome] of more) told.set(name, outcome)
    await node('new', { local })
    await verify(told)
  })
})

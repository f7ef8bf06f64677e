// Ids never repeat, whatever the clock does: while the service runs, over restarts, between processes.

import assert from 'node:assert/strict'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { epoch, micros } from '../../../../src/base/micros.ts'
import { Memo, Pending } from '../../../../src/base/pending.ts'
import { metaKey } from '../../../../src/storage/keys/keyspace.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { openLmdb } from '../../../../src/storage/lmdb/lmdb.ts'
import { checkReservedEnds } from '../../../../src/storage/store/id-reservation.ts'
import { IdGenerator, type IdRange, idEpochMs, idMs, idRangeMs } from '../../../../src/storage/store/ids.ts'
import { Store } from '../../../../src/storage/store/store.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { openTestEngine, type TestEngine } from '../../../support/engine.ts'
import { folderOfFile } from '../../../support/folder.ts'
import { RandomSource } from '../../../support/random-source.ts'
import { seededEnvironment, seedsToRun } from '../../../support/seeded.ts'
import { Bench, createCollection, data, day, documentRef, second } from './support.ts'

const folder = folderOfFile()

const minute = 60 * second

/** Generates ids as the engine does, and waits for reservations. */
async function draw(ids: IdGenerator, now: number): Promise<bigint> {
  try {
    return ids.next(micros(now))
  } catch (error) {
    if (!(error instanceof Pending)) throw error
    await new Memo().resolve(error)
    return draw(ids, now)
  }
}

test('ids increase while the clock jumps back and forth', async () => {
  for (const seed of seedsToRun([1, 2, 3])) {
    const random = new RandomSource(seed)
    let reservedEndMs = idEpochMs
    let now = idEpochMs * 1000 + day
    const reserve = async (): Promise<IdRange> => {
      const startMs = Math.max(reservedEndMs, Math.floor(now / 1000))
      reservedEndMs = startMs + idRangeMs
      return { worker: 1, startMs, endMs: reservedEndMs }
    }
    const ids = new IdGenerator(reserve)
    let newest = -1n
    for (let step = 0; step < 20_000; step++) {
      if (random.below(100) === 0) now += (random.below(7200) - 3600) * second
      else now += random.below(5000)
      const id = await draw(ids, now)
      assert.ok(id > newest, `seed ${seed}, step ${step}: ${id} after ${newest}`)
      assert.equal(id & 1023n, 1n)
      newest = id
    }
  }
})

test('when a range is used up at once, the generator waits for the next', async () => {
  let reserved = 0
  const ids = new IdGenerator(async () => {
    const startMs = idEpochMs + reserved * idRangeMs
    reserved++
    return { worker: 0, startMs, endMs: startMs + idRangeMs }
  })
  let newest = await draw(ids, 0)
  let drawn = 1
  const drawAll = () => {
    for (;;) {
      const id = ids.next(epoch)
      assert.ok(id > newest)
      newest = id
      drawn++
    }
  }
  assert.throws(drawAll, Pending)
  assert.equal(drawn, idRangeMs * 1000)
  assert.ok((await draw(ids, 0)) > newest)
})

test('a client that sends the time of its last commit gets greater ids, also from a process whose clock is behind', async () => {
  const kv = openMemory()
  const benches = [new Bench(kv), new Bench(kv), new Bench(kv)]
  const things = await (benches[0] as Bench).write(transaction => createCollection(transaction, 'things'))
  // All processes reserve, each by its own clock.
  for (const [place, bench] of benches.entries()) {
    bench.now += place * 5000
    await bench.write(transaction => transaction.newId())
  }
  let [seen, newest] = [0, 0n]
  for (let round = 0; round < 300; round++) {
    const { store } = benches[round % 3] as Bench
    const drawn: bigint[] = []
    const create = (transaction: Transaction) => {
      drawn.length = 0
      for (let count = 0; count < 1 + (round % 4); count++) {
        const id = transaction.newId()
        transaction.put(documentRef(things, id), data({}))
        drawn.push(id)
      }
    }
    const { time } = await store.write(create, { lastSeen: micros(seen) })
    for (const id of drawn) {
      assert.ok(id > newest, `round ${round}: ${id} after ${newest}`)
      assert.ok(microsOf(id) <= time, 'no commit is earlier than its ids')
      newest = id
    }
    seen = time
  }
  await kv.close()
})

test('a process that follows another generates ids of the present, with its own number', async () => {
  const kv = openMemory()
  const seen = new Set<bigint>()
  let now = 0
  for (let start = 0; start < 5; start++) {
    const bench = new Bench(kv)
    now = Math.max(now, bench.now)
    bench.now = now
    for (let count = 0; count < 3; count++) {
      const id = await bench.write(transaction => transaction.newId())
      assert.ok(Math.abs(idMs(id) - bench.now / 1000) <= 1)
      seen.add(id)
    }
    now = bench.now
  }
  assert.equal(seen.size, 15)
  await kv.close()
})

/** The time at which an id was generated, in microseconds. */
function microsOf(id: bigint): number {
  return idMs(id) * 1000 + Number((id >> 10n) & 1023n)
}

test('without a reservation, generating an id fails', async () => {
  const ids = new IdGenerator(() => Promise.reject(new Error('the disk is full')))
  await assert.rejects(draw(ids, 0), /disk is full/)
})

test('two generators with one worker number generate different ids', async () => {
  const kv = openMemory()
  const seen = new Set<bigint>()
  const benches = [new Bench(kv), new Bench(kv), new Bench(kv)]
  for (let round = 0; round < 50; round++) {
    for (const bench of benches) {
      bench.now += (round % 3) * second - (round % 5) * second
      seen.add(await bench.write(transaction => transaction.newId()))
    }
  }
  assert.equal(seen.size, 150)
  await kv.close()
})

test('an id is never generated again, also when it was chosen, deleted or generated before ranges were reserved', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 77)
  const isTaken = () => bench.read(transaction => transaction.isTaken(ref))
  assert.equal(isTaken(), false)
  await bench.put(ref, data({}))
  assert.equal(isTaken(), true)
  await bench.delete(ref)
  assert.equal(isTaken(), true)
  const inside = await bench.write(transaction => {
    transaction.put(documentRef(users, 78), data({}))
    return transaction.isTaken(documentRef(users, 78))
  })
  assert.equal(inside, true)
})

test('ids of databases and keys are unique in the whole store', async () => {
  await using bench = new Bench()
  await bench.write(transaction => {
    transaction.put(new Ref(rootDatabase, native.databases, 5000n), new Map([['name', 'a']]))
    transaction.put(new Ref(rootDatabase, native.keys, 6000n), new Map([['role', 'admin']]))
  })
  const taken = (collection: number, id: bigint) =>
    bench.read(transaction => transaction.isTaken(new Ref(5000n, collection, id)))
  assert.equal(taken(native.databases, 5000n), true)
  assert.equal(taken(native.keys, 6000n), true)
  assert.equal(taken(native.tokens, 6000n), false)
})

/** Opens a data directory at a time of day, as a process that is later killed. */
function openAt(path: string, start: number): { engine: TestEngine; advance: (micros: number) => void } {
  let now = start
  const clock = { now: () => micros(now), elapsedMs: () => performance.now() }
  const engine = openTestEngine({ kv: openLmdb({ path }), environment: seededEnvironment(1, clock) })
  return {
    engine,
    advance: by => {
      now += by
    },
  }
}

async function createFive(engine: TestEngine): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < 5; index++) {
    const params = { object: { data: { object: { index } } } }
    const created = (await engine.query({ create: { collection: 'c' }, params })) as {
      ref: { '@ref': { id: string } }
    }
    ids.push(created.ref['@ref'].id)
  }
  return ids
}

test('restarts with a clock set back, and a restored backup, overwrite no document', async () => {
  const path = join(folder, 'restarts')
  const backup = join(folder, 'backup')
  let today = Date.now() * 1000
  const setup = openAt(path, today)
  await setup.engine.query({ create_collection: { object: { name: 'c' } } })
  const ids = await createFive(setup.engine)
  await setup.engine.close()
  await cp(path, backup, { recursive: true })
  for (const step of [-minute, 0, -day, day, -day, -400 * day]) {
    today += step
    const { engine, advance } = openAt(path, today)
    ids.push(...(await createFive(engine)))
    advance(-minute)
    ids.push(...(await createFive(engine)))
    assert.deepEqual(engine.store.check(), [])
    const page = (await engine.query({ count: { documents: { collection: 'c' } } })) as number
    assert.equal(page, ids.length)
    await engine.close()
  }
  assert.equal(new Set(ids).size, ids.length)

  const restored = openAt(backup, today)
  const old = new Set(ids.slice(0, 5))
  for (const id of await createFive(restored.engine)) assert.equal(old.has(id), false)
  assert.equal(await restored.engine.query({ count: { documents: { collection: 'c' } } }), 10)
  await restored.engine.close()
})

test('an id that exists already is generated again', async () => {
  const kv = openMemory()
  const { query, store, close } = openTestEngine({ kv })
  await query({ create_collection: { object: { name: 'c' } } })
  // Documents with the next ids, as an older version or an import could have created them.
  const drawn = BigInt((await query({ new_id: null })) as string)
  const occupied = Array.from({ length: 3000 }, (_, index) => {
    const [ms, sequence] = [drawn >> 20n, BigInt(index)]
    return ((ms + sequence / 1024n) << 20n) + ((sequence % 1024n) << 10n)
  })
  const collection = new Ref(rootDatabase, native.collections, 1024n)
  await store.write(transaction => {
    for (const id of occupied) transaction.put(documentRef(collection, id), data({}))
  })
  const create = { create: { collection: 'c' } }
  await query(
    Object.fromEntries([
      ['foreach', { lambda: 'x', expr: create }],
      ['collection', [1, 2, 3]],
    ]),
  )
  assert.equal(await query({ count: { documents: { collection: 'c' } } }), 3003)
  await close()
})

test('an observer reserves nothing', async () => {
  const kv = openMemory()
  const store = new Store(kv, { clock: () => micros(1), hooks: { evaluateBinding: () => undefined } })
  assert.deepEqual(store.check(), [])
  assert.equal(
    kv.read(view => [...view.range({ start: new Uint8Array([0]), end: new Uint8Array([255]) })].length),
    0,
  )
  await store.close()
})

/** The first id that worker 0 generates in a millisecond. */
function firstIdAt(ms: number): bigint {
  return BigInt(ms - idEpochMs) << 20n
}

async function benchWithCollection() {
  const bench = new Bench()
  const collection = await bench.createCollection('things')
  /** Generates an id as queries do, after {@link reserve}. */
  const drawn = (transaction: Transaction) => {
    for (;;) {
      const ref = documentRef(collection, transaction.newId())
      if (!transaction.isTaken(ref)) return ref
    }
  }
  /** Reserves ids from the present on. */
  const reserve = async () => {
    try {
      bench.read(transaction => transaction.newId())
    } catch (error) {
      if (!(error instanceof Pending)) throw error
      await new Memo().resolve(error)
    }
  }
  return Object.assign(bench, { collection, drawn, reserve })
}

/** The check detects ids in the future that are not recorded as used. */
async function assertNoticed({ kv, store }: Bench) {
  const key = metaKey('last commit')
  const forget = (record: Uint8Array) => record.fill(0, 16)
  let before = new Uint8Array()
  await kv.transact(view => {
    before = view.get(key)?.slice() as typeof before
    return { result: undefined, writes: [{ key, value: forget(before.slice()) }] }
  })
  assert.match(store.check().join(), /id in the future/)
  await kv.transact(() => ({ result: undefined, writes: [{ key, value: before }] }))
}

test('an id in the future that a document used is not generated when its time comes, deleted or not', async () => {
  for (const gap of [0, 1, 3, 100_000]) {
    await using bench = await benchWithCollection()
    const ms = bench.now / 1000 + gap
    const [given, gone] = [firstIdAt(ms), firstIdAt(ms) + 1024n].map(id => documentRef(bench.collection, id))
    await bench.write(transaction => {
      transaction.put(given as Ref, data({}))
      transaction.put(gone as Ref, data({}))
    })
    await bench.delete(gone as Ref)
    assert.deepEqual(bench.store.check(), [])
    if (gap > 1000) await assertNoticed(bench)
    bench.now = ms * 1000
    await bench.reserve()
    const found = await bench.write(transaction => {
      const ref = bench.drawn(transaction)
      transaction.put(ref, data({}))
      return ref
    })
    assert.ok(found.id > (gone as Ref).id, `${gap} milliseconds ahead`)
    // From the next millisecond on no id is in use, which is recorded without a read.
    bench.now += 1000
    const attempt = bench.store.attempt(transaction => transaction.put(bench.drawn(transaction), data({})))
    const [range] = attempt.reads.ranges
    assert.deepEqual([attempt.reads.ranges.length, range?.rowCount], [1, 0])
  }
})

test('an id that the same transaction has chosen is not generated', async () => {
  await using bench = await benchWithCollection()
  await bench.reserve()
  const next = bench.read(transaction => transaction.newId()) + 1024n
  const found = await bench.write(transaction => {
    transaction.put(documentRef(bench.collection, next), data({}))
    transaction.delete(documentRef(bench.collection, next))
    return bench.drawn(transaction)
  })
  assert.ok(found.id > next)
})

test('choosing an id that was generated for another document makes the attempt for that document stale', async () => {
  for (const deletes of [false, true]) {
    await using bench = await benchWithCollection()
    bench.now += 5 * second
    await bench.reserve()
    const attempt = bench.store.attempt(transaction => {
      const ref = bench.drawn(transaction)
      transaction.put(ref, data({}))
      return ref
    })
    await bench.put(attempt.result, data({}))
    if (deletes) await bench.delete(attempt.result)
    assert.equal(await bench.store.commit(attempt), 'stale')
  }
})

test('a damaged end of a reserved range is reported with the worker number', async () => {
  const kv = openMemory()
  const damaged = { key: metaKey('ids of worker 3'), value: new Uint8Array(12) }
  await kv.transact(() => ({ result: undefined, writes: [damaged] }))
  const findings: string[] = []
  kv.read(view => checkReservedEnds(view, finding => findings.push(finding)))
  assert.deepEqual(findings, ['the reserved end of the ids of worker number 3 is damaged'])
})

// Schema objects: the consequences of writing them, retention, and the removal of deleted data.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch, micros } from '../../../../src/base/micros.ts'
import { documentRange, garbageRange } from '../../../../src/storage/keys/keyspace.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { schemaWriterLimits } from '../../../../src/storage/store/schema-writer.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { timeFromMicros } from '../../../../src/values/time.ts'
import { type DatabaseId, native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  day,
  documentRef,
  field,
  matchIds,
  object,
  second,
} from './support.ts'

function createDatabase(transaction: Transaction, parent: DatabaseId, name: string): Ref {
  const ref = new Ref(parent, native.databases, transaction.newId())
  transaction.put(ref, object({ name }))
  return ref
}

function createKey(transaction: Transaction, database: DatabaseId, opens?: Ref): Ref {
  const ref = new Ref(database, native.keys, transaction.newId())
  transaction.put(ref, object({ role: 'admin', ...(opens && { database: opens }) }))
  return ref
}

/** Rows of documents and everything derived from them. */
function rowCount(bench: Bench): number {
  const kinds = ['document', 'history', 'expiry', 'indexLive', 'indexEnded', 'indexEvent'] as const
  const rows = kinds.flatMap(kind => bench.rows(kind))
  return rows.length + removals(bench).length
}

/** The pending removals of the data of deleted schema objects. */
function removals(bench: Bench): unknown[] {
  const end = micros(Number.MAX_SAFE_INTEGER - 1)
  return bench.kv.read(view => [...view.range(garbageRange('object', end))])
}

test('names resolve, follow renames and can be reused at once', async () => {
  await using bench = new Bench()
  const resolve = (transaction: Transaction, name: string) =>
    transaction.catalogue.resolve(rootDatabase, native.collections, name)
  const users = await bench.write(transaction => {
    const made = createCollection(transaction, 'users')
    assert.deepEqual(resolve(transaction, 'users'), made)
    return made
  })
  await bench.write(transaction => {
    transaction.put(users, object({ name: 'people' }))
    assert.equal(resolve(transaction, 'users'), undefined)
    assert.deepEqual(resolve(transaction, 'people'), users)
    assert.equal(transaction.catalogue.nameOf(users), 'people')
    createCollection(transaction, 'users')
  })
  await assert.rejects(bench.put(users, object({ name: 'users' })), /not unique/)
  await bench.delete(users)
  bench.read(transaction => {
    assert.equal(resolve(transaction, 'people'), undefined)
    assert.equal(transaction.catalogue.collection(users), undefined)
    assert.equal(transaction.catalogue.nameOf(users), 'people')
    assert.equal(resolve(transaction, 'users')?.id, 1025n)
  })
})

test('numbers of collections and indexes are never reused, and are limited', async () => {
  await using bench = new Bench()
  const first = await bench.createCollection('a')
  await bench.delete(first)
  const next = await bench.createCollection('a')
  assert.equal(next.id, 1025n)
  await assert.rejects(
    bench.write(transaction => {
      for (;;) transaction.nextSchemaId(rootDatabase, native.collections)
    }),
    { description: 'Maximum sequential ID reached.' },
  )
})

test('a deleted collection deletes its own indexes and hides its entries in others', async () => {
  await using bench = new Bench()
  const made = await bench.write(transaction => {
    const left = createCollection(transaction, 'left')
    const right = createCollection(transaction, 'right')
    const own = createIndex(transaction, 'own', { source: left, terms: [field('n')] })
    const both = createIndex(transaction, 'both', {
      source: [left, right],
      terms: [field('n')],
      unique: true,
    })
    const all = createIndex(transaction, 'all', { source: '_', terms: [field('n')] })
    transaction.put(documentRef(left, 1), data({ n: 1n }))
    transaction.put(documentRef(right, 2), data({ n: 2n }))
    return { left, right, own, both, all }
  })
  await bench.put(documentRef(made.left, 1), data({ n: 1n, m: 1n }))
  await bench.delete(made.left)
  const look = () =>
    bench.read(transaction => {
      assert.equal(transaction.get(documentRef(made.left, 1)), undefined)
      assert.deepEqual([...transaction.documents(rootDatabase, 1024, {})], [])
      assert.equal(transaction.catalogue.index(made.own), undefined)
      assert.deepEqual(matchIds(transaction, made.both, [1n]), [])
      assert.deepEqual(matchIds(transaction, made.all, [1n]), [])
      assert.deepEqual(matchIds(transaction, made.both, [2n]), [2n])
      assert.deepEqual(matchIds(transaction, made.all, [2n]), [2n])
    })
  look()
  await bench.write(transaction => {
    transaction.put(documentRef(made.right, 3), data({ n: 1n }))
    transaction.delete(documentRef(made.right, 3))
  })
  const before = rowCount(bench)
  await new Background(bench.store).runAll()
  look()
  assert.ok(rowCount(bench) < before)
  assert.deepEqual(removals(bench), [])
})

test('a deleted database is inaccessible at once with its content, and is removed', async () => {
  await using bench = new Bench()
  const { outer, inner, key } = await bench.write(transaction => {
    const outer = createDatabase(transaction, rootDatabase, 'outer')
    const inner = createDatabase(transaction, outer.id, 'inner')
    const collection = new Ref(
      inner.id,
      native.collections,
      transaction.nextSchemaId(inner.id, native.collections),
    )
    transaction.put(collection, object({ name: 'things' }))
    transaction.put(documentRef(collection, 1), data({}))
    const key = createKey(transaction, inner.id)
    assert.equal(transaction.catalogue.isLive(inner.id), true)
    return { outer, inner, key }
  })
  bench.read(transaction => {
    assert.deepEqual(transaction.directory.keyDatabases(key.id), [inner.id])
    assert.deepEqual(transaction.catalogue.database(inner.id)?.parent, outer.id)
  })
  await bench.delete(outer)
  bench.read(transaction => {
    assert.equal(transaction.catalogue.isLive(inner.id), false)
    assert.equal(transaction.catalogue.isLive(outer.id), false)
  })
  assert.deepEqual(bench.store.check(), [])
  await new Background(bench.store).runAll()
  bench.read(transaction => {
    assert.deepEqual(transaction.directory.keyDatabases(key.id), [])
    assert.deepEqual([...transaction.documents(inner.id, 1024, {})], [])
    assert.equal(transaction.catalogue.nameOf(outer), 'outer')
  })
})

test('a moved database keeps its content, and the keys for it in the parent move, too', async () => {
  await using bench = new Bench()
  const made = await bench.write(transaction => {
    const from = createDatabase(transaction, rootDatabase, 'from')
    const to = createDatabase(transaction, rootDatabase, 'to')
    const child = createDatabase(transaction, from.id, 'child')
    return {
      from,
      to,
      child,
      beside: createKey(transaction, from.id, child),
      within: createKey(transaction, child.id),
    }
  })
  await bench.write(transaction => {
    const moved = transaction.moveDatabase(made.child, made.to.id)
    assert.deepEqual(moved.ref, new Ref(made.to.id, native.databases, made.child.id))
  })
  bench.read(transaction => {
    assert.equal(transaction.get(made.child), undefined)
    assert.equal(transaction.catalogue.database(made.child.id)?.parent, made.to.id)
    assert.deepEqual(transaction.directory.keyDatabases(made.beside.id), [made.to.id])
    assert.deepEqual(transaction.directory.keyDatabases(made.within.id), [made.child.id])
    const key = transaction.get(new Ref(made.to.id, native.keys, made.beside.id))
    assert.deepEqual(key?.fields.get('database'), new Ref(made.to.id, native.databases, made.child.id))
    assert.deepEqual(transaction.catalogue.resolve(made.from.id, native.databases, 'child'), undefined)
  })
  await new Background(bench.store).runAll()
  bench.read(transaction => assert.equal(transaction.catalogue.isLive(made.child.id), true))
})

test('an identity has one credential and many tokens, and its deletion deletes both', async () => {
  await using bench = new Bench()
  const user = await bench.write(transaction => documentRef(createCollection(transaction, 'users'), 1))
  const put = (transaction: Transaction, collection: number, id: number, fields = {}) =>
    transaction.put(new Ref(rootDatabase, collection, BigInt(id)), object({ instance: user, ...fields }))
  await bench.write(transaction => {
    transaction.put(user, data({}))
    put(transaction, native.credentials, 1, { hashed_password: 'x' })
    put(transaction, native.tokens, 1)
    put(transaction, native.tokens, 2)
  })
  await assert.rejects(
    bench.write(transaction => put(transaction, native.credentials, 2)),
    /not unique/,
  )
  bench.read(transaction => {
    assert.equal(transaction.directory.credentialOf(user)?.ref.id, 1n)
    const tokenIds = Array.from(transaction.directory.tokensOf(user), token => token.ref.id)
    assert.deepEqual(tokenIds, [1n, 2n])
  })
  await bench.delete(user)
  bench.read(transaction => {
    assert.equal(transaction.directory.credentialOf(user), undefined)
    assert.deepEqual([...transaction.directory.tokensOf(user)], [])
  })
})

test('a key id may exist in several databases, which are removed one by one, but not in very many', async () => {
  await using bench = new Bench()
  const names = Array.from({ length: schemaWriterLimits.keysOfOneIdMax + 1 }, (_, at) => `database ${at}`)
  const databases = await bench.write(transaction =>
    names.map(name => createDatabase(transaction, rootDatabase, name)),
  )
  const key = (database: Ref) => new Ref(database.id, native.keys, 5n)
  const homes = () => bench.read(transaction => transaction.directory.keyDatabases(5n))
  for (const database of databases.slice(0, -1)) await bench.put(key(database), object({}))
  const own = databases.slice(0, -1).map(({ id }) => id)
  assert.deepEqual(homes(), own)
  const one = databases.at(-1) as Ref
  await assert.rejects(bench.put(key(one), object({})), /key exists/)
  assert.deepEqual(bench.store.check(), [])
  const [first, other] = databases as [Ref, Ref]
  await bench.delete(key(first))
  await bench.delete(other)
  await new Background(bench.store).runAll()
  const left = databases.slice(2, -1).map(({ id }) => id)
  assert.deepEqual(homes(), left)
  assert.deepEqual(bench.store.check(), [])
})

test('an expired key does not affect keys with the same id in other databases', async () => {
  await using bench = new Bench()
  const other = await bench.write(transaction => createDatabase(transaction, rootDatabase, 'other'))
  const expired = await bench.write(transaction => {
    const ttl = timeFromMicros(transaction.snapshotTime + second)
    transaction.put(new Ref(other.id, native.keys, 5n), object({}))
    return transaction.put(new Ref(rootDatabase, native.keys, 5n), object({ ttl })).ref
  })
  bench.now += 2 * day
  await new Background(bench.store).runAll()
  const found = bench.read(transaction => [transaction.get(expired), transaction.directory.keyDatabases(5n)])
  assert.deepEqual(found, [undefined, [other.id]])
  assert.deepEqual(bench.store.check(), [])
})

test('access providers are found by issuer', async () => {
  await using bench = new Bench()
  const ref = new Ref(rootDatabase, native.access_providers, 1n)
  await bench.put(ref, object({ name: 'p', issuer: 'https://issuer' }))
  bench.read(transaction => {
    assert.deepEqual(transaction.directory.accessProviderByIssuer(rootDatabase, 'https://issuer')?.ref, ref)
    assert.equal(transaction.directory.accessProviderByIssuer(rootDatabase, 'other'), undefined)
  })
})

test('reads beyond history_days are rejected, and raising history_days later does not restore the history', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users', { history_days: 0n })
  const ref = documentRef(users, 1)
  const first = await bench.put(ref, data({ n: 1n }))
  bench.now += 10 * 60 * second
  const middle = await bench.put(ref, data({ n: 2n }))
  assert.ok(bench.get(ref, micros(first)))
  bench.now += 10 * 60 * second
  const read = () => bench.get(ref, micros(first))
  assert.throws(read, {
    code: 'bad request',
    message: /Requested timestamp 2023-.*Z less than minimum allowed/,
  })
  assert.ok(bench.get(ref, micros(middle)))
  const actions = () =>
    bench.read(transaction => Array.from(transaction.versions(ref), version => version.action))
  assert.deepEqual(actions(), ['create', 'update'])
  bench.now += 10 * 60 * second
  assert.deepEqual(actions(), ['create'])
  await bench.put(users, object({ name: 'users', history_days: 100n }))
  assert.throws(() => bench.get(ref, micros(middle)), {
    code: 'bad request',
  })
  await new Background(bench.store).runAll()
  assert.deepEqual(actions(), ['create'])
})

test('a step of the sweeper checks few documents when they are large, and continues after them', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users', { history_days: 0n })
  const large = 'x'.repeat(1_500_000)
  for (let id = 1; id <= 8; id++) {
    await bench.put(documentRef(users, id), data({ large }, bench.now + second))
  }
  bench.now += day
  const { sweeper } = new Background(bench.store)
  const documents = () => bench.kv.read(view => [...view.range(documentRange(rootDatabase, 1024))].length)
  const left: number[] = []
  while (documents() > 0) {
    await sweeper.runOnce()
    if (left.at(-1) !== documents()) left.push(documents())
  }
  assert.deepEqual(left.slice(-3), [5, 2, 0])
  assert.deepEqual(bench.store.check(), [])
})

test('the sweeper removes exactly the data that no read can see', async () => {
  await using bench = new Bench()
  const { users, index } = await bench.write(transaction => {
    const users = createCollection(transaction, 'users', { history_days: 1n })
    return { users, index: createIndex(transaction, 'by_n', { source: users, terms: [field('n')] }) }
  })
  const background = new Background(bench.store)
  await background.runAll()
  const empty = rowCount(bench)
  await bench.write(transaction => {
    transaction.put(documentRef(users, 1), data({ n: 0n }))
    transaction.put(documentRef(users, 2), data({ n: 0n }, bench.now + second))
    transaction.put(documentRef(users, 3), data({ n: 0n }))
  })
  for (const n of [1n, 2n, 3n]) await bench.put(documentRef(users, 1), data({ n }))
  await bench.delete(documentRef(users, 3))
  const before = rowCount(bench)
  await background.runAll()
  assert.equal(rowCount(bench), before)
  bench.now += 2 * day
  await background.runAll()
  // Left are the document and its entry; all events are below the minimum valid time.
  assert.equal(rowCount(bench), empty + 2)
  assert.deepEqual(bench.matchIds(index, [3n]), [1n])
  assert.equal(bench.store.changes(epoch, 10).length, 0)
})

test('an index over many documents is built in the background, with saved progress, while writes continue', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const fill = (from: number, to: number, n: bigint) =>
    bench.write(transaction => {
      for (let id = from; id < to; id++) transaction.put(documentRef(users, id), data({ n }))
    })
  await fill(0, 400, 1n)
  await fill(0, 300, 2n)
  const index = await bench.createIndex('by_n', { source: users, terms: [field('n')] })
  assert.equal(bench.isActive(index), false)
  await fill(390, 410, 3n)
  await new Background(bench.store).runOnce()
  assert.equal(bench.isActive(index), false)
  await fill(0, 5, 3n)
  assert.deepEqual(bench.store.check(), [])
  const resumed = new Background(bench.store)
  await resumed.runAll()
  assert.equal(bench.isActive(index), true)
  bench.read(transaction => {
    assert.equal(matchIds(transaction, index, [1n]).length, 90)
    assert.equal(matchIds(transaction, index, [2n]).length, 295)
    assert.equal(matchIds(transaction, index, [3n]).length, 25)
    const kinds = Array.from(transaction.versions(index), version => version.fields.get('active'))
    assert.deepEqual(kinds, [false, true])
  })
})

test('the schema writes of a failed transaction are invisible to all others', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const abandoned = bench.write(transaction => {
    createIndex(transaction, 'by_n', { source: users, terms: [field('n')] })
    throw new RangeError('stop')
  })
  await assert.rejects(abandoned, RangeError)
  await bench.put(documentRef(users, 1), data({ n: 1 }))
  const other = await bench.createIndex('other', { source: users })
  assert.deepEqual(bench.matchIds(other, []), [1n])
})

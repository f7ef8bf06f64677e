// Cached versions: whatever happens to a document, reads return the stored state.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GenerationCache } from '../../../../src/base/generation-cache.ts'
import { micros } from '../../../../src/base/micros.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import { Ref } from '../../../../src/values/value.ts'
import { openTestEngine } from '../../../support/engine.ts'
import { Bench, data, documentRef, second } from './support.ts'

/** Reads often enough that the version is cached. */
function readOften(bench: Bench, ref: Ref) {
  for (let time = 0; time < 3; time++) bench.get(ref)
  return bench.get(ref)
}

test('a version that is read repeatedly is decoded once', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  await bench.put(ref, data({ n: 1n }))
  const known = readOften(bench, ref)
  assert.equal(bench.get(ref), known)
  await bench.put(documentRef(users, 2), data({}))
  assert.equal(bench.get(ref), known)
  const costs = () => bench.store.read(transaction => transaction.get(ref)).counters.readBytes
  const other = bench.another().read(transaction => transaction.get(ref))
  assert.equal(costs(), other.counters.readBytes)
})

test('a document that does not exist is looked up once until the next commit', async () => {
  const kv = openMemory()
  let lookUps = 0
  await using bench = new Bench({
    read: read =>
      kv.read(view =>
        read({
          get: key => {
            lookUps++
            return view.get(key)
          },
          range: range => view.range(range),
        }),
      ),
    transact: (work, prepare) => kv.transact(work, prepare),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
  })
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const countOf = (work: () => void) => {
    const before = lookUps
    work()
    return lookUps - before
  }
  const find = () => bench.get(ref)
  const other = () => bench.get(documentRef(users, 2))
  assert.equal(find(), undefined)
  assert.equal(find(), undefined)
  // The second document is new to the cache, so its read looks up one more row.
  assert.equal(countOf(other) - countOf(find), 1)
  const seen = await bench.write(transaction => {
    assert.equal(transaction.get(ref), undefined)
    transaction.put(ref, data({ n: 1n }))
    return transaction.get(ref)?.fields
  })
  assert.deepEqual(seen, data({ n: 1n }))
  assert.deepEqual(find()?.fields, data({ n: 1n }))
  await bench.delete(ref)
  assert.equal(find(), undefined)
})

test('cached versions are replaced after updates, deletes, writes to history and expiry', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  const fields = () => readOften(bench, ref)?.fields
  await bench.put(ref, data({ n: 1n }))
  assert.deepEqual(fields(), data({ n: 1n }))
  await bench.write(transaction => {
    assert.deepEqual(transaction.get(ref)?.fields, data({ n: 1n }))
    transaction.put(ref, data({ n: 2n }))
    assert.deepEqual(transaction.get(ref)?.fields, data({ n: 2n }))
  })
  assert.deepEqual(fields(), data({ n: 2n }))
  const ts = bench.get(ref)?.ts as number
  await bench.write(transaction => transaction.insertVersion(ref, micros(ts), data({ n: 3n })))
  assert.deepEqual(fields(), data({ n: 3n }))
  await bench.delete(ref)
  assert.equal(fields(), undefined)
  await bench.put(ref, data({ n: 4n }, bench.now + 10 * second))
  assert.deepEqual(fields()?.get('data'), data({ n: 4n }).get('data'))
  bench.now += 20 * second
  assert.equal(fields(), undefined)
})

test('commits of another process are visible, and a deleted collection has no documents', async () => {
  await using bench = new Bench()
  const users = await bench.createCollection('users')
  const ref = documentRef(users, 1)
  await bench.put(ref, data({ n: 1n }))
  readOften(bench, ref)
  const other = bench.another(1)
  await other.write(transaction => transaction.put(ref, data({ n: 2n })))
  assert.deepEqual(bench.get(ref)?.fields, data({ n: 2n }))
  readOften(bench, ref)
  await other.write(transaction => transaction.delete(users))
  assert.equal(bench.get(ref), undefined)
})

test('documents of other databases with the same collection and id are distinguished', async () => {
  await using engine = openTestEngine({ kv: openMemory() })
  const secrets: string[] = []
  for (const name of ['one', 'two']) {
    await engine.query({ create_database: { object: { name } } })
    const key = { role: 'server', database: { database: name } }
    const { secret } = (await engine.query({ create_key: { object: key } })) as { secret: string }
    secrets.push(secret)
    await engine.query({ create_collection: { object: { name: 'users' } } }, { secret })
    const create = { create: { ref: { collection: 'users' }, id: '1' } }
    await engine.query({ ...create, params: { object: { data: { object: { of: name } } } } }, { secret })
  }
  for (let time = 0; time < 4; time++) {
    const got: unknown[] = []
    for (const secret of secrets) {
      const of = { select: ['data', 'of'], from: { get: { ref: { collection: 'users' }, id: '1' } } }
      got.push(await engine.query(of, { secret }))
    }
    assert.deepEqual(got, ['one', 'two'])
  }
})

test('the text of fields is cached only if it depends on nothing else', async () => {
  await using engine = openTestEngine()
  await engine.query({ create_collection: { object: { name: 'old' } } })
  const data = { text: 'ä"\n', list: [1, 2.5, null, true], at: { time: '2024-01-01T00:00:00Z' }, '@odd': 1 }
  const link = { ref: { collection: 'old' }, id: '1' }
  const create = (id: string, fields: object) =>
    engine.query({
      create: { ref: { collection: 'old' }, id },
      params: { object: { data: { object: fields } } },
    })
  await create('1', { ...data, nested: { object: { deep: { object: {} } } } })
  await create('2', { link })
  const text = async (id: string) =>
    (await engine.send({ get: { ref: { collection: 'old' }, id } }, { apiVersion: '4' })).body
  const plain = await text('1')
  for (let time = 0; time < 4; time++) assert.equal(await text('1'), plain)
  assert.match(plain, /"data":\{"@obj":\{.*"nested":\{"deep":\{\}\}/)
  assert.equal((await text('2')).includes('"collection":{"@ref":{"id":"old"'), true)
  for (let time = 0; time < 4; time++) await text('2')
  await engine.query({ update: { collection: 'old' }, params: { object: { name: 'new' } } })
  const renamed = { get: { ref: { collection: 'new' }, id: '2' } }
  assert.equal((await engine.send(renamed)).body.includes('"id":"old"'), false)
  assert.equal(
    (await engine.send(renamed, { apiVersion: '2.0' })).body.includes('"@ref":"classes/new/1"'),
    true,
  )
  const several = { map: { lambda: 'id', expr: { get: { ref: { collection: 'new' }, id: { var: 'id' } } } } }
  const both = await engine.query({ ...several, collection: ['1', '1'] })
  const one = JSON.parse((await engine.send({ get: { ref: { collection: 'new' }, id: '1' } })).body).resource
  assert.deepEqual(both, [one, one])
})

test('a cache with weights stays within its bound', () => {
  const cache = new GenerationCache<number, number>(100, weight => weight)
  for (let key = 0; key < 1000; key++) {
    cache.set(key, 10)
    assert.ok(cache.size <= 10)
    assert.equal(cache.get(key), 10)
  }
  cache.set(1, 60)
  assert.equal(cache.get(1), undefined)
  cache.set(2, 50)
  cache.set(3, 50)
  cache.set(4, 50)
  assert.deepEqual([2, 3, 4].map(key => cache.get(key) !== undefined).filter(Boolean).length, 2)
})

test('equal references have equal hashes, different ones nearly always different hashes', () => {
  const first = 400_000_000_000_000_000n
  const ids = Array.from({ length: 2000 }, (_, n) => first + BigInt(n))
  const refs = [1n, 2n].flatMap(database =>
    [1024, 1025].flatMap(collection => ids.map(id => new Ref(database, collection, id))),
  )
  const hashes = refs.map(({ hash }) => hash)
  for (const { collection, database, hash, id } of refs)
    assert.equal(new Ref(database, collection, id).hash, hash)
  assert.ok(new Set(hashes).size > refs.length - 10)
  assert.ok(hashes.every(hash => Number.isInteger(hash) && hash >= 0 && hash < 2 ** 30))
})

// Cached schemas take a bounded number of bytes, whatever they contain.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { StoreCatalogue } from '../../../../src/storage/store/catalogue.ts'
import { SchemaCache } from '../../../../src/storage/store/schema-cache.ts'
import { noCounts, noExpiry } from '../../../../src/storage/store/snapshot.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import { Bench, object } from './support.ts'

const megabyte = 1_048_576
const databases = 30
const collections = 10

/** Creates databases, each with collections whose definitions have a kilobyte; returns their ids. */
async function fill(bench: Bench): Promise<readonly bigint[]> {
  return bench.write(transaction =>
    Array.from({ length: databases }, (_, at) => {
      const database = new Ref(rootDatabase, native.databases, transaction.newId())
      transaction.put(database, object({ name: `d${at}` }))
      for (let number = 0; number < collections; number++) {
        const id = transaction.nextSchemaId(database.id, native.collections)
        const fields = object({ name: `c${number}`, data: object({ text: 'x'.repeat(1000) }) })
        transaction.put(new Ref(database.id, native.collections, id), fields)
      }
      return database.id
    }),
  )
}

/** Reads all collections of each database, in one transaction for each; returns how many there are. */
function readAll(bench: Bench, cache: SchemaCache, ids: readonly bigint[]): number {
  let found = 0
  for (const database of ids) {
    bench.kv.read(view => {
      const time = micros(bench.now)
      const times = { time, commitTime: undefined, schemaTime: time, lastCommitTime: time }
      const snapshot = { view, ...times, counters: noCounts(), expiry: noExpiry() }
      const catalogue = new StoreCatalogue(snapshot, cache)
      for (const collection of catalogue.collectionsOf(database))
        if (catalogue.userCollection(database, collection)) found++
    })
  }
  return found
}

const cases = [
  { bytesMax: 100 * megabyte, least: databases, most: databases },
  { bytesMax: megabyte, least: 3, most: 12 },
  // A schema that is larger than the cache.
  { bytesMax: megabyte / 16, least: 1, most: 2 },
]

for (const { bytesMax, least, most } of cases) {
  test(`of ${databases} schemas of 125 kB, ${least} to ${most} are cached in ${bytesMax} bytes`, async () => {
    await using bench = new Bench()
    const ids = await fill(bench)
    const cache = new SchemaCache(bytesMax)
    for (let round = 0; round < 2; round++) {
      assert.equal(readAll(bench, cache, ids), databases * collections)
      assert.ok(cache.size >= least && cache.size <= most, `${cache.size}`)
    }
  })
}

test('results that are derived from schemas count in the cache', async () => {
  await using bench = new Bench()
  const ids = await fill(bench)
  const cache = new SchemaCache(megabyte)
  bench.kv.read(view => {
    const time = micros(bench.now)
    const times = { time, commitTime: undefined, schemaTime: time, lastCommitTime: time }
    const catalogue = new StoreCatalogue({ view, ...times, counters: noCounts(), expiry: noExpiry() }, cache)
    for (const database of ids) {
      catalogue.derived(database, 'text', () => 'x')
      catalogue.countDerived(database, megabyte / 4)
    }
  })
  assert.ok(cache.size <= 5, `${cache.size} schemas with results of 256 kB are cached in 1 MB`)
})

// Scans count the effort of each row, also of rows that they skip, so that a query which finds nothing can be
// interrupted.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { stepsSoFar } from '../../../../src/base/effort.ts'
import { micros } from '../../../../src/base/micros.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  definitionOf,
  documentRef,
  field,
  matchIds,
  object,
  second,
  timeOf,
} from './support.ts'

const count = 100
const bench = new Bench()
const began = bench.now
let locks: Ref
let users: Ref
let byName: Ref

/** Documents and tokens that have expired, with equal terms. */
before(async () => {
  await bench.write(transaction => {
    locks = createCollection(transaction, 'locks')
    users = createCollection(transaction, 'users')
    byName = createIndex(transaction, 'by_name', { source: locks, terms: [field('name')], active: true })
  })
  await bench.put(documentRef(users, 1), data({}))
  for (let id = 1; id <= count; id++) {
    await bench.write(transaction => {
      const ttl = bench.now + second
      transaction.put(documentRef(locks, id), data({ name: 'a' }, ttl))
      const token = new Ref(rootDatabase, native.tokens, BigInt(id))
      transaction.put(token, object({ instance: documentRef(users, 1), ttl: timeOf(ttl) }))
    })
    bench.now += 2 * second
  }
})

after(() => bench.close())

/** The steps of `work`, which must find nothing. */
function stepsOf(work: (transaction: Transaction) => Iterable<unknown>): number {
  return bench.read(transaction => {
    const stepsBefore = stepsSoFar()
    assert.deepEqual([...work(transaction)], [])
    return stepsSoFar() - stepsBefore
  })
}

const scans: Readonly<Record<string, (transaction: Transaction) => Iterable<unknown>>> = {
  'expired documents of a collection': transaction =>
    transaction.documents(rootDatabase, Number(locks.id), {}),
  'documents of a collection at an earlier time': transaction =>
    transaction.documents(rootDatabase, Number(locks.id), { at: micros(began) }),
  'expired documents of an index': transaction => matchIds(transaction, byName, ['a']),
  'documents of an index at an earlier time': transaction => matchIds(transaction, byName, ['a'], began),
  'expired documents of an index, in reverse': transaction =>
    transaction.match(definitionOf(transaction, byName), ['a'], { reverse: true }),
  'expired tokens of a document': transaction => transaction.directory.tokensOf(documentRef(users, 1)),
}

for (const [name, scan] of Object.entries(scans)) {
  test(`a scan of ${name} counts each skipped row`, () => {
    assert.ok(stepsOf(scan) >= count)
    // The second scan of an index uses the cache of entries.
    assert.ok(stepsOf(scan) >= count)
  })
}

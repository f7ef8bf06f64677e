// Imports through a service do not slow down others: a batch is written in parts, with pauses between them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { step, stepsPerCheck } from '../../src/base/effort.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import type { DocumentRecord } from '../../src/transfer/record.ts'
import { writeBatch } from '../../src/transfer/write-batch.ts'
import { Lambda, type ObjectValue, type Ref, rootDatabase } from '../../src/values/value.ts'
import { Bench, createCollection, createIndex, data, documentRef, object } from '../unit/store/support.ts'

const options = { onConflict: 'fail', dryRun: false } as const
const rules = {
  isExpression: () => true,
  documents: () => ({ complete: (_ref: Ref, fields: ObjectValue) => fields, refusal: () => undefined }),
}

const records = (count: number): DocumentRecord[] =>
  Array.from({ length: count }, (_, at) => ({
    kind: 'document',
    collection: 'c',
    id: BigInt(at + 1),
    fields: data({ n: BigInt(at) }),
    ts: undefined,
    isHistory: false,
    isDelete: false,
    size: 10,
  }))

async function benchWithBinding(evaluateBinding: () => bigint): Promise<{ bench: Bench; collection: Ref }> {
  const bench = new Bench(openMemory(), { evaluateBinding })
  const collection = await bench.write(transaction => {
    const collection = createCollection(transaction, 'c')
    const fields = object({ b: new Lambda('4', 'd', null) })
    createIndex(transaction, 'i', {
      source: object({ collection, fields }),
      terms: [object({ binding: 'b' })],
    })
    return collection
  })
  return { bench, collection }
}

test('a batch that takes longer than its time slice is written in several transactions, completely and in order', async () => {
  const { bench, collection } = await benchWithBinding(() => 1n)
  let rests = 0
  const pace = {
    batchMs: 0,
    async rest() {
      rests++
    },
  }
  const { outcomes } = await writeBatch(
    { store: bench.store, rules, pace },
    rootDatabase,
    records(5),
    options,
  )
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    Array(5).fill('written'),
  )
  assert.equal(rests, 5)
  const times = [1, 2, 3, 4, 5].map(id =>
    bench.read(transaction => transaction.get(documentRef(collection, id))?.ts),
  )
  assert.equal(new Set(times).size, 5, 'each has a transaction of its own')
  await bench.close()
})

test('a record whose bindings take too long is reported as bad, and the others are written', async () => {
  let calls = 0
  const { bench } = await benchWithBinding(() => {
    // Runs until it is interrupted.
    while (calls === 1) step(stepsPerCheck)
    return 1n
  })
  const pace = { batchMs: 1000, rest: async () => undefined }
  const slow = 3
  const given = records(5).map((record, at) => ({
    ...record,
    get fields() {
      calls = at === slow ? 1 : 0
      return record.fields
    },
  }))
  const { outcomes } = await writeBatch({ store: bench.store, rules, pace }, rootDatabase, given, options)
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['written', 'written', 'written', 'bad', 'written'],
  )
  assert.match(String((outcomes[slow] as { reason?: string }).reason), /bindings takes too long/)
  await bench.close()
})

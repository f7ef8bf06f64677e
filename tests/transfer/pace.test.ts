// Imports through a service do not slow down others: a batch is written in parts, with pauses between them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ticket } from '../../src/base/admission/ticket.ts'
import { step, stepsPerCheck } from '../../src/base/effort.ts'
import { RequestError } from '../../src/base/request-errors.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import type { DocumentRecord } from '../../src/transfer/record.ts'
import { missingOf, writeBatch } from '../../src/transfer/write-batch.ts'
import { Lambda, type ObjectValue, type Ref, rootDatabase } from '../../src/values/value.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  documentRef,
  object,
} from '../unit/storage/store/support.ts'

const options = { onConflict: 'fail', dryRun: false } as const
const rules = {
  isExpression: () => true,
  documents: () => ({ complete: (_ref: Ref, fields: ObjectValue) => fields, rejection: () => undefined }),
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
    async waitForBindingPauses() {
      rests++
    },
  }
  const { outcomes } = await writeBatch(
    { store: bench.store, rules, pace },
    rootDatabase,
    records(5),
    options,
  )
  const kinds = outcomes.map(({ kind }) => kind)
  assert.deepEqual(kinds, Array(5).fill('written'))
  assert.equal(rests, 5)
  const times = [1, 2, 3, 4, 5].map(id => bench.get(documentRef(collection, id))?.ts)
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
  const pace = { batchMs: 1000, waitForBindingPauses: async () => undefined }
  const slow = 3
  const given = records(5).map((record, at) => ({
    ...record,
    get fields() {
      calls = at === slow ? 1 : 0
      return record.fields
    },
  }))
  const { outcomes } = await writeBatch({ store: bench.store, rules, pace }, rootDatabase, given, options)
  const kinds = outcomes.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['written', 'written', 'written', 'bad', 'written'])
  assert.match(String((outcomes[slow] as { reason?: string }).reason), /bindings takes too long/)
  await bench.close()
})

/** A target without pauses, whose transactions write one record each. */
async function slowTarget() {
  const bench = new Bench(openMemory())
  await bench.createCollection('c')
  return { store: bench.store, rules, pace: { batchMs: 0, waitForBindingPauses: async () => undefined } }
}

test('an import stops before its next transaction when its client has disconnected', async () => {
  const target = await slowTarget()
  const ticket = new Ticket('a')
  let transactions = 0
  const onCosts = () => {
    if (++transactions === 3) ticket.noteDisconnect()
  }
  const throwIfStopped = () => ticket.throwIfStopped()
  const write = () => writeBatch({ ...target, onCosts, throwIfStopped }, rootDatabase, records(10), options)
  await assert.rejects(ticket.inSteps(write), { code: 'request timeout' })
  assert.equal(transactions, 3)
})

test('a batch takes a number of transactions that is linear in its rejected records', async t => {
  const { rules: accepting, store } = await slowTarget()
  const complete = (ref: Ref, fields: ObjectValue) => {
    if (ref.id % 2n === 0n) throw new RequestError('bad request', 'even')
    return fields
  }
  const picky = { ...accepting, documents: () => ({ ...accepting.documents(), complete }) }
  const write = t.mock.method(store, 'write')
  const { outcomes } = await writeBatch({ store, rules: picky }, rootDatabase, records(256), options)
  const kinds = outcomes.map(({ kind }) => kind)
  const expected = Array.from({ length: 256 }, (_, at) => (at % 2 === 0 ? 'written' : 'bad'))
  assert.deepEqual(kinds, expected)
  assert.ok(write.mock.callCount() < 3 * 256, String(write.mock.callCount()))
})

test('a batch whose documents are checked together is tried a limited number of times', async t => {
  const { rules: accepting, store } = await slowTarget()
  const complete = () => {
    throw new RequestError('bad request', 'never')
  }
  const picky = { ...accepting, documents: () => ({ ...accepting.documents(), complete }) }
  const write = t.mock.method(store, 'write')
  const { outcomes } = await writeBatch({ store, rules: picky }, rootDatabase, records(100), {
    ...options,
    checks: 'together',
  })
  assert.equal(write.mock.callCount(), 32)
  const kinds = outcomes.map(({ kind }) => kind)
  const expected = Array.from({ length: 100 }, (_, at) => (at < 32 ? 'bad' : 'unmet'))
  assert.deepEqual(kinds, expected)
})

test('a past version is compared with one stored version, however many newer versions there are', async () => {
  const { store } = await slowTarget()
  const past = (id: bigint, ts: number): DocumentRecord => ({
    ...(records(1)[0] as DocumentRecord),
    id,
    ts,
    isHistory: true,
  })
  const readBytesFor = async (versions: number, id: bigint) => {
    const all = Array.from({ length: versions }, (_, at) => past(id, 1000 + at))
    await writeBatch({ store, rules }, rootDatabase, all, options)
    const read: number[] = []
    const onCosts = ({ readBytes }: { readonly readBytes: number }) => read.push(readBytes)
    const { outcomes } = await writeBatch({ store, rules, onCosts }, rootDatabase, [past(id, 1000)], options)
    assert.equal(outcomes[0]?.kind, 'equal')
    return read[0]
  }
  assert.equal(await readBytesFor(50, 2n), await readBytesFor(5, 1n))
})

test('the existence of many documents is checked in slices, and stops when the client has disconnected', async () => {
  const { store } = await slowTarget()
  await writeBatch({ store, rules }, rootDatabase, records(3), options)
  const documents = Array.from({ length: 40_000 }, (_, at) => ({ collection: 'c', id: BigInt(at) }))
  let slices = 0
  const missing = await missingOf(store, rootDatabase, documents, { onCosts: () => slices++ })
  assert.equal(missing.filter(isMissing => !isMissing).length, 3)
  assert.ok(slices > 1, 'other requests run between the slices')
  const stopped = new RequestError('request timeout', 'stopped')
  const throwIfStopped = () => {
    throw stopped
  }
  await assert.rejects(missingOf(store, rootDatabase, documents, { throwIfStopped }), stopped)
})

// Attempts are evaluated on a snapshot and committed later, possibly after other commits and by another process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch, micros } from '../../../../src/base/micros.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import type { Attempt } from '../../../../src/storage/store/attempt.ts'
import { Store } from '../../../../src/storage/store/store.ts'
import type { Transaction } from '../../../../src/storage/store/store-contract.ts'
import { ContendedTransaction } from '../../../../src/storage/store/store-contract.ts'
import { type DatabaseId, native, Ref, rootDatabase } from '../../../../src/values/value.ts'
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
} from './support.ts'

/** Copies an attempt as if another process had sent it. */
function cloned<T>(attempt: Attempt<T>): Attempt<T> {
  return structuredClone(attempt)
}

function numberOf(transaction: Transaction, ref: Ref): bigint {
  const content = transaction.get(ref)?.fields.get('data') as Map<string, bigint> | undefined
  return content?.get('n') ?? 0n
}

const increment = (ref: Ref) => (transaction: Transaction) => {
  const n = numberOf(transaction, ref) + 1n
  transaction.put(ref, data({ n }))
  return n
}

async function benchWith() {
  const bench = new Bench()
  const made = await bench.write(transaction => {
    const collection = createCollection(transaction, 'things')
    const byN = createIndex(transaction, 'by_n', { source: collection, terms: [field('n')], unique: true })
    return { collection, byN }
  })
  return Object.assign(bench, made, { ref: documentRef(made.collection, 1) })
}

/** Opens the same data as two processes do: neither remembers the writes of the other. */
async function openInTwoProcesses() {
  const kv = openMemory()
  let now = 1_700_000_000 * second
  const options = { clock: () => micros(now++), hooks: { evaluateBinding: () => undefined } }
  const [here, there] = [new Store(kv, { ...options, worker: 0 }), new Store(kv, { ...options, worker: 1 })]
  const { result: collection } = await here.write(transaction => createCollection(transaction, 'things'))
  return { collection, here, kv, there }
}

test('an attempt changes nothing until it is committed, and then everything at one time', async () => {
  await using bench = await benchWith()
  await bench.write(increment(bench.ref))
  const attempt = bench.store.attempt(increment(bench.ref))
  assert.equal(attempt.result, 2n)
  const n = bench.read(transaction => numberOf(transaction, bench.ref))
  assert.equal(n, 1n)
  // Another transaction commits first, so the attempt is rebased to a later commit time.
  const beside = await bench.put(documentRef(bench.collection, 9), data({ n: 77n }))
  const outcome = await bench.store.commit(cloned(attempt))
  assert.ok(outcome !== 'stale')
  assert.ok(outcome.time > beside && outcome.time !== attempt.commitTime)
  bench.read(transaction => {
    assert.equal(transaction.get(bench.ref)?.ts, outcome.time)
    assert.deepEqual(matchIds(transaction, bench.byN, [2n]), [1n])
    assert.deepEqual(matchIds(transaction, bench.byN, [1n], outcome.time - 1), [1n])
    assert.deepEqual(matchIds(transaction, bench.byN, [1n], outcome.time), [])
    const events = [...transaction.matchEvents(definitionOf(transaction, bench.byN), [1n], {})]
    assert.deepEqual(
      events.map(event => [event.action, event.ts === outcome.time]),
      [
        ['add', false],
        ['remove', true],
      ],
    )
  })
  const last = bench.store.changes(epoch, 100).at(-1)
  assert.equal(last?.time, outcome.time)
  assert.equal(last?.changes[0]?.validTime, outcome.time)
})

test('an attempt is stale when others wrote to its read set', async () => {
  await using bench = await benchWith()
  const attempts = [1, 2, 3].map(() => bench.store.attempt(increment(bench.ref)))
  const [first, second, third] = attempts as [Attempt<bigint>, Attempt<bigint>, Attempt<bigint>]
  assert.ok((await bench.store.commit(cloned(first))) !== 'stale')
  assert.equal(await bench.store.commit(cloned(second)), 'stale')
  assert.equal(await bench.store.commit(third), 'stale')
  const n = bench.read(transaction => numberOf(transaction, bench.ref))
  assert.equal(n, 1n)
})

test('absent rows are part of the read set: phantoms, unique entries, schema', async () => {
  await using bench = await benchWith()
  const count = (transaction: Transaction) => {
    const n = BigInt(
      [...transaction.documents(bench.collection.database, Number(bench.collection.id), {})].length,
    )
    transaction.put(documentRef(bench.collection, 100), data({ n }))
  }
  const counting = bench.store.attempt(count)
  const unique = bench.store.attempt(transaction => {
    transaction.put(documentRef(bench.collection, 7), data({ n: 5n }))
  })
  const named = bench.store.attempt(transaction => createCollection(transaction, 'more'))
  await bench.put(documentRef(bench.collection, 8), data({ n: 5n }))
  assert.equal(await bench.store.commit(counting), 'stale')
  assert.equal(await bench.store.commit(unique), 'stale')
  await bench.createCollection('more')
  assert.equal(await bench.store.commit(named), 'stale')
  // An index that was created in between would not have the entry.
  const blind = bench.store.attempt(transaction => {
    transaction.put(documentRef(bench.collection, 9), data({ n: 6n }))
  })
  await bench.delete(bench.byN)
  assert.equal(await bench.store.commit(blind), 'stale')
})

test('the attempts of a database depend on its own parent, not on its siblings', async () => {
  await using bench = new Bench()
  const named = (transaction: Transaction, parent: DatabaseId, name: string) => {
    const ref = new Ref(parent, native.databases, transaction.newId())
    transaction.put(ref, object({ name }))
    return ref
  }
  const { collection, inner } = await bench.write(transaction => {
    const outer = named(transaction, rootDatabase, 'outer')
    const inner = named(transaction, outer.id, 'inner')
    const id = transaction.nextSchemaId(inner.id, native.collections)
    const collection = new Ref(inner.id, native.collections, id)
    transaction.put(collection, object({ name: 'things' }))
    return { collection, inner }
  })
  let documents = 0
  const attempt = () =>
    bench.store.attempt(transaction => {
      assert.equal(transaction.catalogue.isLive(inner.id), true)
      assert.deepEqual(transaction.catalogue.resolve(inner.database, native.databases, 'inner'), inner)
      transaction.put(documentRef(collection, ++documents), data({}))
    })
  const committed = async (one: Attempt<void>) => (await bench.store.commit(cloned(one))) !== 'stale'
  assert.ok(await committed(attempt()))
  // The schemas are cached now.
  const beside = attempt()
  await bench.write(transaction => {
    named(transaction, rootDatabase, 'beside outer')
    named(transaction, inner.database, 'beside inner')
    named(transaction, inner.id, 'within')
  })
  assert.equal(await committed(beside), false, 'its own schema has changed')
  const remembered = attempt()
  await bench.write(transaction => {
    named(transaction, rootDatabase, 'more')
    named(transaction, inner.database, 'still more')
  })
  assert.ok(await committed(remembered))
  const renamed = attempt()
  await bench.put(inner, object({ name: 'another' }))
  assert.equal(await committed(renamed), false)
})

test('schema of other databases and other documents do not make an attempt stale', async () => {
  await using bench = await benchWith()
  const attempt = bench.store.attempt(increment(bench.ref))
  await bench.put(documentRef(bench.collection, 2), data({ n: 50n }))
  assert.ok((await bench.store.commit(attempt)) !== 'stale')
})

test('an attempt whose commit time is in other values cannot be rebased', async () => {
  await using bench = new Bench()
  const { byTs, collection } = await bench.write(transaction => {
    const collection = createCollection(transaction, 'things')
    const byTs = createIndex(transaction, 'by_ts', {
      source: collection,
      values: [object({ field: ['ts'] })],
    })
    return { byTs, collection }
  })
  const put = (id: number) => (transaction: Transaction) => {
    transaction.put(documentRef(collection, id), data({}))
  }
  const attempt = bench.store.attempt(put(1))
  assert.equal(attempt.isStamped, true)
  await bench.write(put(2))
  assert.equal(await bench.store.commit(cloned(attempt)), 'stale')
  const outcome = await bench.store.write(put(1))
  bench.read(transaction => {
    const entries = [...transaction.match(definitionOf(transaction, byTs), [], {})]
    assert.deepEqual(
      entries.map(({ document, values }) => [document.id, values[0] === BigInt(outcome.time)]),
      [
        [2n, false],
        [1n, true],
      ],
    )
  })
})

test('a document that has expired at the commit time makes an attempt stale', async () => {
  await using bench = await benchWith()
  const soon = documentRef(bench.collection, 5)
  await bench.put(soon, data({ n: 1n }, bench.now + 2 * second))
  const copy = (transaction: Transaction) => {
    transaction.put(bench.ref, data({ n: numberOf(transaction, soon) + 10n }))
  }
  const early = bench.store.attempt(copy)
  const late = bench.store.attempt(copy)
  bench.now += second
  assert.ok((await bench.store.commit(early)) !== 'stale')
  bench.now += 2 * second
  assert.equal(await bench.store.commit(late), 'stale')
})

test('commits of other processes make an attempt stale, too', async () => {
  const { collection, here, kv, there } = await openInTwoProcesses()
  const ref = documentRef(collection, 1)
  const other = documentRef(collection, 2)
  const attempts = [1, 2].map(() => here.attempt(increment(ref))) as [Attempt<bigint>, Attempt<bigint>]
  await there.write(increment(other))
  assert.ok((await there.commit(cloned(attempts[0]))) !== 'stale', 'committed by another process')
  assert.equal(await here.commit(attempts[1]), 'stale')
  assert.deepEqual(here.check(), [])
  await kv.close()
})

test('a read set that is too large to be validated does not reject the transaction', async () => {
  const { collection, here, kv, there } = await openInTwoProcesses()
  const other = documentRef(collection, 250_001)
  let commits = Promise.resolve()
  const { result, retries } = await here.write(transaction => {
    let known = 0
    for (let id = 1; id <= 250_001; id++)
      known += Number(transaction.get(documentRef(collection, id)) !== undefined)
    // Fails within the evaluation under the lock.
    commits = there.write(increment(other)).then(
      () => undefined,
      () => undefined,
    )
    return increment(documentRef(collection, 250_002))(transaction) + BigInt(known)
  })
  await commits
  assert.deepEqual({ result, retries }, { result: 2n, retries: 1 })
  await kv.close()
})

test('thousands of concurrent increments all count', async () => {
  await using bench = await benchWith()
  const outcomes = await Promise.all(
    Array.from({ length: 3000 }, () => bench.store.write(increment(bench.ref))),
  )
  assert.equal(new Set(outcomes.map(outcome => outcome.time)).size, 3000)
  const n = bench.read(transaction => numberOf(transaction, bench.ref))
  assert.equal(n, 3000n)
})

test('short transactions are evaluated again under the lock, but not all in one batch', async () => {
  await using bench = await benchWith()
  const slow = (transaction: Transaction) => {
    bench.now += 9000
    return increment(bench.ref)(transaction)
  }
  const outcomes = await Promise.all(Array.from({ length: 40 }, () => bench.store.write(slow)))
  const results = outcomes.map(outcome => outcome.result).sort((left, right) => Number(left - right))
  const expected = Array.from({ length: 40 }, (_, n) => BigInt(n + 1))
  assert.deepEqual(results, expected)
})

test('a long transaction is retried outside the lock, up to its limit', async () => {
  await using bench = await benchWith()
  const long = (transaction: Transaction) => {
    bench.now += 50_000
    return increment(bench.ref)(transaction)
  }
  const contended = Array.from({ length: 4 }, () => bench.store.write(long, { retriesMax: 3 }))
  const retries = (await Promise.all(contended)).map(({ retries }) => retries)
  assert.deepEqual(retries, [0, 1, 2, 3])
  const givenUp = await Promise.allSettled(
    Array.from({ length: 3 }, () => bench.store.write(long, { retriesMax: 1 })),
  )
  const reasons = givenUp.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  assert.ok(reasons.length === 1 && reasons[0] instanceof ContendedTransaction)
  assert.equal(reasons[0].attempts, 2)
})

test('an attempt whose result has its commit time commits at that time if no other commit came between', async () => {
  await using bench = await benchWith()
  const showTime = (transaction: Transaction) => {
    transaction.put(bench.ref, data({ n: 1n }))
    return transaction.resultTime()
  }
  const shown = micros(bench.now + second)
  const attempt = bench.store.attempt(showTime, epoch, () => shown)
  assert.equal(attempt.result, shown)
  const done = await bench.store.commit(attempt)
  assert.ok(done !== 'stale')
  assert.equal(done.time, shown)
})

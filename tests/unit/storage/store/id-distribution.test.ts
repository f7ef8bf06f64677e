// Estimated positions within collections whose ids are evenly distributed, in groups, or mixed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsBelow } from '../../../../src/storage/store/id-distribution.ts'
import { rootDatabase } from '../../../../src/values/value.ts'
import { Bench, data, documentRef } from './support.ts'

const range = (count: number, idOf: (n: number) => bigint) => Array.from({ length: count }, (_, n) => idOf(n))

/** Ids as the service generates them: the milliseconds in the high bits, and a number of one of some hundred requests. */
const generated = (n: number) =>
  (BigInt(1_700_000_000_000 + Math.floor(n / 100) * 40) << 22n) + BigInt(n % 100)

const distributions: Readonly<Record<string, readonly bigint[]>> = {
  'a collection of few documents': range(10, n => BigInt(n) ** 9n),
  'consecutive ids': range(4000, n => BigInt(n + 1)),
  'generated ids': range(4000, generated),
  'two small ids and generated ids': [1n, 2n, ...range(4000, generated)],
  'imported ids and a few generated ids': [...range(4000, n => BigInt(n)), ...range(3, generated)],
  'groups of equal size, at the ends of the range of ids': [
    ...range(2000, n => BigInt(n)),
    ...range(2000, n => (1n << 60n) + BigInt(n) * 1000n),
  ],
}

for (const [name, ids] of Object.entries(distributions)) {
  test(`the position in ${name}`, async () => {
    await using bench = new Bench()
    const collection = await bench.createCollection('c')
    await bench.commit(transaction => {
      for (const id of ids) transaction.put(documentRef(collection, BigInt.asIntN(64, id)), data({}))
    })
    for (const share of [0, 0.25, 0.5, 0.75]) {
      const at = Math.floor(ids.length * share)
      const { all, below } = bench.store.read(({ snapshot }) =>
        documentsBelow(snapshot, rootDatabase, Number(collection.id), ids[at] ?? 0n),
      ).result
      assert.ok(
        Math.abs(below / all - at / ids.length) < 0.1,
        `${below} of ${all} documents are before ${at} of ${ids.length}`,
      )
    }
  })
}

test('an empty collection', () => {
  const bench = new Bench()
  const { all, below } = bench.store.read(({ snapshot }) =>
    documentsBelow(snapshot, rootDatabase, 1024, 5n),
  ).result
  assert.deepEqual([all, below], [0, 0])
})

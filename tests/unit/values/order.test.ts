// The total order of values: the examples of the language, and the laws of an order for random values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '../../../src/base/assert.ts'
import { micros } from '../../../src/base/micros.ts'
import { Action, SetValue } from '../../../src/fql4/values/transient.ts'
import { compareNumbers, compareValues } from '../../../src/values/order.ts'
import {
  DocumentValue,
  Lambda,
  LocalDate,
  native,
  Ref,
  Time,
  TransactionTime,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../../../src/values/value.ts'
import { fc } from '../../support/fast-check.ts'
import { numbers, orderedValues } from '../../support/value-arbitraries.ts'

const document = new Ref(0n, 1024, 7n)

const ascending: readonly Value[] = [
  Number.NEGATIVE_INFINITY,
  -(2n ** 63n),
  -1n,
  -0,
  0n,
  1n,
  1.1,
  2n ** 53n,
  2n ** 53n + 1n,
  2 ** 53 + 2,
  2n ** 63n - 1n,
  2 ** 63,
  Number.POSITIVE_INFINITY,
  Number.NaN,
  Uint8Array.of(),
  Uint8Array.of(0),
  Uint8Array.of(0, 0),
  Uint8Array.of(0, 1),
  Uint8Array.of(255),
  '',
  '10',
  '9',
  'a',
  'ab',
  'aB',
  'B',
  [],
  [1n, 2n],
  [1n, 2n, 0n],
  [2n],
  new Map(),
  new Map<string, Value>([
    ['a', 1n],
    ['b', 2n],
  ]),
  new Map<string, Value>([
    ['b', 3n],
    ['a', 1n],
  ]),
  new Ref(0n, 1025, 1n),
  new Ref(0n, 1024, 2n),
  new Ref(0n, 1025, 2n),
  new Ref(0n, 1024, -1n),
  new Time(-1n, 999_999_999),
  new Time(0n, 0),
  new Time(0n, 1),
  new LocalDate(-1),
  new LocalDate(0),
  new Lambda('4', 'x', null),
  TransactionTime.micros,
  TransactionTime.time,
  new Uuid('00000000-0000-0000-0000-000000000001'),
  new Uuid('f0000000-0000-0000-0000-000000000000'),
  false,
  true,
  null,
]

test('values of all types sort in the order of the language', () => {
  for (const [i, left] of ascending.entries()) {
    for (const [j, right] of ascending.entries()) {
      assert.equal(Math.sign(compareValues(left, right)), Math.sign(i - j), `place ${i} against place ${j}`)
    }
  }
})

test('longs and doubles of the same value are equal in the order', () => {
  assert.equal(compareValues(1n, 1), 0)
  assert.equal(compareValues(0n, 0), 0)
  assert.equal(compareValues([1n], [1]), 0)
  assert.ok(compareValues(-0, 0n) < 0)
  assert.ok(compareValues(0n, -0) > 0)
})

test('references of different databases are equal in the order', () => {
  assert.equal(compareValues(new Ref(1n, 1024, 1n), new Ref(2n, 1024, 1n)), 0)
})

test('transient values are ordered by their stored form', () => {
  const value = new DocumentValue(document, micros(5), new Map([['data', new Map([['a', 1n]])]]))
  const collection = new Ref(0n, native.collections, 1024n)
  const form = new Map<string, Value>([
    ['ref', document],
    ['class', collection],
    ['collection', collection],
    ['ts', 5n],
    ['data', new Map([['a', 1n]])],
  ])
  assert.equal(compareValues(value, form), 0)
  assert.equal(compareValues(new Action('update'), 'update'), 0)
  const set = new SetValue({ type: 'documents', collection })
  assert.equal(compareValues(set, new Map([['@set', new Map([['documents', collection]])]])), 0)
})

test('an unresolved reference is rejected', () => {
  const unresolved = new UnresolvedRef({ type: 'collection', name: 'missing' })
  assert.throws(() => compareValues([unresolved], [1n]), InvariantError)
})

test('the order is total: antisymmetric', () => {
  fc.assert(
    fc.property(orderedValues, orderedValues, (left, right) => {
      assert.equal(Math.sign(compareValues(left, right)), -Math.sign(compareValues(right, left)) + 0)
    }),
  )
})

function assertTransitive(a: Value, b: Value, c: Value): void {
  const [low, middle, high] = [a, b, c].sort(compareValues) as [Value, Value, Value]
  assert.ok(compareValues(low, middle) <= 0)
  assert.ok(compareValues(middle, high) <= 0)
  assert.ok(compareValues(low, high) <= 0)
  if (compareValues(low, high) === 0) assert.equal(compareValues(low, middle), 0)
}

test('the order is total: transitive', () => {
  fc.assert(fc.property(orderedValues, orderedValues, orderedValues, assertTransitive))
  fc.assert(fc.property(numbers, numbers, numbers, assertTransitive), { numRuns: 2000 })
})

test('doubles compare with longs as the language does wherever no long is rounded', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.double({ noNaN: true }), (whole, double) => {
      assert.equal(
        Math.sign(compareNumbers(BigInt(whole), double)),
        Object.is(double, -0) && whole === 0 ? 1 : Math.sign(Number(whole > double) - Number(whole < double)),
      )
    }),
  )
})

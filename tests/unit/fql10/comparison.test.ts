// Arithmetic and the order of values, beyond the operators in queries.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareTotally, equalElements } from '../../../src/fql10/comparison.ts'
import { arithmetic, divide, doubleOf } from '../../../src/fql10/numbers.ts'
import { asLong, Id, type Value } from '../../../src/fql10/value.ts'
import { toLong } from '../../../src/values/java-math.ts'

test('values of different types are ordered by type, with null last', () => {
  const ascending: readonly Value[] = [2, new Uint8Array([1]), 'a', [1n], new Map(), new Id(1n), true, null]
  assert.deepEqual([...ascending].reverse().sort(compareTotally), ascending)
  assert.ok(compareTotally([2n, 5n], [3n]) < 0)
  assert.ok(compareTotally([2n], [2n, 0n]) < 0)
  assert.ok(compareTotally(Number.NaN, Number.POSITIVE_INFINITY) > 0)
})

test('array elements are equal by IEEE 754, and an id equals a text but no number', () => {
  assert.ok(equalElements(1n, asLong(1n)))
  assert.ok(equalElements(0, -0))
  assert.ok(!equalElements(Number.NaN, Number.NaN))
  assert.ok(!equalElements(new Id(1n), 1n))
  assert.ok(equalElements(new Id(1n), '1'))
})

test('integer results beyond 64 bits become doubles', () => {
  assert.equal(arithmetic('+', 2n ** 63n - 1n, 1n), 2 ** 63)
  assert.equal(divide(-(2n ** 63n), -1n), -(2n ** 63n))
  assert.equal(toLong(1e300), 2n ** 63n - 1n)
  assert.equal(doubleOf(asLong(3n)), 3)
})

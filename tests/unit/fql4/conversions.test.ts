// Conversions in the language: the details of each function. The conformance cases contain the matrix of all types.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { DocumentValue, native, Ref, rootDatabase, type Value } from '../../../src/values/value.ts'
import { assertError, errorsOf, evaluatePure } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'

const given = { var: 'given' }

test('a document becomes its reference, its time and its fields', () => {
  const ref = new Ref(rootDatabase, native.tokens, 42n)
  const stored = new Map<string, Value>([['data', new Map([['x', 1n]])]])
  const document = new DocumentValue(ref, micros(1_000), stored)
  const fields = new Map<string, Value>([['ref', ref], ['ts', 1_000n], ...stored])
  assert.deepEqual(evaluatePure({ to_object: given }, { given: document }), fields)
  assert.deepEqual(evaluatePure({ to_array: given }, { given: document }), [...fields])
})

test('numbers are converted to the type that the function names', () => {
  assert.equal(evaluatePure({ to_double: 3 }), 3)
  assert.equal(evaluatePure({ to_integer: -2.5 }), -2n)
})

describe('texts to numbers', () => {
  test('the number at the front is used', () => {
    assert.equal(evaluatePure({ to_number: ' 1,234.5 miles' }), 1234.5)
    assert.equal(evaluatePure({ to_integer: '1e3' }), 1n)
    assert.equal(evaluatePure({ to_integer: '2.9E3' }), 2900n)
  })

  test('integers round-trip exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), integer => {
        assert.equal(evaluatePure({ to_integer: { to_string: given } }, { given: integer }), integer)
      }),
    )
  })

  test('doubles round-trip exactly', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), double => {
        assert.ok(Object.is(evaluatePure({ to_double: { to_string: given } }, { given: double }), double))
      }),
    )
  })

  test('values beyond 64 bits are clamped', () => {
    assert.equal(evaluatePure({ to_integer: '1E30' }), 2n ** 63n - 1n)
    assert.equal(evaluatePure({ to_integer: '-1E30' }), -(2n ** 63n))
    assert.equal(evaluatePure({ to_integer: given }, { given: Number.NaN }), 0n)
    assert.equal(evaluatePure({ to_integer: given }, { given: Number.POSITIVE_INFINITY }), 2n ** 63n - 1n)
  })
})

describe('texts to times and dates', () => {
  test('other texts are reported', () => {
    assertError({ to_time: 'noon' }, 'invalid argument', "Cannot cast 'noon' to a time.", [])
    assertError({ to_date: '2023-02-29' }, 'invalid argument', "Cannot cast '2023-02-29' to a date.", [])
  })
})

describe('pairs to objects', () => {
  test('every element that is not a pair is reported', () => {
    const query = { to_object: [['a', 1], [1, 2], 'x', ['b'], ['c', 1, 2]] }
    assert.deepEqual(
      errorsOf(query).map(({ description, position }) => [position.at(-1), description]),
      [
        [1, 'Field/Value expected, Array provided.'],
        [2, 'Field/Value expected, String provided.'],
        [3, 'Field/Value expected, Array provided.'],
        [4, 'Field/Value expected, Array provided.'],
      ],
    )
  })

  test('the last value of a repeated name is used', () => {
    assert.deepEqual(
      [
        ...(evaluatePure({
          to_object: [
            ['a', 1],
            ['b', 2],
            ['a', 3],
          ],
        }) as Map<string, Value>),
      ],
      [
        ['a', 3n],
        ['b', 2n],
      ],
    )
  })
})

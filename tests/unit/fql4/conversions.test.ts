// Conversions in the language: the whole matrix of types, and the details of each function.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { Action, EventValue, Page, SetValue } from '../../../src/fql4/values/transient.ts'
import {
  DocumentValue,
  Lambda,
  LocalDate,
  native,
  Ref,
  rootDatabase,
  Time,
  TransactionTime,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../../../src/values/value.ts'
import { errorOf, errorsOf, evaluatePure, pureNow } from '../../support/evaluate-pure.ts'
import { fc } from '../../support/fast-check.ts'

const given = { var: 'given' }
const uuid = '5a1a0c5e-3e1a-4a0b-9a3f-0123456789ab'
const ref = new Ref(rootDatabase, native.tokens, 42n)
const document = new DocumentValue(
  ref,
  micros(1_000),
  new Map<string, Value>([['data', new Map([['x', 1n]])]]),
)

const targets = ['string', 'number', 'integer', 'double', 'time', 'date', 'object', 'array'] as const
type Target = (typeof targets)[number]

interface Row {
  readonly type: string
  readonly value: Value
  /** The results of allowed conversions; all others are rejected. */
  readonly to: Partial<Record<Target, Value>>
}

const noon = new Time(43_200n, 0)
const fields = new Map<string, Value>([['x', 1n]])
const documentFields = new Map<string, Value>([
  ['ref', ref],
  ['ts', 1_000n],
  ['data', fields],
])

const rows: readonly Row[] = [
  { type: 'Null', value: null, to: { string: 'null' } },
  { type: 'Boolean', value: true, to: { string: 'true' } },
  {
    type: 'Integer',
    value: 1_500n,
    to: { string: '1500', number: 1_500n, integer: 1_500n, double: 1_500, time: new Time(1n, 500_000_000) },
  },
  { type: 'Double', value: -2.5, to: { string: '-2.5', number: -2.5, integer: -2n, double: -2.5 } },
  { type: 'Bytes', value: new Uint8Array([1]), to: {} },
  { type: 'Time', value: noon, to: { string: '1970-01-01T12:00:00Z', time: noon, date: new LocalDate(0) } },
  {
    type: 'Date',
    value: new LocalDate(1),
    to: { string: '1970-01-02', time: new Time(86_400n, 0), date: new LocalDate(1) },
  },
  { type: 'UUID', value: new Uuid(uuid), to: { string: uuid } },
  { type: 'Action', value: new Action('create'), to: { string: 'create' } },
  { type: 'Ref', value: ref, to: {} },
  {
    type: 'Index Ref',
    value: new UnresolvedRef({ type: 'index', name: 'none' }),
    to: {},
  },
  { type: 'Set', value: new SetValue({ type: 'singleton', ref }), to: {} },
  { type: 'Lambda', value: new Lambda('4', 'x', 1n), to: {} },
  { type: 'Array', value: [['x', 1n]], to: { object: fields, array: [['x', 1n]] } },
  { type: 'Object', value: fields, to: { object: fields, array: [['x', 1n]] } },
  { type: 'Object', value: document, to: { object: documentFields, array: [...documentFields] } },
  { type: 'Page', value: new Page([], undefined, undefined), to: {} },
  { type: 'Object', value: new EventValue(micros(1), 'create', ref, null), to: {} },
  { type: 'Unresolved Transaction Time', value: TransactionTime.micros, to: {} },
]

/** Conversions whose errors are located at the call instead of its argument. */
const ownPosition: ReadonlySet<Target> = new Set(['string', 'number', 'time', 'date'])

describe('the matrix', () => {
  for (const { to, type, value } of rows) {
    test(`of ${type}`, () => {
      for (const target of targets) {
        const name = `to_${target}`
        const query = { [name]: given }
        const expected = to[target]
        if (expected !== undefined) {
          assert.deepEqual(evaluatePure(query, { given: value === null ? null : value }), expected)
          continue
        }
        const capital = target.charAt(0).toUpperCase() + target.slice(1)
        const wrapped = value === null ? { [name]: null } : query
        const options = value === null ? {} : { given: value }
        assert.deepEqual(errorOf(wrapped, options), {
          code: 'invalid argument',
          description: `Cannot cast ${type} to ${capital}.`,
          position: ownPosition.has(target) ? [] : [name],
        })
      }
    })
  }
})

describe('texts to numbers', () => {
  test('the number at the front is used', () => {
    assert.equal(evaluatePure({ to_number: ' 1,234.5 miles' }), 1234.5)
    assert.equal(evaluatePure({ to_number: '1.0' }), 1n)
    assert.ok(Object.is(evaluatePure({ to_number: '-0' }), -0))
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

  test('a text without a number at the front is rejected', () => {
    for (const text of ['', 'abc', '+3', '- 5', 'Infinity']) {
      assert.equal(errorOf({ to_number: text }).description, 'Cannot cast String to Number.')
    }
  })
})

describe('texts to times and dates', () => {
  test('surrounding blanks are ignored, and now is a time', () => {
    assert.deepEqual(evaluatePure({ to_time: ' 1970-01-01T12:00:00Z\n' }), noon)
    assert.deepEqual(evaluatePure({ to_date: ' 1970-01-02 ' }), new LocalDate(1))
    assert.deepEqual(evaluatePure({ to_time: 'now' }), evaluatePure({ now: null }))
    assert.equal(evaluatePure({ to_micros: { to_time: 'now' } }), BigInt(pureNow))
  })

  test('other texts are reported', () => {
    assert.deepEqual(errorOf({ to_time: 'noon' }), {
      code: 'invalid argument',
      description: "Cannot cast 'noon' to a time.",
      position: [],
    })
    assert.deepEqual(errorOf({ to_date: '2023-02-29' }), {
      code: 'invalid argument',
      description: "Cannot cast '2023-02-29' to a date.",
      position: [],
    })
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

// The value codec: every storable value survives, encodings are small, damage is detected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '../../../../src/base/assert.ts'
import { micros } from '../../../../src/base/micros.ts'
import { Action } from '../../../../src/fql4/values/transient.ts'
import { decodeValue, encodeValue, withTransactionTime } from '../../../../src/storage/keys/value-codec.ts'
import { valueDepthMax } from '../../../../src/storage/keys/value-reader.ts'
import {
  DocumentValue,
  Ref,
  Time,
  TransactionTime,
  UnresolvedRef,
  type Value,
} from '../../../../src/values/value.ts'
import { fc } from '../../../support/fast-check.ts'
import { storableValues } from '../../../support/value-arbitraries.ts'

/** Like deepEqual, but the order of fields counts and -0 is not 0. */
function assertSame(actual: Value, expected: Value): void {
  assert.deepStrictEqual(actual, expected)
  if (expected instanceof Map && actual instanceof Map) {
    assert.deepStrictEqual([...actual.keys()], [...expected.keys()])
  }
}

test('every storable value survives', () => {
  fc.assert(
    fc.property(storableValues, value => assertSame(decodeValue(encodeValue(value)), value)),
    {
      numRuns: 500,
    },
  )
})

test('values at the limits of the encodings survive', () => {
  const values: Value[] = [
    ...[
      0n,
      63n,
      64n,
      -1n,
      127n,
      128n,
      -128n,
      -129n,
      2n ** 31n - 1n,
      2n ** 31n,
      -(2n ** 31n) - 1n,
      -(2n ** 63n),
    ],
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    -0,
    Number.NaN,
    'x'.repeat(63),
    'x'.repeat(64),
    'é'.repeat(200),
    '\ud800',
    `${'x'.repeat(70)}\udfff😀`,
    new Uint8Array(300),
    Array.from({ length: 31 }, () => null),
    Array.from({ length: 32 }, () => true),
    new Map(Array.from({ length: 40 }, (_, index) => [`field ${index}`, BigInt(index)])),
    new Map([['', '']]),
  ]
  for (const value of values) assertSame(decodeValue(encodeValue(value)), value)
})

test('field names that share one slot of the cache stay distinct', () => {
  const names = Array.from({ length: 5000 }, (_, index) => `n${index}`)
  const object = new Map(names.map(name => [name, name]))
  assertSame(decodeValue(encodeValue(object)), object)
  assertSame(decodeValue(encodeValue(object)), object)
})

test('small values take few bytes', () => {
  assert.equal(encodeValue(5n).length, 2)
  assert.equal(encodeValue('name').length, 6)
  assert.equal(encodeValue(new Map([['a', [1n, true]]])).length, 7)
})

test('the time of the transaction is inserted when it is known', () => {
  const value: Value = new Map<string, Value>([
    ['ts', TransactionTime.micros],
    ['list', [TransactionTime.time, 1n]],
  ])
  const expected = new Map<string, Value>([
    ['ts', -1n],
    ['list', [new Time(-1n, 999_999_000), 1n]],
  ])
  assertSame(decodeValue(encodeValue(value, micros(-1))), expected)
  assertSame(withTransactionTime(value, micros(-1)), expected)
  assert.equal(withTransactionTime(expected, micros(-1)), expected)
  assert.throws(() => encodeValue(value), InvariantError)
})

test('transient values are stored in their stored form, unresolved references are rejected', () => {
  assert.equal(decodeValue(encodeValue(new Action('add'))), 'add')
  const document = new DocumentValue(new Ref(0n, 1024, 1n), micros(9), new Map([['data', new Map()]]))
  const stored = decodeValue(encodeValue([document])) as readonly Value[]
  assert.ok(stored[0] instanceof Map)
  assert.deepEqual([...stored[0].keys()], ['ref', 'class', 'collection', 'ts', 'data'])
  const unresolved = new UnresolvedRef({ type: 'collection', name: 'missing' })
  assert.throws(() => encodeValue(unresolved), InvariantError)
})

test('a truncated encoding fails', () => {
  fc.assert(
    fc.property(storableValues, value => {
      const bytes = encodeValue(value)
      for (let length = 0; length < bytes.length; length++) {
        assert.throws(() => decodeValue(bytes.subarray(0, length)), InvariantError)
      }
      assert.throws(() => decodeValue(Uint8Array.of(...bytes, 0)), InvariantError)
    }),
    { numRuns: 50 },
  )
})

test('damaged bytes fail with an InvariantError or give a value', () => {
  const check = (bytes: Uint8Array): void => {
    try {
      encodeValue(decodeValue(bytes))
    } catch (error) {
      assert.ok(error instanceof InvariantError, String(error))
    }
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), bytes => check(Uint8Array.of(1, ...bytes))),
    {
      numRuns: 2000,
    },
  )
  fc.assert(
    fc.property(storableValues, fc.nat(), fc.nat(255), (value, place, byte) => {
      const bytes = encodeValue(value)
      bytes[place % bytes.length] = byte
      check(bytes)
    }),
    { numRuns: 1000 },
  )
})

test('sizes beyond the end and endless nesting are rejected at once', () => {
  assert.throws(() => decodeValue(Uint8Array.of(1, 0x10, 0xff, 0xff, 0xff, 0xff, 0x7f)), InvariantError)
  assert.throws(() => decodeValue(Uint8Array.of(1, 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)), InvariantError)
  assert.throws(() => decodeValue(new Uint8Array(100_000).fill(0xe1).fill(1, 0, 1)), InvariantError)
  let deep: Value = null
  for (let depth = 0; depth < valueDepthMax; depth++) deep = [deep]
  let depth = 0
  for (let level = decodeValue(encodeValue(deep)); Array.isArray(level); level = level[0]) depth++
  assert.equal(depth, valueDepthMax)
  assert.throws(() => encodeValue([deep]), InvariantError)
})

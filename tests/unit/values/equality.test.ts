// Equality of values, equality of the function `equals`, and keys that agree with the former.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../src/base/micros.ts'
import { Action, EventValue, Page, SetValue } from '../../../src/fql4/values/transient.ts'
import { decodeValue, encodeValue } from '../../../src/storage/keys/value-codec.ts'
import { equalValues } from '../../../src/values/equality.ts'
import { DocumentValue, Ref, TransactionTime, UnresolvedRef, type Value } from '../../../src/values/value.ts'
import { ValueKeys } from '../../../src/values/value-keys.ts'
import { fc } from '../../support/fast-check.ts'
import { storableValues } from '../../support/value-arbitraries.ts'

const keys = new ValueKeys()
const ref = new Ref(0n, 1024, 7n)
const fields = new Map<string, Value>([['data', new Map([['a', 1n]])]])

const equalPairs: readonly (readonly [Value, Value])[] = [
  [Number.NaN, Number.NaN],
  [null, null],
  [Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
  [
    new Map<string, Value>([
      ['a', 1n],
      ['b', [2n]],
    ]),
    new Map<string, Value>([
      ['b', [2n]],
      ['a', 1n],
    ]),
  ],
  [ref, new Ref(0n, 1024, 7n)],
  [new DocumentValue(ref, micros(5), fields, true), new DocumentValue(ref, micros(5), new Map(fields))],
  [
    new SetValue({ type: 'match', index: ref, terms: ['x'] }),
    new SetValue({ type: 'match', index: new Ref(0n, 1024, 7n), terms: ['x'] }),
  ],
  [
    new UnresolvedRef({ type: 'collection', name: 'c' }),
    new UnresolvedRef({ type: 'collection', name: 'c', scope: undefined }),
  ],
  [TransactionTime.micros, new TransactionTime('micros')],
  [new Action('add'), 'add'],
  [
    new Page([1n], { type: 'values', values: [2n] }, undefined),
    new Page([1n], { type: 'values', values: [2n] }, undefined, () => []),
  ],
  [new EventValue(micros(1), 'add', ref, null, [1n]), new EventValue(micros(1), 'add', ref, null, [1n])],
]

const differentPairs: readonly (readonly [Value, Value])[] = [
  [1n, 1],
  [[1n], [1]],
  [0, -0],
  [0n, -0],
  [null, false],
  ['1', 1n],
  [[], new Map()],
  [
    [1n, 2n],
    [2n, 1n],
  ],
  [new Map([['a', null]]), new Map()],
  [new Map([['a', null]]), new Map([['b', null]])],
  [ref, new Ref(1n, 1024, 7n)],
  [new DocumentValue(ref, micros(5), fields), fields],
  [new DocumentValue(ref, micros(5), fields), new DocumentValue(ref, micros(6), fields)],
  [
    new SetValue({ type: 'match', index: ref, terms: ['x'] }),
    new SetValue({ type: 'match', index: ref, terms: ['y'] }),
  ],
  [new SetValue({ type: 'union', sets: [ref] }), new SetValue({ type: 'intersection', sets: [ref] })],
  [
    ref,
    new UnresolvedRef({
      type: 'document',
      id: 7n,
      collection: new UnresolvedRef({ type: 'collection', name: 'c' }),
    }),
  ],
  [TransactionTime.micros, TransactionTime.time],
  [new Action('add'), new Action('create')],
  [new Page([1n], undefined, undefined), [1n]],
  [
    new Page([], { type: 'values', values: [null] }, undefined),
    new Page([], undefined, { type: 'values', values: [null] }),
  ],
  [new EventValue(micros(1), 'add', ref, null, [1n]), new EventValue(micros(1), 'remove', ref, null, [1n])],
]

test('equal values are equal and have equal keys', () => {
  for (const [left, right] of equalPairs) {
    assert.ok(
      equalValues(left, right) && equalValues(right, left),
      `${keys.keyOf(left)} ${keys.keyOf(right)}`,
    )
    assert.equal(keys.keyOf(left), keys.keyOf(right))
  }
})

test('different values are different and have different keys', () => {
  for (const [left, right] of differentPairs) {
    assert.ok(
      !equalValues(left, right) && !equalValues(right, left),
      `${keys.keyOf(left)} ${keys.keyOf(right)}`,
    )
    assert.notEqual(keys.keyOf(left), keys.keyOf(right))
  }
})

test('keys agree with equality on random values', () => {
  fc.assert(
    fc.property(storableValues, storableValues, (left, right) => {
      assert.equal(keys.keyOf(left) === keys.keyOf(right), equalValues(left, right))
      const copy = decodeValue(encodeValue(left))
      assert.ok(equalValues(left, copy))
      assert.equal(keys.keyOf(copy), keys.keyOf(left))
    }),
  )
})

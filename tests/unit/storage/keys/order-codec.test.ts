// The order-preserving codec and tuples: bytes have the order of values, alone and in tuples, ascending and descending,
// truncated or not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendOrdered } from '../../../../src/storage/keys/order-codec.ts'
import { prefixRange, successor } from '../../../../src/storage/keys/prefix.ts'
import { encodeTerms, termsLength, termsSize } from '../../../../src/storage/keys/terms.ts'
import {
  compareEntries,
  compareToBound,
  compareTuples,
  type EntryOrderParts,
  encodeTuple,
  entryRange,
  isTruncated,
  type TupleBound,
  tupleBytesMax,
} from '../../../../src/storage/keys/tuple.ts'
import { ByteWriter } from '../../../../src/values/byte-writer.ts'
import { equalValues } from '../../../../src/values/equality.ts'
import { compareBytes, compareValues } from '../../../../src/values/order.ts'
import type { Value } from '../../../../src/values/value.ts'
import { fc } from '../../../support/fast-check.ts'
import { numbers, orderedValues, storableValues } from '../../../support/value-arbitraries.ts'

function encode(value: Value, descending: boolean): Uint8Array {
  const writer = new ByteWriter()
  appendOrdered(writer, value, descending)
  return writer.copy()
}

function assertSameOrder(left: Value, right: Value): void {
  const order = Math.sign(compareValues(left, right))
  assert.equal(Math.sign(compareBytes(encode(left, false), encode(right, false))), order)
  assert.equal(Math.sign(compareBytes(encode(right, true), encode(left, true))), order)
}

test('bytes are ordered as values, ascending and descending', () => {
  fc.assert(fc.property(orderedValues, orderedValues, assertSameOrder), { numRuns: 3000 })
  fc.assert(fc.property(numbers, numbers, assertSameOrder), { numRuns: 3000 })
})

test('no encoding is a prefix of that of a different value', () => {
  fc.assert(
    fc.property(orderedValues, orderedValues, fc.boolean(), (left, right, descending) => {
      const [a, b] = [encode(left, descending), encode(right, descending)]
      if (compareValues(left, right) === 0) assert.deepEqual(a, b)
      else assert.notDeepEqual(b.subarray(0, a.length), a)
    }),
    { numRuns: 2000 },
  )
})

/** Values from a small pool, so that tuples are often partly equal. */
const pool = fc.constantFrom<Value>(
  1n,
  1,
  2n,
  'a',
  'a\0',
  'A',
  'b',
  null,
  [1n],
  [1],
  [],
  true,
  2n ** 53n + 1n,
  2 ** 53,
)
const tuple = fc.array(fc.oneof(pool, storableValues), { minLength: 2, maxLength: 2 })
const direction = fc.tuple(fc.boolean(), fc.boolean())
const documents = fc.record({
  id: fc.constantFrom(0n, 1n, -1n, 2n ** 62n),
  collection: fc.constantFrom(1024, 1025),
})
const entries: fc.Arbitrary<EntryOrderParts> = fc.record({ values: tuple, document: documents })

const prefix = Uint8Array.of(0x49, 1, 2)

function entryKey(entry: EntryOrderParts, descending: readonly boolean[]): Uint8Array {
  const encoded = encodeTuple(entry.values, descending)
  const writer = new ByteWriter()
  writer.append(prefix)
  writer.append(encoded.bytes)
  writer.u64(entry.document.id)
  writer.u16(entry.document.collection)
  writer.append(encoded.tie)
  return writer.copy()
}

test('entries are ordered by values, then by document, then by the tie-break', () => {
  fc.assert(
    fc.property(entries, entries, direction, (left, right, descending) => {
      const order = Math.sign(compareEntries(left, right, descending))
      assert.equal(Math.sign(compareBytes(entryKey(left, descending), entryKey(right, descending))), order)
      if (order === 0) assert.ok(compareTuples(left.values, right.values, descending) === 0)
    }),
    { numRuns: 3000 },
  )
})

test('entries of one document that are equal in the order have different keys', () => {
  const document = { id: 1n, collection: 1024 }
  const keys = [
    [1n, 1n],
    [1, 1n],
    [1n, 1],
    [1, 1],
    [[1n, [1]], 1n],
  ].map(values => Buffer.from(entryKey({ values, document }, [])).toString('hex'))
  assert.equal(new Set(keys).size, keys.length)
  const many = Array.from({ length: 20 }, () => 1n)
  const wide = [many, [...many.slice(1), 1], [...many.slice(0, 8), 1, ...many.slice(9)]]
  const wideKeys = wide.map(values =>
    Buffer.from(entryKey({ values: [values], document }, [])).toString('hex'),
  )
  assert.equal(new Set(wideKeys).size, wide.length)
})

const bounds: fc.Arbitrary<TupleBound> = fc.oneof(
  fc.record({
    values: fc.array(pool, { maxLength: 2 }),
    side: fc.constantFrom<'low' | 'high'>('low', 'high'),
  }),
  fc.record({ values: tuple, document: documents, side: fc.constantFrom<'low' | 'high'>('low', 'high') }),
)

test('the interval between two bounds contains exactly the entries between them', () => {
  fc.assert(
    fc.property(entries, bounds, bounds, direction, (entry, from, to, descending) => {
      const { start, end, inexact } = entryRange(prefix, descending, from, to)
      const key = entryKey(entry, descending)
      const found = compareBytes(key, start) >= 0 && compareBytes(key, end) < 0
      const wanted = compareToBound(entry, from, descending) > 0 && compareToBound(entry, to, descending) < 0
      assert.equal(inexact, false)
      assert.equal(found, wanted)
    }),
    { numRuns: 3000 },
  )
})

test('without bounds the interval contains all entries', () => {
  assert.deepEqual(entryRange(prefix, [], undefined, undefined), { ...prefixRange(prefix), inexact: false })
})

const long = 'x'.repeat(2000)

test('long tuples are truncated, keep their position among others and stay different', () => {
  const document = { id: 1n, collection: 1024 }
  const cut = encodeTuple([long], [])
  assert.ok(isTruncated(cut.bytes))
  assert.equal(cut.bytes.length, tupleBytesMax + 16)
  assert.notDeepEqual(encodeTuple([`${long}y`], []).bytes, cut.bytes)
  assert.notDeepEqual(encodeTuple([[long, 1n]], []).bytes, encodeTuple([[long, 1]], []).bytes)
  const sorted = ['x', 'x'.repeat(300), long, 'xy', 'y'].map(text =>
    entryKey({ values: [text], document }, []),
  )
  assert.deepEqual(sorted.toSorted(compareBytes), sorted)
})

test('a tuple of the maximum length is not truncated', () => {
  const overhead = encodeTuple([''], []).bytes.length
  const longest = encodeTuple(['x'.repeat((tupleBytesMax - overhead) / 2)], [])
  assert.equal(longest.bytes.length, overhead + 2 * Math.floor((tupleBytesMax - overhead) / 2))
  assert.ok(!isTruncated(longest.bytes))
})

test('a bound that is too long gives a wider interval, marked as inexact', () => {
  const document = { id: 1n, collection: 1024 }
  for (const side of ['low', 'high'] as const) {
    const range = entryRange(prefix, [], { values: [long], side }, { values: [`${long}z`], side })
    assert.ok(range.inexact)
    for (const text of [long, `${long}a`, `${long}z`]) {
      const key = entryKey({ values: [text], document }, [])
      assert.ok(compareBytes(key, range.start) >= 0 && compareBytes(key, range.end) < 0)
    }
    const outside = entryKey({ values: ['x'.repeat(100)], document }, [])
    assert.ok(compareBytes(outside, range.start) < 0)
  }
})

test('terms have equal bytes if and only if they are equal values', () => {
  fc.assert(
    fc.property(
      fc.array(storableValues, { maxLength: 2 }),
      fc.array(storableValues, { maxLength: 2 }),
      (left, right) => {
        assert.equal(compareBytes(encodeTerms(left), encodeTerms(right)) === 0, equalValues(left, right))
      },
    ),
    { numRuns: 1000 },
  )
  assert.notDeepEqual(encodeTerms([1n]), encodeTerms([1]))
  assert.notDeepEqual(encodeTerms([]), encodeTerms([null]))
  const object = [
    new Map([
      ['a', 1n],
      ['b', 2n],
    ]),
  ]
  assert.deepEqual(
    encodeTerms(object),
    encodeTerms([
      new Map([
        ['b', 2n],
        ['a', 1n],
      ]),
    ]),
  )
})

test('terms are self-delimiting; long ones are replaced by their hash', () => {
  for (const size of [0, 251, 252, 253, 254, 1000]) {
    const terms = ['x'.repeat(size)]
    const bytes = encodeTerms(terms)
    assert.equal(termsLength(Uint8Array.of(0, ...bytes, 7), 1), bytes.length)
    assert.equal(bytes.length, termsSize(terms) <= 254 ? termsSize(terms) + 1 : 33)
  }
  assert.notDeepEqual(encodeTerms(['x'.repeat(300)]), encodeTerms(['x'.repeat(301)]))
})

test('the successor of a prefix is after everything that begins with it', () => {
  assert.deepEqual(successor(Uint8Array.of(1, 2)), Uint8Array.of(1, 3))
  assert.deepEqual(successor(Uint8Array.of(1, 0xff, 0xff)), Uint8Array.of(2))
  assert.throws(() => successor(Uint8Array.of(0xff)))
})

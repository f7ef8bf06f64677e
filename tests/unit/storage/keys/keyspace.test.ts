// The closed list of keys: the documented layout, decoding, intervals, and order by time and id.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { InvariantError } from '../../../../src/base/assert.ts'
import { micros } from '../../../../src/base/micros.ts'
import { decodeKey, decodeKeyOf, entryDocumentOffset } from '../../../../src/storage/keys/key-reader.ts'
import { timeOf } from '../../../../src/storage/keys/key-times.ts'
import * as keys from '../../../../src/storage/keys/keyspace.ts'
import type { KeyInterval } from '../../../../src/storage/keys/prefix.ts'
import { printKey, printValue } from '../../../../src/storage/keys/printer.ts'
import { encodeTerms } from '../../../../src/storage/keys/terms.ts'
import { encodeTuple, tupleBytesMax } from '../../../../src/storage/keys/tuple.ts'
import { decodeValue, encodeValue } from '../../../../src/storage/keys/value-codec.ts'
import { keyBytesMax } from '../../../../src/storage/kv/kv-contract.ts'
import { compareBytes } from '../../../../src/values/order.ts'
import { Lambda, LocalDate, Ref, Time, Uuid, type Value } from '../../../../src/values/value.ts'
import { fc } from '../../../support/fast-check.ts'
import { storableValues } from '../../../support/value-arbitraries.ts'

const ref = new Ref(2n, 1024, 300n)
const ts = 1_600_000_000_000_000
const entry: keys.EntryKeyParts = {
  database: 2n,
  index: 32_768,
  terms: encodeTerms(['ada', 1n]),
  values: encodeTuple([1n, 'Ab'], [true, false]),
  document: ref,
}

const examples: Record<keyof typeof keys.keyTags, Uint8Array> = {
  document: keys.documentKey(ref),
  history: keys.historyKey(ref, micros(ts)),
  expiry: keys.expiryMarkKey(ref, micros(ts)),
  indexLive: keys.indexLiveKey(entry),
  indexEnded: keys.indexEndedKey(entry, micros(ts)),
  indexEvent: keys.indexEventKey(entry, micros(-1), 'add'),
  schemaVersion: keys.schemaVersionKey(2n),
  counter: keys.counterKey(2n, 2),
  keyHome: keys.keyHomeKey(300n),
  changes: keys.changesKey(micros(ts), 1),
  collectionChanges: keys.collectionChangesKey(2n, 1024, micros(ts), 1),
  meta: keys.metaKey('format'),
  control: keys.controlKey(Buffer.from('S')),
  garbage: keys.garbageKey('history', micros(ts), ref),
  build: keys.buildKey(2n, 32_768),
}

test('the keys match the documented test vectors', () => {
  const page = readFileSync(new URL('../../../../docs/internals/key-layout.md', import.meta.url), 'utf8')
  const vectors = [...page.matchAll(/^\| `(\w+)` \| `([0-9a-f]+)` \| (.+) \|$/gm)]
  assert.deepEqual(new Set(vectors.map(vector => vector[1] ?? '')), new Set(Object.keys(examples)))
  for (const [, kind = '', hex = '', printed = ''] of vectors) {
    const key = examples[kind as keyof typeof examples]
    assert.equal(Buffer.from(key).toString('hex'), hex, kind)
    assert.equal(printKey(key), printed)
    assert.equal(decodeKey(key).kind, kind)
  }
})

test('keys are decoded to their parts', () => {
  assert.deepEqual(decodeKey(examples.document), { kind: 'document', ref })
  assert.deepEqual(decodeKey(examples.history), { kind: 'history', ref, ts })
  assert.deepEqual(decodeKey(examples.garbage), { kind: 'garbage', work: 'history', due: ts, target: ref })
  assert.deepEqual(decodeKey(examples.changes), { kind: 'changes', ts, sequence: 1 })
  const moments = fc.maxSafeInteger()
  const values = fc.array(storableValues, { maxLength: 2 })
  fc.assert(
    fc.property(
      values,
      values,
      moments,
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      (terms, tuple, at, id) => {
        const parts = {
          ...entry,
          terms: encodeTerms(terms),
          values: encodeTuple(tuple, [false, true]),
          document: { id, collection: 1030 },
        }
        for (const key of [
          keys.indexLiveKey(parts),
          keys.indexEndedKey(parts, micros(at)),
          keys.indexEventKey(parts, micros(at), 'remove'),
        ]) {
          const read = decodeKey(key)
          assert.ok('values' in read)
          assert.deepEqual(read.document, parts.document)
          assert.deepEqual(new Uint8Array(read.values), parts.values.bytes)
          assert.deepEqual(new Uint8Array(read.tie), parts.values.tie)
          assert.deepEqual(new Uint8Array(read.termsBytes), parts.terms)
          if (read.kind === 'indexEnded') assert.equal(read.removedTs, at)
          if (read.kind === 'indexEvent') assert.deepEqual([read.ts, read.action], [at, 'remove'])
        }
      },
    ),
  )
})

test('bytes that are not a key are rejected', () => {
  assert.throws(() => decodeKey(Uint8Array.of()), InvariantError)
  assert.throws(() => decodeKey(Uint8Array.of(0)), InvariantError)
  for (const [kind, key] of Object.entries(examples)) {
    // These keys may have any bytes after the first one.
    if (kind === 'meta' || kind === 'control') continue
    assert.throws(() => decodeKey(key.subarray(0, 6)), InvariantError, kind)
    if (!kind.startsWith('index')) {
      assert.throws(() => decodeKey(Uint8Array.of(...key, 0)), InvariantError, kind)
    }
  }
})

test('the longest keys fit into every storage engine', () => {
  const parts = {
    ...entry,
    terms: encodeTerms(['x'.repeat(251)]),
    values: encodeTuple(['x'.repeat(10_000)], []),
  }
  assert.equal(parts.values.bytes.length, tupleBytesMax + 16)
  assert.equal(parts.terms.length, 255)
  assert.ok(keys.indexEndedKey(parts, micros(ts)).length <= keyBytesMax)
  assert.ok(keys.indexEventKey(parts, micros(ts), 'add').length <= keyBytesMax)
})

function inside(key: Uint8Array, { start, end }: KeyInterval): boolean {
  return compareBytes(key, start) >= 0 && compareBytes(key, end) < 0
}

test('history is ordered newest first, and read backwards from a time', () => {
  const moments = [-(2 ** 52), -1, 0, 1, ts, Number.MAX_SAFE_INTEGER]
  const history = moments.map(at => keys.historyKey(ref, micros(at)))
  assert.deepEqual(history.toSorted(compareBytes), history.toReversed())
  for (const at of moments) {
    const range = keys.historyRange(ref, micros(at))
    for (const [index, key] of history.entries())
      assert.equal(inside(key, range), (moments[index] as number) <= at)
  }
  assert.ok(history.every(key => inside(key, keys.historyRange(ref))))
  assert.ok(!inside(keys.historyKey(new Ref(2n, 1024, 301n), micros(ts)), keys.historyRange(ref)))
  assert.ok(
    inside(keys.historyKey(new Ref(2n, 1024, 301n), micros(ts)), keys.collectionHistoryRange(2n, 1024)),
  )
})

test('documents are in the range of their collection, by id as unsigned numbers', () => {
  const ids = [0n, 1n, 255n, 256n, 2n ** 63n - 1n, -(2n ** 63n), -1n]
  const documents = ids.map(id => keys.documentKey(new Ref(2n, 1024, id)))
  assert.deepEqual(documents.toSorted(compareBytes), documents)
  assert.ok(documents.every(key => inside(key, keys.documentRange(2n, 1024))))
  assert.ok(
    documents.every(
      key => !inside(key, keys.documentRange(2n, 1025)) && !inside(key, keys.documentRange(3n, 1024)),
    ),
  )
})

test('events are read between bounds of any length', () => {
  const event = (at: number, action: 'add' | 'remove', id: bigint): Uint8Array =>
    keys.indexEventKey({ ...entry, document: { id, collection: 1024 } }, micros(at), action)
  const sorted = [event(1, 'remove', 9n), event(1, 'add', 1n), event(1, 'add', 2n), event(2, 'remove', 1n)]
  assert.deepEqual(sorted.toSorted(compareBytes), sorted)
  const count = (from: keys.EventKeyBound | undefined, to?: keys.EventKeyBound): number => {
    const range = keys.eventRange(entry.database, entry.index, entry.terms, from, to)
    return sorted.filter(key => inside(key, range)).length
  }
  const document = { id: 1n, collection: 1024 }
  assert.equal(count(undefined), 4)
  assert.equal(count({ ts: 1, side: 'low' }), 4)
  assert.equal(count({ ts: 1, side: 'high' }), 1)
  assert.equal(count({ ts: 1, action: 'add', side: 'low' }), 3)
  assert.equal(count({ ts: 1, action: 'add', document, side: 'high' }), 2)
  assert.equal(count({ ts: 1, action: 'add', document, values: entry.values, side: 'low' }), 3)
  assert.equal(count(undefined, { ts: 1, action: 'add', document, side: 'low' }), 1)
})

test('jobs are found when they are due, oldest first', () => {
  const key = keys.garbageKey('history', micros(100), ref)
  assert.ok(inside(key, keys.garbageRange('history', micros(100))))
  assert.ok(!inside(key, keys.garbageRange('history', micros(99))))
  assert.ok(!inside(key, keys.garbageRange('object', micros(100))))
})

test('expiry marks of a collection are found up to a time', () => {
  const key = keys.expiryMarkKey(ref, micros(100))
  assert.ok(inside(key, keys.expiryMarkRange(2n, 1024)))
  assert.ok(inside(key, keys.expiryMarkRange(2n, 1024, micros(100))))
  assert.ok(!inside(key, keys.expiryMarkRange(2n, 1024, micros(99))))
  assert.ok(!inside(key, keys.expiryMarkRange(2n, 1025)))
})

test('changes are read after a time', () => {
  assert.ok(inside(keys.changesKey(micros(5), 0), keys.changesRange()))
  assert.ok(inside(keys.changesKey(micros(5), 9), keys.changesRange(micros(4))))
  assert.ok(!inside(keys.changesKey(micros(5), 9), keys.changesRange(micros(5))))
})

test('the ranges of a database contain all of its keys and no others', () => {
  const own = [
    'document',
    'history',
    'expiry',
    'indexLive',
    'indexEnded',
    'indexEvent',
    'schemaVersion',
    'counter',
    'build',
    'collectionChanges',
  ]
  for (const [kind, key] of Object.entries(examples)) {
    const isWithin = keys.databaseRanges(2n).some(range => inside(key, range))
    assert.equal(isWithin, own.includes(kind), kind)
    assert.ok(!keys.databaseRanges(3n).some(range => inside(key, range)))
    assert.ok(inside(key, keys.tagRange(kind as keyof typeof keys.keyTags)))
  }
  assert.ok(inside(examples.indexEnded, keys.indexTableRange('ended', 2n, 32_768)))
  assert.ok(!inside(examples.indexEnded, keys.indexTableRange('live', 2n, 32_768)))
})

test('values are printed as text', () => {
  const value: Value = new Map<string, Value>([
    ['a', [1n, 1, 'x"', null, true]],
    ['b', Uint8Array.of(1, 255)],
    ['c', [new Time(0n, 1), new LocalDate(0), new Uuid('00000000-0000-0000-0000-000000000001')]],
    ['d', [new Ref(0n, 2, 1024n), new Lambda('4', ['x', 'y'], new Map([['var', 'x']]))]],
  ])
  assert.equal(
    printValue(decodeValue(encodeValue(value))),
    '{"a": [1, 1.0, "x\\"", null, true], "b": bytes(01ff), ' +
      '"c": [time(1970-01-01T00:00:00.000000001Z), date(1970-01-01), uuid(00000000-0000-0000-0000-000000000001)], ' +
      '"d": [ref(0/collections/1024), lambda(["x", "y"] -> {"var": "x"}, version 4)]}',
  )
  assert.equal(printValue(-0), '-0.0')
  const long = keys.indexLiveKey({
    ...entry,
    terms: encodeTerms(['x'.repeat(999)]),
    values: encodeTuple(['x'.repeat(999)], []),
  })
  assert.match(
    printKey(long),
    /^entry 2\/32768 terms hashed [0-9a-f]{64} values <18[0-9a-f]+\.\.\. cut> document 1024\/300$/,
  )
})

test('document and time of an entry are found in its key without decoding the rest', () => {
  const entries = fc.record({
    terms: fc.array(storableValues, { maxLength: 3 }),
    values: fc.array(fc.tuple(storableValues, fc.boolean()), { maxLength: 3 }),
    document: fc.record({
      id: fc.bigInt(1n, 2n ** 63n - 1n),
      collection: fc.integer({ min: 1, max: 0x7fff }),
    }),
    ts: fc.maxSafeInteger(),
  })
  fc.assert(
    fc.property(entries, ({ document, terms, ts, values }) => {
      const tuple = encodeTuple(
        values.map(([each]) => each),
        values.map(([, descending]) => descending),
      )
      const parts = { ...entry, terms: encodeTerms(terms), values: tuple, document }
      const event = keys.indexEventKey(parts, micros(ts), 'remove')
      const ended = keys.indexEndedKey(parts, micros(ts))
      for (const key of [keys.indexLiveKey(parts), ended, event]) {
        const view = new DataView(key.buffer, key.byteOffset)
        const place = entryDocumentOffset(key)
        const read = { id: view.getBigUint64(place), collection: view.getUint16(place + 8) }
        assert.deepEqual(read, { id: document.id, collection: document.collection })
      }
      assert.equal(timeOf(event), decodeKeyOf('indexEvent', event).ts)
      assert.equal(timeOf(ended), ts)
      const changes = keys.collectionChangesKey(5n, document.collection, micros(ts), 7)
      assert.equal(timeOf(changes), ts)
    }),
  )
})

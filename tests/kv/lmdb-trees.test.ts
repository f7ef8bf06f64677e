// The tree of each row in an LMDB environment. Rows that grow together are in separate trees, and rows that are read
// together are in the same tree.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../src/base/micros.ts'
import {
  changesRange,
  collectionHistoryRange,
  documentKey,
  documentRange,
  documentsIndex,
  eventRange,
  indexEventKey,
  indexLiveKey,
  indexTableRange,
  indexTermsPrefix,
  metaKey,
  tagRange,
} from '../../src/storage/keys/keyspace.ts'
import { prefixRange } from '../../src/storage/keys/prefix.ts'
import { encodeTerms } from '../../src/storage/keys/terms.ts'
import { encodeTuple } from '../../src/storage/keys/tuple.ts'
import { type ByteDatabase, Trees, treeCount } from '../../src/storage/lmdb/trees.ts'
import { Ref } from '../../src/values/value.ts'

const names: string[] = []
const trees = new Trees(name => {
  names.push(name)
  // These tests use only the name.
  return { name } as unknown as ByteDatabase
})
const nameOf = (tree: ByteDatabase) => (tree as unknown as { readonly name: string }).name
const of = (key: Uint8Array) => nameOf(trees.of(key))
const within = (range: { readonly start: Uint8Array; readonly end: Uint8Array }) =>
  trees.within(range).map(nameOf)

const database = 0x5f_ff00_0000_0001n
const terms = encodeTerms(['a'])
const entry = (index: number) => ({
  database,
  index,
  terms,
  values: encodeTuple([1n], []),
  document: { id: 7n, collection: 1024 },
})

test('the number of trees is as declared, and each has its own name', () => {
  assert.equal(names.length, treeCount)
  assert.equal(new Set(names).size, treeCount)
})

test('rows that are read together are in one tree', () => {
  for (const number of [1024, 1279, 1280, 0x7eff, 0x7fff]) {
    const tree = of(documentKey(new Ref(database, number, 2n ** 62n)))
    assert.deepEqual(within(documentRange(database, number)), [tree])
    assert.equal(within(collectionHistoryRange(database, number)).length, 1)
  }
  for (const number of [1, 32_768, 33_023, 65_535, documentsIndex(1024), documentsIndex(0x7fff)]) {
    const live = of(indexLiveKey(entry(number)))
    const event = of(indexEventKey(entry(number), micros(5), 'add'))
    assert.deepEqual(within(indexTableRange('live', database, number)), [live])
    assert.deepEqual(within(prefixRange(indexTermsPrefix('live', database, number, terms))), [live])
    assert.deepEqual(within(indexTableRange('events', database, number)), [event])
    assert.deepEqual(within(eventRange(database, number, terms, undefined, undefined)), [event])
    assert.deepEqual(within(eventRange(database, number, terms, { ts: 3, side: 'low' }, undefined)), [event])
  }
  assert.equal(within(changesRange(micros(5))).length, 1)
  assert.equal(within(prefixRange(metaKey('a'))).length, 1)
  assert.equal(within(tagRange('build')).length, 1)
})

test('sets with consecutive numbers are in separate trees', () => {
  const numbers = Array.from({ length: 16 }, (_, number) => number)
  const documents = numbers.map(number => of(documentKey(new Ref(database, 1024 + number, 1n))))
  const live = numbers.map(number => of(indexLiveKey(entry(32_768 + number))))
  const events = numbers.map(number => of(indexEventKey(entry(32_768 + number), micros(1), 'add')))
  assert.equal(new Set([...documents, ...live, ...events]).size, 48)
})

test('a range over many sets covers exactly the trees of these sets', () => {
  assert.equal(within(tagRange('document')).length, 16)
  assert.equal(within({ start: new Uint8Array(0), end: Uint8Array.of(0xff) }).length, treeCount)
  const { start } = documentRange(database, 1024)
  assert.equal(within({ start, end: documentRange(database, 1026).start }).length, 16)
  assert.equal(within({ start, end: tagRange('history').end }).length, 16 + 1 + 1 + 1 + 1)
})

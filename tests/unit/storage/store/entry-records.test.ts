// Records of index entries: their content beside the keys.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { indexEndedKey, indexEventKey, indexLiveKey, keyTags } from '../../../../src/storage/keys/keyspace.ts'
import { encodeTerms } from '../../../../src/storage/keys/terms.ts'
import { encodeTuple } from '../../../../src/storage/keys/tuple.ts'
import {
  encodeEntry,
  entryCollection,
  entryDocument,
  entryIsTruncated,
  entrySince,
  entryTtl,
  entryUntil,
  entryValues,
  eventIsRemove,
  withEntryTime,
} from '../../../../src/storage/store/entry-records.ts'
import { never } from '../../../../src/storage/store/records.ts'
import { Ref, type Value } from '../../../../src/values/value.ts'

const document = new Ref(2n, 1024, 300n)
const time = 1_600_000_000_000_000
const parts = (values: readonly Value[]) => ({
  database: 2n,
  index: 32_768,
  terms: encodeTerms(['ada']),
  values: encodeTuple(values, []),
  document,
})

test('a written record is read back unchanged', () => {
  const other = new Ref(2n, 1024, 301n)
  for (const values of [[], [1n, 'b'], [document], [1n, document], [document, 1n], [other]]) {
    for (const ttl of [never, time + 7]) {
      const value = encodeEntry({ document, since: micros(time), ttl: micros(ttl), values, truncated: true })
      const live = { key: indexLiveKey(parts(values)), value }
      const ended = { key: indexEndedKey(parts(values), micros(time + 5)), value }
      const added = encodeEntry({ document, since: undefined, ttl: micros(ttl), values, truncated: true })
      const event = { key: indexEventKey(parts(values), micros(time), 'add'), value: added }
      for (const row of [live, ended, event]) {
        assert.deepEqual(entryDocument(2n, row), document)
        assert.equal(entryCollection(row), 1024)
        assert.equal(entrySince(row), time)
        assert.deepEqual(entryValues(row, document), values)
        assert.equal(entryIsTruncated(row), true)
      }
      assert.equal(entryTtl(live), ttl)
      assert.equal(entryTtl(ended), ttl)
      assert.equal(entryUntil(ended), time + 5)
      assert.equal(eventIsRemove(event), false)
    }
  }
  const removed = encodeEntry({
    document,
    since: undefined,
    ttl: micros(5),
    values: [],
    truncated: false,
    removed: true,
  })
  assert.equal(removed.length, 1)
  assert.equal(eventIsRemove({ value: removed }), true)
})

test('the time of an entry can be replaced; the time of an event is in its key', () => {
  const live = encodeEntry({ document, since: micros(time), ttl: never, values: [1n], truncated: false })
  const later = encodeEntry({ document, since: micros(time + 9), ttl: never, values: [1n], truncated: false })
  assert.deepEqual(withEntryTime(keyTags.indexLive, live, micros(time), micros(time + 9)), later)
  assert.equal(withEntryTime(keyTags.indexLive, live, micros(time + 1), micros(time + 9)), live)
  const event = encodeEntry({ document, since: undefined, ttl: never, values: [1n], truncated: false })
  assert.equal(withEntryTime(keyTags.indexEvent, event, micros(time), micros(time + 9)), event)
})

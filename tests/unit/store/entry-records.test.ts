// Records of index entries: what they hold, and rows of the former form, which are read as long as they stay.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { indexEndedKey, indexEventKey, indexLiveKey, keyTags, tagRange } from '../../../src/keys/keyspace.ts'
import { encodeTerms } from '../../../src/keys/terms.ts'
import { encodeTuple } from '../../../src/keys/tuple.ts'
import { encodeValue } from '../../../src/keys/value-codec.ts'
import type { Entry } from '../../../src/kv/contract.ts'
import {
  addEventOf,
  encodeEntry,
  entryCollection,
  entryDocument,
  entryIsCut,
  entrySince,
  entryTtl,
  entryUntil,
  entryValues,
  eventIsRemove,
  inPresentForm,
  withEntryTime,
} from '../../../src/store/entry-records.ts'
import { never } from '../../../src/store/records.ts'
import { Ref, type Value } from '../../../src/values/value.ts'
import { Bench, createCollection, createIndex, data, documentRef, field, object, second } from './support.ts'

const document = new Ref(2n, 1024, 300n)
const time = 1_600_000_000_000_000
const parts = (values: readonly Value[]) => ({
  database: 2n,
  index: 32_768,
  terms: encodeTerms(['ada']),
  values: encodeTuple(values, []),
  document,
})

test('what is written is read back', () => {
  const other = new Ref(2n, 1024, 301n)
  for (const values of [[], [1n, 'b'], [document], [1n, document], [document, 1n], [other]]) {
    for (const ttl of [never, time + 7]) {
      const value = encodeEntry({ document, since: time, ttl, values, cut: true })
      const live = { key: indexLiveKey(parts(values)), value }
      const ended = { key: indexEndedKey(parts(values), time + 5), value }
      const event = { key: indexEventKey(parts(values), time, 'add'), value: addEventOf(value) }
      for (const row of [live, ended, event]) {
        assert.deepEqual(entryDocument(2n, row), document)
        assert.equal(entryCollection(row), 1024)
        assert.equal(entrySince(row), time)
        assert.deepEqual(entryValues(row, document), values)
        assert.equal(entryIsCut(row), true)
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
    ttl: 5,
    values: [],
    cut: false,
    removed: true,
  })
  assert.equal(removed.length, 1)
  assert.equal(eventIsRemove({ value: removed }), true)
})

test('the time of an entry can be replaced, that of an event is in its key', () => {
  const live = encodeEntry({ document, since: time, ttl: never, values: [1n], cut: false })
  const later = encodeEntry({ document, since: time + 9, ttl: never, values: [1n], cut: false })
  assert.deepEqual(withEntryTime(keyTags.indexLive, live, time, time + 9), later)
  assert.equal(withEntryTime(keyTags.indexLive, live, time + 1, time + 9), live)
  const event = addEventOf(live)
  assert.equal(withEntryTime(keyTags.indexEvent, event, time, time + 9), event)
})

/** A row as versions before 0.2 wrote it. */
function asFormer({ key, value }: Entry): Entry {
  const tag = key[0]
  const row = { key, value }
  const document = entryDocument(0n, row)
  const values = entryValues(row, document)
  const ttl = tag === keyTags.indexEvent ? never : entryTtl(row)
  const times = (...numbers: number[]) => {
    const bytes = Buffer.alloc(8 * numbers.length)
    for (const [at, number] of numbers.entries()) bytes.writeBigInt64BE(BigInt(number), 8 * at)
    return bytes
  }
  const place = Buffer.alloc(10)
  place.writeBigUInt64BE(document.id)
  place.writeUInt16BE(document.collection, 8)
  const isEnded = tag === keyTags.indexEnded
  const flags =
    (ttl === never ? 0 : 1) |
    (isEnded ? 2 : 0) |
    (values.length > 0 ? 4 : 0) |
    (tag === keyTags.indexEvent && eventIsRemove(row) ? 16 : 0)
  const former = Buffer.concat([
    Buffer.of(flags),
    times(entrySince(row)),
    place,
    times(...(isEnded ? [entryUntil(row)] : []), ...(ttl === never ? [] : [ttl])),
    values.length > 0 ? encodeValue(values) : Buffer.alloc(0),
  ])
  return { key, value: new Uint8Array(former) }
}

test('rows of the former form are read, checked and replaced like any others', async () => {
  const bench = new Bench()
  const users = await bench.write(transaction => {
    const users = createCollection(transaction, 'users', { history_days: 30n })
    createIndex(transaction, 'by_n', {
      source: users,
      terms: [field('n')],
      values: [field('m'), object({ field: ['ref'] })],
    })
    return users
  })
  const ids = [1, 2, 3]
  const put = async (m: string, ttl?: number) => {
    bench.now += second
    await bench.write(transaction => {
      for (const id of ids) transaction.put(documentRef(users, id), data({ n: 1n, m: `${m}${id}` }, ttl))
    })
  }
  await put('a')
  await put('b', bench.now + 1000 * second)
  const seen = () => {
    // A store that remembers nothing.
    const other = new Bench(bench.kv)
    other.now = bench.now
    return other.read(transaction => {
      const [index] = transaction.catalogue.indexesOf(users.database, Number(users.id))
      assert.ok(index)
      const entries = (at?: number) =>
        Array.from(
          transaction.match(index, [1n], at === undefined ? {} : { at }),
          ({ document, values }) => ({ document, values }),
        )
      return {
        now: entries(),
        before: entries(bench.now - second / 2),
        events: [...transaction.matchEvents(index, [1n], {})],
        documents: [...transaction.documentEvents(users.database, Number(users.id), {})],
      }
    })
  }
  const present = seen()
  assert.equal(present.before.length, 3)
  assert.equal(present.events.length, 9)
  const rows = bench.kv.read(view =>
    (['indexLive', 'indexEnded', 'indexEvent'] as const).flatMap(kind => [...view.range(tagRange(kind))]),
  )
  const former = rows.map(asFormer)
  await bench.kv.transact(() => ({ result: undefined, writes: former }))
  assert.deepEqual(seen(), present)
  assert.deepEqual(bench.store.check(), [])
  for (const [at, row] of former.entries()) {
    const { key, value } = rows[at] as Entry
    assert.deepEqual(inPresentForm(0n, row), value)
    // Another document, another time of an event, another end.
    for (const byte of [
      12,
      ...(key[0] === keyTags.indexLive ? [] : [key[0] === keyTags.indexEnded ? 24 : 6]),
    ]) {
      const changed = row.value.slice()
      changed[byte] = (changed[byte] as number) ^ 1
      await bench.kv.transact(() => ({ result: undefined, writes: [{ key, value: changed }] }))
      assert.notDeepEqual(bench.store.check(), [], `byte ${byte} of ${Buffer.from(key).toString('hex')}`)
    }
    await bench.kv.transact(() => ({ result: undefined, writes: [row] }))
  }
  await put('c')
  assert.equal(seen().events.length, 15)
  await bench.close()
})

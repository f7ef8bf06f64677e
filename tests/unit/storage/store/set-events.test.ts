// Events of an index's entries are computed, not stored. They are the same if they are computed from the entries of the
// set or from the change record, and if they are read at once or in parts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { encodeTerms } from '../../../../src/storage/keys/terms.ts'
import { namedCollections } from '../../../../src/storage/store/index-definition.ts'
import type { EntrySet } from '../../../../src/storage/store/index-scan.ts'
import { userIndex } from '../../../../src/storage/store/index-tables.ts'
import { RecordedEvents } from '../../../../src/storage/store/recorded-events.ts'
import { type EventLimits, entryEvents } from '../../../../src/storage/store/set-events.ts'
import type {
  EventScan,
  IndexEvent,
  StoreHooks,
  Transaction,
} from '../../../../src/storage/store/store-contract.ts'
import { Sweeper } from '../../../../src/storage/store/sweeper.ts'
import type { StoreTransaction } from '../../../../src/storage/store/transaction.ts'
import { VersionReader } from '../../../../src/storage/store/version-reader.ts'
import type { Ref } from '../../../../src/values/value.ts'
import { RandomSource } from '../../../support/random-source.ts'
import { seedsToRun } from '../../../support/seeded.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  definitionOf,
  documentRef,
  field,
  second,
} from './support.ts'

const many = Number.POSITIVE_INFINITY
const fromEntries: EventLimits = {
  fewEntries: many,
  fewChanges: 0,
  manyEntries: 0,
  buffered: many,
  bufferedMax: many,
}
const ways: Record<string, EventLimits> = {
  'a few entries at a time': { ...fromEntries, buffered: 3, bufferedMax: 4 },
  'from the record': { ...fromEntries, fewEntries: 0, fewChanges: many },
  'from the record first, then from entries': {
    ...fromEntries,
    fewEntries: 0,
    fewChanges: 5,
    manyEntries: many,
  },
  'from a long record': {
    ...fromEntries,
    fewEntries: 2,
    fewChanges: 3,
    manyEntries: 4,
    buffered: 2,
    bufferedMax: 2,
  },
}

/** Returns the events of a group, and asserts that every way of computing them gives the same. */
function eventsOf(bench: Bench, index: Ref, group: string, scan: EventScan): readonly IndexEvent[] {
  return bench.store.read(transaction => found(bench, transaction, index, group, scan)).result
}

function found(bench: Bench, transaction: StoreTransaction, index: Ref, group: string, scan: EventScan) {
  const definition = definitionOf(transaction, index)
  const set: EntrySet = {
    database: index.database,
    index: Number(index.id),
    terms: encodeTerms([group]),
    collections: namedCollections(definition),
    descending: [false],
    hasCollection: () => true,
  }
  const { catalogue, snapshot } = transaction
  const { bindingBudget } = bench.store
  const hooks: StoreHooks = { evaluateBinding: () => undefined }
  const reader = new VersionReader(catalogue, hooks)
  const tables = userIndex(definition, hooks, catalogue)
  const [collection = 0] = namedCollections(definition) ?? []
  const recorded = new RecordedEvents({ snapshot, reader, bindingBudget }, tables, collection)
  const oldest = transaction.minimumValidTime(index.database, collection)
  const read = (limits: EventLimits) => {
    const { readBytes } = snapshot.counters
    const events = [...entryEvents(snapshot, set, scan, oldest, recorded, limits)]
    return { events, bytes: snapshot.counters.readBytes - readBytes }
  }
  const all = read(fromEntries)
  for (const [way, limits] of Object.entries(ways)) assert.deepEqual(read(limits), all, way)
  return all.events
}

const groups = ['a', 'b']
const long = 'x'.repeat(3000)

/** Makes a random write. `edits`: also in the past. */
function change(
  transaction: Transaction,
  random: RandomSource,
  items: Ref,
  now: number,
  edits: boolean,
): void {
  const ref = documentRef(items, 1 + random.below(9))
  const fields = (ttl?: number) => {
    const n = random.below(20) === 0 ? `${long}${random.below(3)}` : BigInt(random.below(5))
    const group = random.below(3) === 0 ? groups : (groups[random.below(2)] as string)
    return data({ group, n }, ttl)
  }
  const live = transaction.get(ref)
  switch (random.below(edits ? 9 : 6)) {
    case 0:
      if (live) transaction.delete(ref)
      return
    case 1:
      transaction.put(ref, fields(now + second * (1 + random.below(20))))
      return
    case 6:
      transaction.insertVersion(ref, micros(now - second * (1 + random.below(10))), fields())
      return
    case 7:
      if (typeof live?.ts === 'number') transaction.removeVersion(ref, live.ts, 'create')
      return
    case 8:
      if (typeof live?.ts === 'number') transaction.insertVersion(ref, live.ts, undefined)
      return
    default:
      transaction.put(ref, fields())
  }
}

function scanOf(random: RandomSource, events: readonly IndexEvent[]): EventScan {
  const bound = (side: 'low' | 'high') => {
    const event = events[random.below(events.length)]
    if (event === undefined || random.below(3) === 0) return undefined
    const { action, document, values } = event
    const parts = [{}, { action }, { action, document }, { action, document, values }]
    return { ts: micros(event.ts as number), ...parts[random.below(4)], side }
  }
  const [from, to] = [bound('low'), bound('high')]
  return { ...(from && { from }), ...(to && { to }), ...(random.below(2) === 0 && { reverse: true }) }
}

/** Creates a collection and an index by `group` with the value `n`. */
function indexedItems(transaction: Transaction) {
  const items = createCollection(transaction, 'items')
  const spec = { source: items, terms: [field('group')], values: [field('n')] }
  return { items, index: createIndex(transaction, 'by', spec) }
}

test('the events of a set are the same from its entries and from the change record', async () => {
  for (const seed of seedsToRun([1, 2, 3, 4, 5, 6])) {
    const random = new RandomSource(seed)
    await using bench = new Bench()
    const { index, items } = await bench.write(indexedItems)
    const sweeper = new Sweeper(bench.store)
    for (let round = 0; round < 60; round++) {
      bench.now += second * random.below(3) + (round % 40 === 39 ? 500 * second : 0)
      const isEdited = round % 30 < 15
      await bench.write(transaction => {
        for (let writes = random.below(4); writes > 0; writes--)
          change(transaction, random, items, bench.now, isEdited)
      })
      if (round % 20 === 0) await sweeper.runAll()
      const group = groups[random.below(2)] as string
      const all = eventsOf(bench, index, group, {})
      for (let scans = 0; scans < 3; scans++) eventsOf(bench, index, group, scanOf(random, all))
    }
  }
})

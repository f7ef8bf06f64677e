// The change record contains the changes of each transaction, ordered by collection and time, so reading the changes of
// one collection reads no other changes. The change log is ordered by time, and lists only the collections that each
// transaction changed, for code that follows all collections, and for removing old rows.

import { assert } from '../../base/assert.ts'
import { endOfTime, micros } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  isArray,
  type Micros,
  Ref,
  type Value,
} from '../../values/value.ts'
import { decodeKeyOf } from '../keys/key-reader.ts'
import { timeOf } from '../keys/key-times.ts'
import {
  changesKey,
  changesRange,
  collectionChangesKey,
  collectionChangesRange,
  metaKey,
} from '../keys/keyspace.ts'
import { decodeValue, encodeValue } from '../keys/value-codec.ts'
import { valueReader } from '../keys/value-reader.ts'
import type { Bytes, Entry, View, Write } from '../kv/kv-contract.ts'
import { decodeTime } from './records.ts'
import type { Change, CollectionIds, CommittedTransaction } from './store-contract.ts'

/** A row contains changes of one transaction in one collection. */
const partChangesMax = 1000

const kinds = ['write', 'history insert', 'history remove'] as const
const actions = ['create', 'update', 'delete', 'add', 'remove'] as const

/**
 * The start time of the change record. Older versions of Terrarium wrote only the change log, so the record contains no
 * changes before its start.
 */
export const recordSinceKey = metaKey('changes by collection since')

/** The time after which the change record is complete; by default `lastCommitTime`, the last commit in `view`. */
export function recordSince(view: Pick<View, 'get'>, lastCommitTime: Micros): Micros {
  const stored = view.get(recordSinceKey)
  return stored === undefined ? lastCommitTime : decodeTime(stored)
}

/** Writes for the record and for the log. */
export function encodeChanges(time: Micros, changes: readonly Change[]): Write[] {
  const byCollection = Map.groupBy(changes, ({ ref }) => `${ref.database}/${ref.collection}`)
  const writes: Write[] = []
  const collections: Value[] = []
  for (const changesOfOne of byCollection.values()) {
    const { database, collection } = (changesOfOne[0] as Change).ref
    collections.push(database, BigInt(collection))
    for (let part = 0; part * partChangesMax < changesOfOne.length; part++) {
      const rows = changesOfOne.slice(part * partChangesMax, (part + 1) * partChangesMax)
      const value = encodeValue(rows.map(change => encodeChange(change, time)))
      writes.push({ key: collectionChangesKey(database, collection, time, part), value })
    }
  }
  if (collections.length > 0) writes.push({ key: changesKey(time, 0), value: encodeValue(collections) })
  return writes
}

/** Only the key of the row contains the commit time, which may still change before the commit. */
function encodeChange({ action, kind, ref, validTime }: Change, time: Micros): Value {
  const kindAndAction = BigInt(kinds.indexOf(kind) * actions.length + actions.indexOf(action))
  return validTime === time ? [ref.id, kindAndAction] : [ref.id, kindAndAction, BigInt(validTime)]
}

function changeOf(ref: Ref, kindAndAction: number, validTime: Value | undefined, time: Micros): Change {
  const kind = kinds[Math.floor(kindAndAction / actions.length)]
  const action = actions[kindAndAction % actions.length]
  assert(kind !== undefined && action !== undefined, 'a recorded change has a known kind and action')
  return { ref, validTime: validTime === undefined ? time : micros(Number(validTime)), kind, action }
}

export function decodePart({ key, value }: Entry): { readonly time: Micros; readonly changes: Change[] } {
  const { collection, database, ts } = decodeKeyOf('collectionChanges', key)
  return { time: ts, changes: changesIn(value, database, collection, ts) }
}

function changesIn(value: Bytes, database: DatabaseId, collection: CollectionId, time: Micros): Change[] {
  const changes: Change[] = []
  valueReader.readIntegerRows(value, (id, kindAndAction, validTime) => {
    changes.push(changeOf(new Ref(database, collection, id), kindAndAction, validTime, time))
  })
  return changes
}

/** Only rows that were written before the start of the change record contain the changes themselves. */
function decodeRow({ key, value }: Entry) {
  const { ts } = decodeKeyOf('changes', key)
  const items = decodeValue(value)
  assert(isArray(items), 'a row of the change log is an array')
  const collections: CollectionIds[] = []
  const changes: Change[] = []
  for (const [index, item] of items.entries()) {
    if (isArray(item)) {
      assert(item[0] instanceof Ref, 'a logged change begins with a reference')
      changes.push(changeOf(item[0], Number(item[1]), item[2], ts))
    } else if (index % 2 === 0) {
      collections.push({ database: item as DatabaseId, collection: Number(items[index + 1]) })
    }
  }
  return { time: ts, collections, changes }
}

/** The collections that the transaction of a row of the change log has changed. */
export function changedCollections(row: Entry): readonly CollectionIds[] {
  return decodeRow(row).collections
}

/**
 * Transactions that were committed after `after`, oldest first: at most `limit`, until they have `changesMax` changes.
 */
export function readChanges(
  view: View,
  after: Micros | undefined,
  limit: number,
  changesMax = Number.POSITIVE_INFINITY,
): CommittedTransaction[] {
  const transactions: { time: Micros; changes: Change[] }[] = []
  let count = 0
  for (const row of view.range(changesRange(after))) {
    const { changes, collections, time } = decodeRow(row)
    const isNext = transactions.at(-1)?.time !== time
    if (isNext && (transactions.length >= limit || count >= changesMax)) break
    if (isNext) transactions.push({ time, changes: [] })
    for (const { collection, database } of collections) {
      for (const part of view.range(collectionChangesRange(database, collection, time, micros(time + 1))))
        changes.push(...decodePart(part).changes)
    }
    transactions.at(-1)?.changes.push(...changes)
    count += changes.length
  }
  return transactions
}

/**
 * Yields the transactions from `from` to `last` (both inclusive) with their changes in a collection, oldest first, or
 * newest first with `reverse`. Rows are read only when they are needed.
 */
export function* readCollectionChanges(
  view: View,
  database: DatabaseId,
  collection: CollectionId,
  from: Micros,
  last: Micros = endOfTime,
  reverse = false,
): Generator<CommittedTransaction, void, void> {
  let current: { time: Micros; changes: Change[] } | undefined
  const until = last === endOfTime ? undefined : micros(last + 1)
  const range = collectionChangesRange(database, collection, from, until)
  for (const { key, value } of view.range({ ...range, reverse })) {
    const time = timeOf(key)
    const changes = changesIn(value, database, collection, time)
    if (current?.time === time) current.changes.push(...changes)
    else {
      if (current !== undefined) yield current
      current = { time, changes }
    }
  }
  if (current !== undefined) yield current
}

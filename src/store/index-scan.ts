// Reads indexes: the entries there are now, those there were at a past time, and their history. Three tables
// hold an index: live entries, entries that ended (with the interval they lived), and add and remove events.

import { eventRange, type IndexTable, indexTermsPrefix } from '../keys/keyspace.ts'
import { compareEntries, compareToBound, encodeTuple, entryRange, tupleBytesMax } from '../keys/tuple.ts'
import type { Bytes, Entry } from '../kv/contract.ts'
import { compareBytes } from '../values/order.ts'
import {
  type CollectionId,
  type DatabaseId,
  type Micros,
  Time,
  TransactionTime,
  type Value,
} from '../values/value.ts'
import type { EntryScan, EventBound, EventScan, IndexEntry, IndexEvent } from './contract.ts'
import {
  entryCollection,
  entryDocument,
  entryIsCut,
  entrySince,
  entryTtl,
  entryUntil,
  entryValues,
  eventIsRemove,
} from './records.ts'
import { isExpired, type Snapshot } from './snapshot.ts'

/** The entries of one index under one tuple of terms. */
export interface EntrySet {
  readonly database: DatabaseId
  readonly index: number
  /** From `encodeTerms`. */
  readonly terms: Bytes
  /** For each value, whether its order is turned around. */
  readonly descending: readonly boolean[]
  /** Whether entries of documents of that collection show. */
  readonly isLive: (collection: CollectionId) => boolean
}

/** The entries of a set in order. Lazy. */
export function* scanEntries(snapshot: Snapshot, set: EntrySet, scan: EntryScan): Generator<IndexEntry> {
  const { from, to } = arityBounds(set, scan)
  const prefixLength = termsPrefix(set, 'live').length
  const inexact = entryRange(termsPrefix(set, 'live'), set.descending, from, to).inexact
  const { at } = scan
  const rows = at === undefined ? table(snapshot, set, 'live', scan) : rowsAt(snapshot, set, scan, at)
  for (const row of orderCut(rows, set, prefixLength, scan.reverse === true)) {
    if (isExpired(snapshot, entryTtl(row.value)) || !set.isLive(entryCollection(row.value))) continue
    const document = entryDocument(set.database, row.value)
    const values = entryValues(row.value)
    if (inexact) {
      if (from && compareToBound({ values, document }, from, set.descending) < 0) continue
      if (to && compareToBound({ values, document }, to, set.descending) > 0) continue
    }
    yield { values: withPlaceholders(snapshot, values), document }
  }
}

function termsPrefix(set: EntrySet, which: IndexTable): Bytes {
  return indexTermsPrefix(which, set.database, set.index, set.terms)
}

/** Bounds never reach beyond the values an index has, and name a document only behind all of them. */
function arityBounds(set: EntrySet, scan: EntryScan): Pick<EntryScan, 'from' | 'to'> {
  const arity = set.descending.length
  const fit = (bound: EntryScan['from']): EntryScan['from'] => {
    if (bound === undefined || bound.values.length === arity) return bound
    return { values: bound.values.slice(0, arity), side: bound.side }
  }
  return { from: fit(scan.from), to: fit(scan.to) }
}

function* table(
  snapshot: Snapshot,
  set: EntrySet,
  which: 'live' | 'ended',
  scan: EntryScan,
): Generator<Entry> {
  const { from, to } = arityBounds(set, scan)
  const { start, end } = entryRange(termsPrefix(set, which), set.descending, from, to)
  if (compareBytes(start, end) >= 0) return
  // Finding nothing is a read too.
  snapshot.counters.readBytes += start.length
  for (const row of snapshot.view.range({ start, end, reverse: scan.reverse === true })) {
    snapshot.counters.readBytes += row.value.length
    yield row
  }
}

/** The rows that were there at a time: still live ones that had come, and ended ones whose interval holds it. */
function* rowsAt(snapshot: Snapshot, set: EntrySet, scan: EntryScan, at: Micros): Generator<Entry> {
  const live = filter(table(snapshot, set, 'live', scan), row => entrySince(row.value) <= at)
  const ended = filter(
    table(snapshot, set, 'ended', scan),
    row => entrySince(row.value) <= at && at < entryUntil(row.value),
  )
  const sign = scan.reverse ? -1 : 1
  let left = live.next()
  let right = ended.next()
  while (!left.done || !right.done) {
    const leftFirst =
      right.done || (!left.done && compareBytes(placeOf(left.value, 0), placeOf(right.value, 8)) * sign <= 0)
    if (leftFirst) {
      yield left.value as Entry
      left = live.next()
    } else {
      yield right.value as Entry
      right = ended.next()
    }
  }
}

function* filter(rows: Iterable<Entry>, keep: (row: Entry) => boolean): Generator<Entry, undefined> {
  for (const row of rows) if (keep(row)) yield row
  return undefined
}

/** A row's key without its table's tag and without `trailing` bytes at its end. */
function placeOf(row: Entry, trailing: number): Bytes {
  return row.key.subarray(1, row.key.length - trailing)
}

/** Puts runs of rows in order whose values are too long for the key and begin alike. */
function* orderCut(
  rows: Iterable<Entry>,
  set: EntrySet,
  prefixLength: number,
  reverse: boolean,
): Generator<Entry> {
  let run: Entry[] = []
  for (const row of rows) {
    const cut = entryIsCut(row.value)
    if (run.length > 0 && !(cut && sameBeginning(run[0] as Entry, row, prefixLength))) {
      yield* sortRun(run, set, reverse)
      run = []
    }
    if (cut) run.push(row)
    else yield row
  }
  if (run.length > 0) yield* sortRun(run, set, reverse)
}

function sameBeginning(left: Entry, right: Entry, prefixLength: number): boolean {
  const length = prefixLength + tupleBytesMax
  return compareBytes(left.key.subarray(1, length), right.key.subarray(1, length)) === 0
}

function sortRun(run: Entry[], set: EntrySet, reverse: boolean): Entry[] {
  if (run.length === 1) return run
  const sign = reverse ? -1 : 1
  return run
    .map(row => ({
      row,
      position: { values: entryValues(row.value), document: entryDocument(set.database, row.value) },
    }))
    .sort((left, right) => compareEntries(left.position, right.position, set.descending) * sign)
    .map(({ row }) => row)
}

/** Inside the transaction that writes, its own time is still a placeholder. No stored value can equal it by chance. */
function withPlaceholders(snapshot: Snapshot, values: readonly Value[]): readonly Value[] {
  const { commitTime } = snapshot
  if (commitTime === undefined || values.length === 0) return values
  const isOwn = (value: Value) =>
    typeof value === 'bigint'
      ? value === BigInt(commitTime)
      : value instanceof Time && isTime(value, commitTime)
  if (!values.some(isOwn)) return values
  return values.map(value => {
    if (!isOwn(value)) return value
    return typeof value === 'bigint' ? TransactionTime.micros : TransactionTime.time
  })
}

function isTime(time: Time, micros: Micros): boolean {
  return time.nanos % 1000 === 0 && Number(time.seconds) * 1e6 + time.nanos / 1000 === micros
}

/** The add and remove events of a set's entries, oldest first, not before `oldest` (at which add events still show). Lazy. */
export function* scanEvents(
  snapshot: Snapshot,
  set: EntrySet,
  scan: EventScan,
  oldest: Micros,
): Generator<IndexEvent> {
  const bound = (given: EventBound | undefined) => {
    if (given === undefined) return undefined
    const { values, ...place } = given
    return values === undefined ? place : { ...place, values: encodeTuple(values, set.descending) }
  }
  const floor: EventBound = { ts: oldest, action: 'add', side: 'low' }
  const bounded = eventRange(set.database, set.index, set.terms, bound(scan.from), bound(scan.to))
  const retained = eventRange(set.database, set.index, set.terms, bound(floor), undefined)
  const start = compareBytes(bounded.start, retained.start) < 0 ? retained.start : bounded.start
  if (compareBytes(start, bounded.end) >= 0) return
  for (const { value } of snapshot.view.range({ start, end: bounded.end, reverse: scan.reverse === true })) {
    snapshot.counters.readBytes += value.length
    if (!set.isLive(entryCollection(value))) continue
    const since = entrySince(value)
    yield {
      ts: since === snapshot.commitTime ? TransactionTime.micros : since,
      action: eventIsRemove(value) ? 'remove' : 'add',
      document: entryDocument(set.database, value),
      values: withPlaceholders(snapshot, entryValues(value)),
    }
  }
}

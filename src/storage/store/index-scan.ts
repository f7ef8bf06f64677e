// Reads the entries of indexes, now or at a past time. The table of live entries contains the present entries. The
// table of ended entries contains removed entries, with the times of their addition and removal. `set-events.ts` reads
// the events of entries.

import { mergeJoin } from '../../base/merge-join.ts'
import { compareBytes } from '../../values/order.ts'
import { type CollectionId, type Micros, Time, TransactionTime, type Value } from '../../values/value.ts'
import { timeLength } from '../keys/key-times.ts'
import { type IndexTable, indexTermsPrefix } from '../keys/keyspace.ts'
import { compareEntries, compareToBound, entryRange, tupleBytesMax } from '../keys/tuple.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import {
  type CachedEntry,
  type CachedRun,
  cachedEntry,
  type EntryCache,
  type EntryRange,
  type EntrySetKey,
  rangeAfter,
  runEntriesMax,
} from './entry-cache.ts'
import {
  entryDocument,
  entryIsTruncated,
  entrySince,
  entryTtl,
  entryUntil,
  entryValues,
} from './entry-records.ts'
import { countRow, isExpired, type Snapshot } from './snapshot.ts'
import type { EntryScan, IndexEntry } from './store-contract.ts'

/** The entries of one index that have the same terms. */
export interface EntrySet extends EntrySetKey {
  /** True for each value of the index whose order is descending. */
  readonly descending: readonly boolean[]
  /** Returns whether a collection exists. Entries for documents of deleted collections are invisible. */
  readonly hasCollection: (collection: CollectionId) => boolean
}

/**
 * Yields the entries of a set in order, as of the past time `at`, or now. `cache`: for present entries. Rows are read
 * only when they are needed.
 */
export function scanEntries(
  snapshot: Snapshot,
  set: EntrySet,
  requested: Omit<EntryScan, 'at'>,
  at?: Micros,
  cache?: EntryCache,
): Iterable<IndexEntry> {
  const scan = withArity(set, requested)
  const { from, reverse = false, to } = scan
  const { start, end, inexact } = entryRange(termsPrefix(set, 'live'), set.descending, from, to)
  if (compareBytes(start, end) >= 0) return []
  if (cache !== undefined && at === undefined && !inexact) {
    const range = { start, end, reverse }
    const run = cache.find(range, set, snapshot)
    if (run !== undefined) return cachedEntries(snapshot, set, run, cache)
    if (cache.isWorthCaching(range))
      return cachedEntries(snapshot, set, { range, entries: [], rest: range }, cache)
  }
  const rows = at === undefined ? tableRows(snapshot, set, 'live', scan) : rowsAt(snapshot, set, scan, at)
  const isWithin = (entry: IndexEntry) =>
    !(from && compareToBound(entry, from, set.descending) < 0) &&
    !(to && compareToBound(entry, to, set.descending) > 0)
  return shownEntries(snapshot, set, rows, reverse, inexact ? isWithin : undefined)
}

/** Skips expired entries, invisible entries, and entries outside of the bounds. */
function* shownEntries(
  snapshot: Snapshot,
  set: EntrySet,
  rows: Iterable<Entry>,
  reverse: boolean,
  isWithin?: (entry: IndexEntry) => boolean,
): Generator<IndexEntry> {
  const prefixLength = termsPrefix(set, 'live').length
  for (const row of sortTruncated(rows, set, prefixLength, reverse)) {
    if (isExpired(snapshot, entryTtl(row))) continue
    const document = entryDocument(set.database, row)
    if (!set.hasCollection(document.collection)) continue
    const values = entryValues(row, document)
    if (isWithin !== undefined && !isWithin({ values, document })) continue
    yield { values: withPlaceholders(snapshot, values), document }
  }
}

/** Yields the entries of a cached run and then the following entries, which it adds to the run. */
function* cachedEntries(
  snapshot: Snapshot,
  set: EntrySet,
  { entries, range, rest }: Pick<CachedRun, 'range' | 'entries' | 'rest'>,
  cache: EntryCache,
): Generator<IndexEntry> {
  const { counters } = snapshot
  counters.readBytes += range.start.length
  for (const entry of entries) {
    counters.readBytes += entry.bytes
    countRow()
    if (isShown(entry, snapshot, set)) yield entry
  }
  if (rest === undefined) return
  const added: CachedEntry[] = []
  let unread: EntryRange | undefined = rest
  try {
    let isFull = false
    for (const row of rowsIn(snapshot, rest)) {
      // An entry whose key contains only a part of its values is not cached, because such entries must be sorted.
      isFull = entryIsTruncated(row) || entries.length + added.length === runEntriesMax
      if (isFull) {
        // The scan below reads the row again, and then counts its bytes.
        counters.readBytes -= row.value.length
        break
      }
      const entry = cachedEntry(set.database, row)
      added.push(entry)
      unread = rangeAfter(rest, row.key)
      if (isShown(entry, snapshot, set)) yield entry
    }
    if (!isFull) unread = undefined
  } finally {
    if (added.length > 0 || unread === undefined)
      cache.remember({ range, entries: [...entries, ...added], rest: unread }, snapshot)
  }
  if (unread !== undefined) yield* shownEntries(snapshot, set, rowsIn(snapshot, unread), range.reverse)
}

function isShown({ collection, ttl }: CachedEntry, snapshot: Snapshot, set: EntrySet): boolean {
  return !isExpired(snapshot, ttl) && set.hasCollection(collection)
}

function termsPrefix(set: EntrySet, which: IndexTable): Bytes {
  return indexTermsPrefix(which, set.database, set.index, set.terms)
}

/** Shortens longer bounds to the number of values in the index. Only bounds with this number keep their other parts. */
function withArity(
  { descending: { length } }: EntrySet,
  { from, reverse, to }: EntryScan,
): Omit<EntryScan, 'at'> {
  const fit = (bound: EntryScan['from']): EntryScan['from'] =>
    bound === undefined || bound.values.length === length
      ? bound
      : { values: bound.values.slice(0, length), side: bound.side }
  return { from: fit(from), to: fit(to), reverse }
}

function* tableRows(
  snapshot: Snapshot,
  set: EntrySet,
  which: 'live' | 'ended',
  { from, reverse = false, to }: EntryScan,
): Generator<Entry> {
  const { start, end } = entryRange(termsPrefix(set, which), set.descending, from, to)
  if (compareBytes(start, end) >= 0) return
  // A read without a result has a cost, too.
  snapshot.counters.readBytes += start.length
  yield* rowsIn(snapshot, { start, end, reverse })
}

function* rowsIn(snapshot: Snapshot, range: EntryRange): Generator<Entry> {
  for (const row of snapshot.view.range(range)) {
    snapshot.counters.readBytes += row.value.length
    countRow()
    yield row
  }
}

/** Yields the rows of the entries that the set contained at the time `at`, in the order of the entries. */
function* rowsAt(snapshot: Snapshot, set: EntrySet, scan: EntryScan, at: Micros): Generator<Entry> {
  const live = tableRows(snapshot, set, 'live', scan).filter(row => entrySince(row) <= at)
  const ended = tableRows(snapshot, set, 'ended', scan).filter(
    row => entrySince(row) <= at && at < entryUntil(row),
  )
  const sign = scan.reverse ? -1 : 1
  const byEntry = (left: Entry, right: Entry) =>
    compareBytes(entryPart(left, 0), entryPart(right, timeLength)) * sign
  for (const rows of mergeJoin(live, ended, byEntry)) for (const row of rows) if (row !== undefined) yield row
}

/** Returns the key of a row without the tag of its table and without the last `trailing` bytes. */
function entryPart(row: Entry, trailing: number): Bytes {
  return row.key.subarray(1, row.key.length - trailing)
}

/**
 * Yields the rows in the order of their entries: a key contains only the beginning of long values, so rows whose keys
 * have the same beginning are sorted by their complete values.
 */
function* sortTruncated(
  rows: Iterable<Entry>,
  set: EntrySet,
  prefixLength: number,
  reverse: boolean,
): Generator<Entry> {
  let group: Entry[] = []
  for (const row of rows) {
    const isTruncated = entryIsTruncated(row)
    if (group.length > 0 && !(isTruncated && sameBeginning(group[0] as Entry, row, prefixLength))) {
      yield* sortGroup(group, set, reverse)
      group = []
    }
    if (isTruncated) group.push(row)
    else yield row
  }
  if (group.length > 0) yield* sortGroup(group, set, reverse)
}

function sameBeginning(left: Entry, right: Entry, prefixLength: number): boolean {
  const length = prefixLength + tupleBytesMax
  return compareBytes(left.key.subarray(1, length), right.key.subarray(1, length)) === 0
}

/** Sorts rows whose keys have the same beginning. */
function sortGroup(group: Entry[], set: EntrySet, reverse: boolean): Entry[] {
  if (group.length === 1) return group
  const sign = reverse ? -1 : 1
  return group
    .map(row => {
      const document = entryDocument(set.database, row)
      return { row, parts: { values: entryValues(row, document), document } }
    })
    .sort((left, right) => compareEntries(left.parts, right.parts, set.descending) * sign)
    .map(({ row }) => row)
}

/**
 * Replaces each value that equals the commit time of the running transaction by a placeholder, because the commit time
 * may still change. A value of an earlier commit is equal only if a client stored this future time as a literal, because
 * the times of earlier commits are earlier.
 */
export function withPlaceholders(snapshot: Snapshot, values: readonly Value[]): readonly Value[] {
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

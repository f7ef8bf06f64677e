// Reads the stored versions of documents. The newest version of a live document is stored under the key of the
// document, so reading a document is one point read. The history of a document contains its superseded versions, and
// the delete of a deleted document.

import { mergeJoin } from '../../base/merge-join.ts'
import { type CollectionId, type DatabaseId, type Micros, Ref } from '../../values/value.ts'
import { documentIdOf } from '../keys/key-reader.ts'
import { collectionHistoryRange, documentKey, documentRange, historyRange } from '../keys/keyspace.ts'
import type { KeyInterval } from '../keys/prefix.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import { versionAction, versionTime, versionTtl } from './records.ts'
import { countRow, firstOf, isExpired, read, readFirst, type Snapshot } from './snapshot.ts'
import type { CollectionIds, EntryScan, IndexEntry } from './store-contract.ts'

/** The greatest id that the key of a document can contain. */
export const idMax = (1n << 64n) - 1n

/** Undefined if the document is deleted. The `ttl` of the version may have passed. */
export function newestLive(snapshot: Snapshot, ref: Ref): Bytes | undefined {
  return read(snapshot, documentKey(ref))
}

/** The version that was valid at `at`. It may be a delete, or its `ttl` may have passed. */
export function validAt(snapshot: Snapshot, ref: Ref, at: Micros): Bytes | undefined {
  const newest = newestLive(snapshot, ref)
  if (newest !== undefined && versionTime(newest) <= at) return newest
  return readFirst(snapshot, historyRange(ref, at))?.value
}

/** The version is not a delete, and its `ttl` has not passed. */
export function isVisible(snapshot: Snapshot, stored: Bytes): boolean {
  return versionAction(stored) !== 'delete' && !isExpired(snapshot, versionTtl(stored))
}

/** Newest first, beginning with the version that was valid at `notAfter`. Rows are read only when they are needed. */
export function* storedVersions(snapshot: Snapshot, ref: Ref, notAfter?: Micros): Generator<Bytes> {
  const newest = newestLive(snapshot, ref)
  if (newest !== undefined && (notAfter === undefined || versionTime(newest) <= notAfter)) yield newest
  for (const { value } of snapshot.view.range(historyRange(ref, notAfter))) {
    snapshot.counters.readBytes += value.length
    yield value
  }
}

/** Oldest first, beginning with the version that was valid at `from`. Rows are read only when they are needed. */
export function* storedVersionsAscending(snapshot: Snapshot, ref: Ref, from?: Micros): Generator<Bytes> {
  const newest = newestLive(snapshot, ref)
  if (from !== undefined && newest !== undefined && versionTime(newest) <= from) {
    yield newest
    return
  }
  const { start, end } = historyRange(ref)
  const first = from === undefined ? undefined : readFirst(snapshot, historyRange(ref, from))
  if (first !== undefined) yield first.value
  const newerEnd = from === undefined ? end : historyRange(ref, from).start
  for (const { value } of snapshot.view.range({ start, end: newerEnd, reverse: true })) {
    snapshot.counters.readBytes += value.length
    yield value
  }
  if (newest !== undefined) yield newest
}

/**
 * Yields the visible documents in the order of their ids, as of the past time `at`, or now. Rows are read only when
 * they are needed.
 */
export function* scanDocuments(
  snapshot: Snapshot,
  database: DatabaseId,
  collection: CollectionId,
  scan: EntryScan = {},
  at?: Micros,
): Generator<IndexEntry> {
  const span = idSpan(collection, scan)
  if (span === undefined) return
  const { reverse = false } = scan
  if (at === undefined) {
    const interval = intervalOf('live', { database, collection }, span)
    for (const { key, value } of snapshot.view.range({ ...interval, reverse })) {
      snapshot.counters.readBytes += value.length
      countRow()
      if (isExpired(snapshot, versionTtl(value))) continue
      yield { values: [], document: new Ref(database, collection, documentIdOf(key)) }
    }
    return
  }
  for (const ref of everyDocument(snapshot, database, collection, span, reverse)) {
    countRow()
    const stored = validAt(snapshot, ref, at)
    if (stored !== undefined && isVisible(snapshot, stored)) yield { values: [], document: ref }
  }
}

interface IdSpan {
  readonly first: bigint
  readonly last: bigint
}

/**
 * Yields all documents with a stored version, also deleted ones, in the order of their ids. The cost for each document
 * does not depend on the length of its history.
 */
export function* everyDocument(
  snapshot: Snapshot,
  database: DatabaseId,
  collection: CollectionId,
  span: IdSpan = { first: 0n, last: idMax },
  reverse = false,
): Generator<Ref> {
  const idsOf = (table: DocumentTable) => idsIn(snapshot, table, { database, collection }, span, reverse)
  const byId = (left: bigint, right: bigint) => (left === right ? 0 : left < right === reverse ? 1 : -1)
  for (const [id, pastId] of mergeJoin(idsOf('live'), idsOf('past'), byId))
    yield new Ref(database, collection, (id ?? pastId) as bigint)
}

/** Yields each id once. */
function* idsIn(
  { view }: Snapshot,
  table: DocumentTable,
  ids: CollectionIds,
  { first, last }: IdSpan,
  reverse: boolean,
): Generator<bigint, undefined> {
  for (let left: IdSpan | undefined = { first, last }; left && left.first <= left.last; ) {
    const found: Entry | undefined = firstOf(view, { ...intervalOf(table, ids, left), reverse })
    if (found === undefined) return
    const id = documentIdOf(found.key)
    yield id
    left = reverse ? { first, last: id - 1n } : { first: id + 1n, last }
  }
}

/**
 * The first and last id between the bounds of a scan; undefined if there are no ids between them. A bound may name a
 * document of another collection: entries are ordered by id, and then by collection.
 */
function idSpan(collection: CollectionId, scan: EntryScan): IdSpan | undefined {
  let first = 0n
  let last = idMax
  const from = scan.from
  if (from?.document) {
    const after = from.document.collection - collection
    first = from.document.id + (after > 0 || (after === 0 && from.side === 'high') ? 1n : 0n)
  } else if (from?.side === 'high') return undefined
  const to = scan.to
  if (to?.document) {
    const after = to.document.collection - collection
    last = to.document.id - (after < 0 || (after === 0 && to.side === 'low') ? 1n : 0n)
  } else if (to?.side === 'low') return undefined
  if (first < 0n) first = 0n
  if (last > idMax) last = idMax
  return first > last ? undefined : { first, last }
}

/** The newest versions of live documents, or all other versions. */
type DocumentTable = 'live' | 'past'

/** The keys that belong to a span of ids in a collection. */
function intervalOf(
  table: DocumentTable,
  { collection, database }: CollectionIds,
  { first, last }: IdSpan,
): KeyInterval {
  const all = (table === 'live' ? documentRange : collectionHistoryRange)(database, collection)
  const startOf = (id: bigint) => {
    const ref = new Ref(database, collection, id)
    return table === 'live' ? documentKey(ref) : historyRange(ref).start
  }
  return {
    start: first === 0n ? all.start : startOf(first),
    end: last === idMax ? all.end : startOf(last + 1n),
  }
}

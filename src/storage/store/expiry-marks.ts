// Expiry marks show the sweeper (sweeper.ts) when data of a collection expires. A mark contains a document and a time.
// Some data of the document expires when the start of the collection's retained history (the minimum valid time)
// reaches this time. Marks do not depend on the length of the retained history, so a change of `history_days` changes
// no marks.
//
// Superseded versions and `ttl` values have marks in the table of marks. Creates and deletes need none: each has an
// event in the index of the collection's documents, which serves as a mark. A stale mark is harmless, because there is
// nothing left to remove.

import { micros } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  Ref,
} from '../../values/value.ts'
import { decodeKey, decodeKeyOf } from '../keys/key-reader.ts'
import { documentsIndex, eventRange, expiryMarkKey, expiryMarkRange } from '../keys/keyspace.ts'
import { intervalsFrom } from '../keys/prefix.ts'
import { encodeTerms } from '../keys/terms.ts'
import type { Bytes, Entry, KeyRange, View } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { never } from './records.ts'
import { shortNatives } from './retention.ts'
import { firstOf } from './snapshot.ts'
import type { CollectionIds } from './store-contract.ts'

export interface ExpiryMark {
  readonly key: Bytes
  readonly ref: Ref
  readonly time: Micros
}

const present = new Uint8Array([1])
const noTerms = encodeTerms([])

/** Adds nothing if the collection's data never expires. */
export function markExpiry(overlay: Overlay, ref: Ref, time: Micros, journal?: Journal): void {
  if (time < never && mayExpire(ref.collection)) overlay.set(expiryMarkKey(ref, time), present, journal)
}

/** Returns the native (built-in) collections of `database` with a limited history. */
export function expiringNatives(database: DatabaseId): readonly CollectionIds[] {
  return [...shortNatives].map(collection => ({ database, collection }))
}

/** Returns whether the history of a collection may have an end. */
export function mayExpire(collection: CollectionId): boolean {
  return collection >= firstUserCollection || shortNatives.has(collection)
}

/** When a document expires because of its `ttl`. `ts`: the time of its newest version. */
export function expiryTime(ttl: Micros, ts: Micros): Micros {
  return Math.max(ttl, ts)
}

/** A collection's marks: the events of its documents, and its rows in the table of marks. */
function markRanges({ collection, database }: CollectionIds, notAfter?: Micros): readonly KeyRange[] {
  const upTo = notAfter === undefined ? undefined : ({ ts: notAfter, side: 'high' } as const)
  return [
    eventRange(database, documentsIndex(collection), noTerms, undefined, upTo),
    expiryMarkRange(database, collection, notAfter),
  ]
}

/** Returns marks of a collection up to the time `notAfter`, at most `limit`, in the order of their keys. */
export function expiryMarks(
  view: View,
  ids: CollectionIds,
  notAfter: Micros,
  limit: number,
  from?: Bytes,
): ExpiryMark[] {
  const marks: ExpiryMark[] = []
  for (const range of intervalsFrom(markRanges(ids, notAfter), from)) {
    if (marks.length >= limit) break
    for (const row of view.range({ ...range, limit: limit - marks.length })) marks.push(markOf(row))
  }
  return marks
}

/**
 * Yields the documents with a mark in the table of marks, from `first` to `last` (both inclusive), grouped by time. A
 * version that was inserted into the past has such a mark at its own time; other documents may have marks, too. Rows
 * are read only when they are needed.
 */
export function* markedDocuments(
  view: View,
  { collection, database }: CollectionIds,
  first: Micros,
  last: Micros,
  reverse: boolean,
): Generator<{ readonly time: Micros; readonly documents: Ref[] }, void, void> {
  const { end } = expiryMarkRange(database, collection, last < never ? last : undefined)
  const { end: start } = expiryMarkRange(database, collection, micros(first - 1))
  let current: { readonly time: Micros; readonly documents: Ref[] } | undefined
  for (const { key } of view.range({ start, end, reverse })) {
    const { ref, ts } = decodeKeyOf('expiry', key)
    if (current?.time === ts) current.documents.push(ref)
    else {
      if (current !== undefined) yield current
      current = { time: ts, documents: [ref] }
    }
  }
  if (current !== undefined) yield current
}

/** The time of a collection's earliest mark, or of its earliest mark after `after`; undefined if there is none. */
export function earliestMark(view: View, ids: CollectionIds, after?: Micros): Micros | undefined {
  const past = after === undefined ? undefined : markRanges(ids, after)
  let first: Micros | undefined
  for (const [at, { end, start }] of markRanges(ids).entries()) {
    const row = firstOf(view, { start: past?.[at]?.end ?? start, end })
    if (row !== undefined) first = Math.min(first ?? never, markOf(row).time)
  }
  return first
}

function markOf({ key }: Entry): ExpiryMark {
  const decoded = decodeKey(key)
  if (decoded.kind === 'expiry') return { key, ref: decoded.ref, time: decoded.ts }
  if (decoded.kind !== 'indexEvent') throw new TypeError(`${decoded.kind} is not a mark`)
  const { database, document, ts } = decoded
  return { key, ref: new Ref(database, document.collection, document.id), time: ts }
}

// The order in which the history of a collection expires: a mark for each write that makes data removable. The marks
// are ordered by the time that the minimum valid time must reach before the data can be removed. The order does not
// depend on the length of the history, so a change of `history_days` needs no other marks.
//
// The events of the documents of a collection serve as the marks of creates and deletes, because these events expire,
// too. A superseded version and the end of a `ttl` have marks of their own. A stale mark is harmless: there is nothing
// left to remove.

import { micros } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  Ref,
} from '../../values/value.ts'
import { decodeKey, decodeKeyOf } from '../keys/key-reader.ts'
import { documentsIndex, dueKey, dueRange, eventRange, metaKey } from '../keys/keyspace.ts'
import { encodeTerms } from '../keys/terms.ts'
import type { Bytes, Entry, KeyRange, View, Write } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { never } from './records.ts'
import { shortNatives } from './retention.ts'
import { firstOf } from './snapshot.ts'
import type { CollectionPlace } from './store-contract.ts'

/** Data of `ref` expires when the minimum valid time reaches `time`. */
export interface DueMark {
  readonly key: Bytes
  readonly ref: Ref
  readonly time: Micros
}

const present = new Uint8Array([1])
const noTerms = encodeTerms([])

/** The progress of adding missing marks to an older directory; see due-filing.ts. */
export const orderProgressKey = metaKey('order of removal')

/** The number of walks of due-filing.ts after which all data has its mark. */
const markingWalks = 2

/** For directories in which all data has its mark, but indexes have stored events (layout 4). */
export const orderHasEvents = 0xff

/** Written with the first commit of a new data directory, which has no missing marks. */
export const orderIsComplete: Write = { key: orderProgressKey, value: Uint8Array.of(0xfe) }

/** Returns whether an older directory has all marks and no surplus events. */
export function isOrderComplete(view: View): boolean {
  return view.get(orderProgressKey)?.[0] === orderIsComplete.value?.[0]
}

/** Returns whether all data that expires has its mark. */
export function areAllMarked(view: View): boolean {
  const walk = view.get(orderProgressKey)?.[0]
  return walk !== undefined && walk >= markingWalks
}

/** Adds a mark that data of a document expires at `time`, unless it never expires. */
export function markDue(overlay: Overlay, ref: Ref, time: Micros, journal?: Journal): void {
  if (time < never && hasEnd(ref.collection)) overlay.set(dueKey(ref, time), present, journal)
}

/** The native collections of a database whose history is limited. */
export function nativePlaces(database: DatabaseId): readonly CollectionPlace[] {
  return [...shortNatives].map(collection => ({ database, collection }))
}

function hasEnd(collection: CollectionId): boolean {
  return collection >= firstUserCollection || shortNatives.has(collection)
}

/** The time at which a document has expired as a whole because of its `ttl`. `ts`: the time of its newest version. */
export function expiryTime(ttl: Micros, ts: Micros): Micros {
  return Math.max(ttl, ts)
}

/** The two orders of a collection: events and marks. */
function orders({ collection, database }: CollectionPlace, notAfter?: Micros): readonly KeyRange[] {
  const upTo = notAfter === undefined ? undefined : ({ ts: notAfter, side: 'high' } as const)
  return [
    eventRange(database, documentsIndex(collection), noTerms, undefined, upTo),
    dueRange(database, collection, notAfter),
  ]
}

/** The oldest marks of both orders up to a time, about `limit` at most. */
export function dueMarks(view: View, place: CollectionPlace, notAfter: Micros, limit: number): DueMark[] {
  const marks: DueMark[] = []
  for (const range of orders(place, notAfter)) {
    if (marks.length >= limit) break
    for (const row of view.range({ ...range, limit: limit - marks.length })) marks.push(markOf(row))
  }
  return marks
}

/**
 * The documents with marks of their own from `first` to `last` (inclusive), by time: all documents whose version of
 * that time was inserted into the past, and possibly others. Lazy.
 */
export function* markedDocuments(
  view: View,
  { collection, database }: CollectionPlace,
  first: Micros,
  last: Micros,
  reverse: boolean,
): Generator<{ readonly time: Micros; readonly documents: Ref[] }, void, void> {
  const { end } = dueRange(database, collection, last < never ? last : undefined)
  const { end: start } = dueRange(database, collection, micros(first - 1))
  let under: { readonly time: Micros; readonly documents: Ref[] } | undefined
  for (const { key } of view.range({ start, end, reverse })) {
    const { ref, ts } = decodeKeyOf('due', key)
    if (under?.time === ts) under.documents.push(ref)
    else {
      if (under !== undefined) yield under
      under = { time: ts, documents: [ref] }
    }
  }
  if (under !== undefined) yield under
}

/** The time of the first mark of a collection; undefined when it has none. */
export function firstDue(view: View, place: CollectionPlace): Micros | undefined {
  let first: Micros | undefined
  for (const range of orders(place)) {
    const row = firstOf(view, range)
    if (row !== undefined) first = Math.min(first ?? never, markOf(row).time)
  }
  return first
}

function markOf({ key }: Entry): DueMark {
  const decoded = decodeKey(key)
  if (decoded.kind === 'due') return { key, ref: decoded.ref, time: decoded.ts }
  if (decoded.kind !== 'indexEvent') throw new TypeError(`${decoded.kind} is not a mark`)
  const { database, document, ts } = decoded
  return { key, ref: new Ref(database, document.collection, document.id), time: ts }
}

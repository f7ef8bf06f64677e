// The order in which things fall out of a collection's history: a mark for each write that leaves something to be removed,
// by the time that the minimum valid time has to reach. That order does not depend on how long history is kept, so a
// collection whose `history_days` change needs no other marks.
//
// What a create adds and a delete ends stands among the events of the documents of the collection, which fall out
// themselves: these are their marks. A mark of its own has a version that takes the place of another, and the end of a
// `ttl`. One that stands for nothing any more is harmless: who follows it finds nothing to remove.

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
import type { Bytes, Entry, KeyRange, View, Write } from '../kv/contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import type { CollectionPlace } from './contract.ts'
import { never } from './records.ts'
import { shortNatives } from './retention.ts'
import { firstOf } from './snapshot.ts'

/** Something of `ref` falls out when the minimum valid time reaches `time`. */
export interface DueMark {
  readonly key: Bytes
  readonly ref: Ref
  readonly time: Micros
}

const present = new Uint8Array([1])
const noTerms = encodeTerms([])

/** How far what folders of before lack has been made up; see due-filing.ts. */
export const orderProgressKey = metaKey('order of removal')

/** The walks of due-filing.ts behind which everything has its mark. */
const markingWalks = 2

/** Of folders in which everything has its mark, but indexes have events of their own (layout 4). */
export const orderHasEvents = 0xff

/** Written with the first commit of a folder: there is nothing to make up. */
export const orderIsComplete: Write = { key: orderProgressKey, value: Uint8Array.of(0xfe) }

/** Whether there is nothing left that a folder of before lacks or has too much. */
export function isOrderComplete(view: View): boolean {
  return view.get(orderProgressKey)?.[0] === orderIsComplete.value?.[0]
}

/** Whether everything that falls out of the history some day has its mark. */
export function areAllMarked(view: View): boolean {
  const walk = view.get(orderProgressKey)?.[0]
  return walk !== undefined && walk >= markingWalks
}

/** Marks that something of a document falls out with `time`; what never does is left out. */
export function markDue(overlay: Overlay, ref: Ref, time: Micros, journal?: Journal): void {
  if (time < never && hasEnd(ref.collection)) overlay.set(dueKey(ref, time), present, journal)
}

/** The native collections of a database whose history ends. */
export function nativePlaces(database: DatabaseId): readonly CollectionPlace[] {
  return [...shortNatives].map(collection => ({ database, collection }))
}

function hasEnd(collection: CollectionId): boolean {
  return collection >= firstUserCollection || shortNatives.has(collection)
}

/** When a document whose newest version is of `ts` has fallen out as a whole because of its `ttl`. */
export function expiryTime(ttl: Micros, ts: Micros): Micros {
  return Math.max(ttl, ts)
}

/** The two orders of a collection. */
function orders({ collection, database }: CollectionPlace, notAfter?: Micros): readonly KeyRange[] {
  const upTo = notAfter === undefined ? undefined : ({ ts: notAfter, side: 'high' } as const)
  return [
    eventRange(database, documentsIndex(collection), noTerms, undefined, upTo),
    dueRange(database, collection, notAfter),
  ]
}

/** Marks up to a time, at most about `limit`, each order from its oldest on. */
export function dueMarks(view: View, place: CollectionPlace, notAfter: Micros, limit: number): DueMark[] {
  const marks: DueMark[] = []
  for (const range of orders(place, notAfter)) {
    if (marks.length >= limit) break
    for (const row of view.range({ ...range, limit: limit - marks.length })) marks.push(markOf(row))
  }
  return marks
}

/**
 * The documents that marks of their own name, by time from `first` to `last`, both included: all whose version of that time was
 * put into the past, and others. Lazy.
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
  if (decoded.kind !== 'indexEvent') throw new TypeError(`${decoded.kind} is no mark`)
  const { database, document, ts } = decoded
  return { key, ref: new Ref(database, document.collection, document.id), time: ts }
}

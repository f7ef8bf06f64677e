// Builds all keys that Terrarium stores, and defines their layout. No other module writes key bytes. The layout is part
// of the data format (docs/internals/key-layout.md, with test vectors): a change requires a new format version.
//
// Numbers are big-endian, so their byte order equals their numeric order. A time is 8 bytes of microseconds with the
// sign bit inverted. A descending time is the complement of these bytes, so that the newest time sorts first. The files
// terms.ts and tuple.ts describe the terms and values of index entries.

import { micros, nearestMicros } from '../../base/micros.ts'
import { ByteWriter } from '../../values/byte-writer.ts'
import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import { type KeyInterval, prefixRange, successor } from './prefix.ts'
import type { EncodedTuple } from './tuple.ts'

export type { KeyInterval } from './prefix.ts'

/** The first byte of a key determines the kind of the key. */
export const keyTags = {
  build: 0x42, // B
  changes: 0x43, // C
  document: 0x44, // D
  indexEnded: 0x45, // E
  due: 0x46, // F
  garbage: 0x47, // G
  history: 0x48, // H
  indexLive: 0x49, // I
  indexEvent: 0x4a, // J
  keyHome: 0x4b, // K
  meta: 0x4d, // M
  counter: 0x4e, // N
  collectionChanges: 0x52, // R
  schemaVersion: 0x53, // S
  control: 0x58, // X
} as const

/** The built-in indexes of every database. The numbers are stored in keys, and must never change. */
export const builtinIndexes = {
  /** Terms: the number of a native (built-in) collection, and a name. The index contains only live schema objects. */
  names: 1,
  /** Terms: the reference of the instance (the document that logs in). */
  tokensByInstance: 2,
  credentialsByInstance: 3,
  /** Terms: the issuer. */
  providersByIssuer: 4,
} as const

/** Returns the number of the index that contains the events of `documents(collection)`. */
export function documentsIndex(collection: CollectionId): number {
  return 0x10000 + collection
}

/**
 * The jobs of the background sweeper (storage/store/sweeper.ts). The numbers are stored in keys, and must never change.
 */
export const garbageKinds = {
  /**
   * Recompute the time at which the next version in a collection expires. If the job is for a database, recompute this
   * time for each native collection of the database.
   */
  history: 1,
  /** Remove all data that belonged to a deleted schema object. */
  object: 3,
  /** Remove the changes of a collection that are older than its retained history. */
  changes: 4,
} as const

/** A kind of background job. */
export type GarbageKind = keyof typeof garbageKinds

/** A document within a database. */
export type DocumentId = Pick<Ref, 'id' | 'collection'>

/**
 * The tables of an index. `live` contains present entries, and `ended` contains removed entries. The index of
 * `documents(collection)` has only the table `events`, which contains add and remove events.
 */
export type IndexTable = 'live' | 'ended' | 'events'

/** An index entry, with its terms and values encoded once for all of its keys. */
export interface EntryKeyParts {
  readonly database: DatabaseId
  readonly index: number
  /** From `encodeTerms`. */
  readonly terms: Uint8Array
  readonly values: EncodedTuple
  readonly document: DocumentId
}

const tableTags = { live: keyTags.indexLive, ended: keyTags.indexEnded, events: keyTags.indexEvent } as const

const writer = new ByteWriter()

/** The key of a live document. The value of the key is the newest version of the document. */
export function documentKey(ref: Ref): Uint8Array {
  return keyOfDocument(keyTags.document, ref).copy()
}

/** All live documents of a collection, by id. */
export function documentRange(database: DatabaseId, collection: CollectionId): KeyInterval {
  return prefixRange(keyInCollection(keyTags.document, database, collection).copy())
}

/** The key of a superseded version, or of the delete that is a document's newest version. */
export function historyKey(ref: Ref, ts: Micros): Uint8Array {
  return keyOfDocument(keyTags.history, ref).descending(ts).copy()
}

/** The key of a due mark: data of the document expires when the retained history begins at `ts` or later. */
export function dueKey(ref: Ref, ts: Micros): Uint8Array {
  return keyInCollection(keyTags.due, ref.database, ref.collection).ascending(ts).u64(ref.id).copy()
}

/** The due marks of a collection, oldest first. If `notAfter` is given, later marks are excluded. */
export function dueRange(database: DatabaseId, collection: CollectionId, notAfter?: Micros): KeyInterval {
  const all = prefixRange(keyInCollection(keyTags.due, database, collection).copy())
  if (notAfter === undefined) return all
  return {
    start: all.start,
    end: keyInCollection(keyTags.due, database, collection)
      .ascending(notAfter + 1)
      .copy(),
  }
}

/** All versions in a document's history, newest first. If `notAfter` is given, later versions are excluded. */
export function historyRange(ref: Ref, notAfter?: Micros): KeyInterval {
  const { start, end } = prefixRange(keyOfDocument(keyTags.history, ref).copy())
  return { start: notAfter === undefined ? start : historyKey(ref, notAfter), end }
}

/** The histories of all documents of a collection, by id. */
export function collectionHistoryRange(database: DatabaseId, collection: CollectionId): KeyInterval {
  return prefixRange(keyInCollection(keyTags.history, database, collection).copy())
}

/** The key of an entry that exists now. */
export function indexLiveKey(entry: EntryKeyParts): Uint8Array {
  return keyOfEntry('live', entry).copy()
}

/** The key of an entry that existed until `removedTs`. */
export function indexEndedKey(entry: EntryKeyParts, removedTs: Micros): Uint8Array {
  return keyOfEntry('ended', entry).descending(removedTs).copy()
}

/**
 * The ended rows of an entry that was removed after the time `after`, the last removal first. The range may contain rows
 * of other entries, whose keys have other lengths.
 */
export function indexEndedRange(entry: EntryKeyParts, after: Micros): KeyInterval {
  return { start: keyOfEntry('ended', entry).copy(), end: indexEndedKey(entry, after) }
}

/** The key of an add or remove event of an entry. Among events with the same time, remove events come first. */
export function indexEventKey(entry: EntryKeyParts, ts: Micros, action: 'add' | 'remove'): Uint8Array {
  const { database, document, index, terms, values } = entry
  const event = keyWithTerms('events', database, index, terms).ascending(ts).u8(actionByte(action))
  return appendEntryDocument(event, document).append(values.bytes).append(values.tie).copy()
}

/**
 * A position in the events of an index: before (`low`) or after (`high`) all events that match the given parts. The
 * parts are `ts`, `action`, `document` and `values`. A part may be given only if all preceding parts are given.
 */
export interface EventKeyBound {
  /** Keys contain times from 1684 to 2255. A `ts` outside this range is replaced by the nearest time in the range. */
  readonly ts: number
  readonly action?: 'add' | 'remove'
  readonly document?: DocumentId
  readonly values?: EncodedTuple
  readonly side: 'low' | 'high'
}

/** The keys of the index events between two bounds. Contains only events whose entries have the given terms. */
export function eventRange(
  database: DatabaseId,
  index: number,
  terms: Uint8Array,
  from: EventKeyBound | undefined,
  to: EventKeyBound | undefined,
): KeyInterval {
  const all = prefixRange(indexTermsPrefix('events', database, index, terms))
  return {
    start: from ? eventBoundKey(database, index, terms, from) : all.start,
    end: to ? eventBoundKey(database, index, terms, to) : all.end,
  }
}

function eventBoundKey(
  database: DatabaseId,
  index: number,
  terms: Uint8Array,
  { action, document, side, ts, values }: EventKeyBound,
): Uint8Array {
  const bound = keyWithTerms('events', database, index, terms).ascending(nearestMicros(ts))
  if (action) bound.u8(actionByte(action))
  if (action && document) appendEntryDocument(bound, document)
  if (action && document && values) bound.append(values.bytes).append(values.tie)
  return side === 'low' ? bound.copy() : successor(bound.copy())
}

/** The common prefix of the keys of all entries with the given terms. */
export function indexTermsPrefix(
  table: IndexTable,
  database: DatabaseId,
  index: number,
  terms: Uint8Array,
): Uint8Array {
  return keyWithTerms(table, database, index, terms).copy()
}

/** All entries in one table of an index. */
export function indexTableRange(table: IndexTable, database: DatabaseId, index: number): KeyInterval {
  return prefixRange(keyIn(tableTags[table], database).u32(index).copy())
}

/** The key of a number that grows with every write to a database's schema. */
export function schemaVersionKey(database: DatabaseId): Uint8Array {
  return keyIn(keyTags.schemaVersion, database).copy()
}

/** The key of the last number that was assigned to a schema object in `nativeCollection`. */
export function counterKey(database: DatabaseId, nativeCollection: CollectionId): Uint8Array {
  return keyInCollection(keyTags.counter, database, nativeCollection).copy()
}

/** The key of the row that lists the databases with the access key `keyId`. */
export function keyHomeKey(keyId: bigint): Uint8Array {
  return keyOf(keyTags.keyHome).u64(keyId).copy()
}

/** The key of a row that lists collections that the transaction at `ts` changed. */
export function changesKey(ts: Micros, sequence: number): Uint8Array {
  return keyOf(keyTags.changes).ascending(ts).u32(sequence).copy()
}

/**
 * The range of the keys from {@link changesKey} for transactions after the time `after`, oldest first. If `after` is
 * undefined, the range contains all transactions.
 */
export function changesRange(after?: Micros): KeyInterval {
  const { start, end } = tagRange('changes')
  return { start: after === undefined ? start : changesKey(micros(after + 1), 0), end }
}

/** The key of a row with some of the changes that the transaction at `ts` made in a collection. */
export function collectionChangesKey(
  database: DatabaseId,
  collection: CollectionId,
  ts: Micros,
  sequence: number,
): Uint8Array {
  return keyInCollection(keyTags.collectionChanges, database, collection).ascending(ts).u32(sequence).copy()
}

/**
 * The changes in a collection by transactions from the time `from` (inclusive) to the time `until` (exclusive), oldest
 * first. An undefined bound does not limit the range.
 */
export function collectionChangesRange(
  database: DatabaseId,
  collection: CollectionId,
  from?: Micros,
  until?: Micros,
): KeyInterval {
  const all = prefixRange(keyInCollection(keyTags.collectionChanges, database, collection).copy())
  return {
    start: from === undefined ? all.start : collectionChangesKey(database, collection, from, 0),
    end: until === undefined ? all.end : collectionChangesKey(database, collection, until, 0),
  }
}

/** The key of metadata of the whole data directory, such as its format version. */
export function metaKey(name: string): Uint8Array {
  return keyOf(keyTags.meta).utf8(name).copy()
}

/**
 * The key of data that belongs to no database, such as a request for an export of the query log. Machines that share a
 * store also share this data. `rest`: the rest of the key, chosen by the module that stores the data.
 */
export function controlKey(rest: Uint8Array): Uint8Array {
  return keyOf(keyTags.control).append(rest).copy()
}

/** The key of a job that the background sweeper does for a document or schema object at the time `due`. */
export function garbageKey(kind: GarbageKind, due: Micros, { database, collection, id }: Ref): Uint8Array {
  const work = keyOf(keyTags.garbage).u8(garbageKinds[kind]).ascending(due)
  return work.u64(database).u16(collection).u64(id).copy()
}

/** All jobs of one kind that are due at or before `due`, oldest first. */
export function garbageRange(kind: GarbageKind, due: Micros): KeyInterval {
  const end = keyOf(keyTags.garbage)
    .u8(garbageKinds[kind])
    .ascending(due + 1)
    .copy()
  return { start: end.slice(0, 2), end }
}

/** The key of the progress of building an index over existing documents. */
export function buildKey(database: DatabaseId, index: number): Uint8Array {
  return keyIn(keyTags.build, database).u32(index).copy()
}

/** A time as encoded in keys. */
export function timeBytes(ts: Micros, order: 'ascending' | 'descending'): Uint8Array {
  return writer.reset()[order](ts).copy()
}

/** All keys of one kind. */
export function tagRange(kind: keyof typeof keyTags): KeyInterval {
  return prefixRange(Uint8Array.of(keyTags[kind]))
}

const databaseKinds = [
  'document',
  'history',
  'due',
  'indexLive',
  'indexEnded',
  'indexEvent',
  'schemaVersion',
  'counter',
  'build',
  'collectionChanges',
] as const satisfies readonly (keyof typeof keyTags)[]

/**
 * The ranges of all stored keys of a database. The rows that locate its access keys (`keyHome`) and the jobs of the
 * sweeper are not included.
 */
export function databaseRanges(database: DatabaseId): KeyInterval[] {
  return databaseKinds.map(kind => prefixRange(keyIn(keyTags[kind], database).copy()))
}

/** Starts a key. */
function keyOf(tag: number): ByteWriter {
  return writer.reset().u8(tag)
}

function keyIn(tag: number, database: DatabaseId): ByteWriter {
  return keyOf(tag).u64(database)
}

function keyInCollection(tag: number, database: DatabaseId, collection: CollectionId): ByteWriter {
  return keyIn(tag, database).u16(collection)
}

function keyOfDocument(tag: number, { database, collection, id }: Ref): ByteWriter {
  return keyInCollection(tag, database, collection).u64(id)
}

function keyWithTerms(table: IndexTable, database: DatabaseId, index: number, terms: Uint8Array): ByteWriter {
  return keyIn(tableTags[table], database).u32(index).append(terms)
}

/** Returns the key of an entry. The keys sort by values, then by document. */
function keyOfEntry(table: IndexTable, entry: EntryKeyParts): ByteWriter {
  const { database, document, index, terms, values } = entry
  const place = keyWithTerms(table, database, index, terms).append(values.bytes)
  return appendEntryDocument(place, document).append(values.tie)
}

/** In the keys of index entries, the id precedes the collection, because entries are ordered by id first. */
function appendEntryDocument(key: ByteWriter, { id, collection }: DocumentId): ByteWriter {
  return key.u64(id).u16(collection)
}

function actionByte(action: 'add' | 'remove'): number {
  return action === 'add' ? 1 : 0
}

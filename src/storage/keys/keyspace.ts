// Builds all keys that Terrarium stores, and defines their layout. The layout is part of the data format
// (docs/internals/key-layout.md, with test vectors): a change requires a new format version.
//
// Numbers are big-endian, so their byte order equals their numeric order. A time is 8 bytes of microseconds with the
// sign bit inverted. A descending time is the complement of these bytes, so that the newest time sorts first. The files
// terms.ts and tuple.ts describe the terms and values of index entries.

import { micros, nearestMicros } from '../../base/micros.ts'
import { ByteWriter } from '../../values/byte-writer.ts'
import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import { type KeyInterval, prefixRange, successor } from './prefix.ts'
import type { EncodedTuple } from './tuple.ts'

/** The first byte of a key. */
export const keyTags = {
  build: 0x42, // B
  changes: 0x43, // C
  document: 0x44, // D
  indexEnded: 0x45, // E
  expiry: 0x46, // F
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

/** Every database has these indexes. The numbers are stored in keys, and must never change. */
export const builtinIndexes = {
  /** Terms: the number of a native (built-in) collection, and a name. Only live schema objects have entries. */
  names: 1,
  /** Terms: the reference of the instance (the document that logs in). */
  tokensByInstance: 2,
  credentialsByInstance: 3,
  /** Terms: the issuer. */
  providersByIssuer: 4,
} as const

/** The index with the events of `documents(collection)`. All other indexes have lower numbers. */
export function documentsIndex(collection: CollectionId): number {
  return 0x10000 + collection
}

/**
 * The jobs of the background sweeper (storage/store/sweeper.ts). The numbers are stored in keys, so they must never
 * change, and no new kind may have the number 2 of a former kind.
 */
export const garbageKinds = {
  /**
   * Removes the expired data of a collection; for a database (only version 0.2 wrote such jobs), of its native
   * collections. The first row has the progress of the plan (storage/store/expiry-plan.ts).
   */
  history: 1,
  /** Removes all data of a deleted schema object. */
  object: 3,
  /** Removes the changes of a collection that are older than its retained history. */
  changes: 4,
} as const

export type GarbageKind = keyof typeof garbageKinds

/** A document within a database. */
export type DocumentId = Pick<Ref, 'id' | 'collection'>

/**
 * `live` contains present, and `ended` removed entries. The index of `documents(collection)` has only the table
 * `events`, which contains add and remove events.
 */
export type IndexTable = 'live' | 'ended' | 'events'

/** Terms and values are encoded once for all keys of the entry. */
export interface EntryKeyParts {
  readonly database: DatabaseId
  readonly index: number
  /** Result of `encodeTerms`. */
  readonly terms: Uint8Array
  readonly values: EncodedTuple
  readonly document: DocumentId
}

const tableTags = { live: keyTags.indexLive, ended: keyTags.indexEnded, events: keyTags.indexEvent } as const

const writer = new ByteWriter()

/** The value of the key is the newest version of the document. */
export function documentKey(ref: Ref): Uint8Array {
  return keyOfDocument(keyTags.document, ref).copy()
}

/** The keys are ordered by id. */
export function documentRange(database: DatabaseId, collection: CollectionId): KeyInterval {
  return prefixRange(keyInCollection(keyTags.document, database, collection).copy())
}

/** The key of a superseded version, or of the delete that is a document's newest version. */
export function historyKey(ref: Ref, ts: Micros): Uint8Array {
  return keyOfDocument(keyTags.history, ref).descending(ts).copy()
}

/** Data of the document expires when the retained history begins at `ts` or later. */
export function expiryMarkKey(ref: Ref, ts: Micros): Uint8Array {
  return keyInCollection(keyTags.expiry, ref.database, ref.collection).ascending(ts).u64(ref.id).copy()
}

/** Returns the range of expiry marks up to `notAfter`, the oldest first. */
export function expiryMarkRange(
  database: DatabaseId,
  collection: CollectionId,
  notAfter?: Micros,
): KeyInterval {
  const all = prefixRange(keyInCollection(keyTags.expiry, database, collection).copy())
  if (notAfter === undefined) return all
  return {
    start: all.start,
    end: keyInCollection(keyTags.expiry, database, collection)
      .ascending(notAfter + 1)
      .copy(),
  }
}

/** Returns the range of a document's history up to `notAfter`, the newest version first. */
export function historyRange(ref: Ref, notAfter?: Micros): KeyInterval {
  const { start, end } = prefixRange(keyOfDocument(keyTags.history, ref).copy())
  return { start: notAfter === undefined ? start : historyKey(ref, notAfter), end }
}

/** The keys are ordered by document id. */
export function collectionHistoryRange(database: DatabaseId, collection: CollectionId): KeyInterval {
  return prefixRange(keyInCollection(keyTags.history, database, collection).copy())
}

export function indexLiveKey(entry: EntryKeyParts): Uint8Array {
  return keyOfEntry('live', entry).copy()
}

export function indexEndedKey(entry: EntryKeyParts, removedTs: Micros): Uint8Array {
  return keyOfEntry('ended', entry).descending(removedTs).copy()
}

/**
 * The ended rows of an entry that was removed after `after`, the last removal first. The range may contain rows of
 * other entries, whose keys have other lengths.
 */
export function indexEndedRange(entry: EntryKeyParts, after: Micros): KeyInterval {
  return { start: keyOfEntry('ended', entry).copy(), end: indexEndedKey(entry, after) }
}

/** Among events with the same time, remove events come first. */
export function indexEventKey(entry: EntryKeyParts, ts: Micros, action: 'add' | 'remove'): Uint8Array {
  const { database, document, index, terms, values } = entry
  const event = keyWithTerms('events', database, index, terms).ascending(ts).u8(actionByte(action))
  return appendEntryDocument(event, document).append(values.bytes).append(values.tie).copy()
}

/**
 * A bound before (`low`) or after (`high`) all events that match the given parts `ts`, `action`, `document` and
 * `values`. A part may be given only if all preceding parts are given.
 */
export interface EventKeyBound {
  /** Keys contain times from 1684 to 2255: other times are replaced by the nearest one. */
  readonly ts: number
  readonly action?: 'add' | 'remove'
  readonly document?: DocumentId
  readonly values?: EncodedTuple
  readonly side: 'low' | 'high'
}

/** Contains only events whose entries have the given terms. */
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

export function indexTableRange(table: IndexTable, database: DatabaseId, index: number): KeyInterval {
  return prefixRange(keyIn(tableTags[table], database).u32(index).copy())
}

/** The row contains the schema version of the database (`nextVersion` in storage/store/catalogue.ts). */
export function schemaVersionKey(database: DatabaseId): Uint8Array {
  return keyIn(keyTags.schemaVersion, database).copy()
}

/** The last number that was assigned to a schema object in `nativeCollection`. */
export function counterKey(database: DatabaseId, nativeCollection: CollectionId): Uint8Array {
  return keyInCollection(keyTags.counter, database, nativeCollection).copy()
}

/** The row lists the databases with the access key `keyId`. */
export function keyHomeKey(keyId: bigint): Uint8Array {
  return keyOf(keyTags.keyHome).u64(keyId).copy()
}

/** The row lists collections that the transaction at `ts` changed. */
export function changesKey(ts: Micros, sequence: number): Uint8Array {
  return keyOf(keyTags.changes).ascending(ts).u32(sequence).copy()
}

/** The keys of {@link changesKey} for transactions after `after`, or for all transactions, oldest first. */
export function changesRange(after?: Micros): KeyInterval {
  const { start, end } = tagRange('changes')
  return { start: after === undefined ? start : changesKey(micros(after + 1), 0), end }
}

/** The row contains some of the changes that the transaction at `ts` made in a collection. */
export function collectionChangesKey(
  database: DatabaseId,
  collection: CollectionId,
  ts: Micros,
  sequence: number,
): Uint8Array {
  return keyInCollection(keyTags.collectionChanges, database, collection).ascending(ts).u32(sequence).copy()
}

/** The changes by transactions from `from` (inclusive) to `until` (exclusive), oldest first. */
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

/** Metadata of the whole data directory, such as its format version. */
export function metaKey(name: string): Uint8Array {
  return keyOf(keyTags.meta).utf8(name).copy()
}

/**
 * Data that belongs to no database, such as a request for an export of the query log. Machines that share a store also
 * share this data. The module that stores the data chooses `rest`.
 */
export function controlKey(rest: Uint8Array): Uint8Array {
  return keyOf(keyTags.control).append(rest).copy()
}

/** A job of the background sweeper, from `due` on, for a schema object or for the revoked tokens of identities. */
export function garbageKey(kind: GarbageKind, due: Micros, { database, collection, id }: Ref): Uint8Array {
  const work = keyOf(keyTags.garbage).u8(garbageKinds[kind]).ascending(due)
  return work.u64(database).u16(collection).u64(id).copy()
}

/** Jobs that are due at or before `due`, oldest first. */
export function garbageRange(kind: GarbageKind, due: Micros): KeyInterval {
  const end = keyOf(keyTags.garbage)
    .u8(garbageKinds[kind])
    .ascending(due + 1)
    .copy()
  return { start: end.slice(0, 2), end }
}

/** The progress of building an index over existing documents. */
export function buildKey(database: DatabaseId, index: number): Uint8Array {
  return keyIn(keyTags.build, database).u32(index).copy()
}

export function timeBytes(ts: Micros, order: 'ascending' | 'descending'): Uint8Array {
  return writer.reset()[order](ts).copy()
}

export function tagRange(kind: keyof typeof keyTags): KeyInterval {
  return prefixRange(Uint8Array.of(keyTags[kind]))
}

const databaseKinds = [
  'document',
  'history',
  'expiry',
  'indexLive',
  'indexEnded',
  'indexEvent',
  'schemaVersion',
  'counter',
  'build',
  'collectionChanges',
] as const satisfies readonly (keyof typeof keyTags)[]

/** All keys of a database, except the rows that locate its access keys (`keyHome`) and the jobs of the sweeper. */
export function databaseRanges(database: DatabaseId): KeyInterval[] {
  return databaseKinds.map(kind => prefixRange(keyIn(keyTags[kind], database).copy()))
}

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

/** The keys sort by values, then by document. */
function keyOfEntry(table: IndexTable, entry: EntryKeyParts): ByteWriter {
  const { database, document, index, terms, values } = entry
  const key = keyWithTerms(table, database, index, terms).append(values.bytes)
  return appendEntryDocument(key, document).append(values.tie)
}

/** The id precedes the collection, because entries are ordered by id first. */
function appendEntryDocument(key: ByteWriter, { id, collection }: DocumentId): ByteWriter {
  return key.u64(id).u16(collection)
}

function actionByte(action: 'add' | 'remove'): number {
  return action === 'add' ? 1 : 0
}

// Every key Terrarium stores, in one closed list: what it looks like, how it is built and read. Nothing else
// writes key bytes. The layout is part of the data format (docs/internals/key-layout.md, with test vectors):
// changing it means a new format version.
//
// Numbers are big-endian, so bytes order as the numbers do. `ts` is 8 bytes of microseconds with the sign
// turned, `~ts` its complement (newest first). Terms and values of index entries are described in terms.ts
// and tuple.ts.

import { assert } from '../base/assert.ts'
import { micros } from '../base/micros.ts'
import { ByteWriter } from '../values/byte-writer.ts'
import type { CollectionId, DatabaseId, Micros, Ref } from '../values/value.ts'
import { type KeyInterval, prefixRange, successor } from './prefix.ts'
import type { EncodedTuple } from './tuple.ts'

export type { KeyInterval } from './prefix.ts'

/** The first byte of a key: what kind it is. */
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

/** Indexes every database has. Their numbers are stored in keys: never renumber. */
export const builtinIndexes = {
  /** Terms: native collection number, name. Live schema objects only. */
  names: 1,
  /** Terms: the instance reference. */
  tokensByInstance: 2,
  credentialsByInstance: 3,
  /** Terms: the issuer. */
  providersByIssuer: 4,
} as const

/** The index number under which the events of `documents(collection)` are kept. */
export function documentsIndex(collection: CollectionId): number {
  return 0x10000 + collection
}

/** What the background sweeper has to do when the time has come. Stored: never renumber. */
export const garbageKinds = {
  /** When something of a collection, or of a database's own collections, falls out of the history has to be asked anew. */
  history: 1,
  /** A schema object was deleted; what belonged to it remains to be removed. */
  object: 3,
  /** The record of a collection's changes reaches back further than its history may. */
  changes: 4,
} as const

/** What is removed in the background. */
export type GarbageKind = keyof typeof garbageKinds

/** A document within a database. */
export type DocumentId = Pick<Ref, 'id' | 'collection'>

/**
 * The tables of an index: entries now, entries that ended (with the interval they lived); of `documents(collection)` add and
 * remove events instead.
 */
export type IndexTable = 'live' | 'ended' | 'events'

/** An entry of an index, with its terms and values encoded once for all the keys made of it. */
export interface EntryKeyParts {
  readonly database: DatabaseId
  readonly index: number
  /** From `encodeTerms`. */
  readonly terms: Uint8Array
  /** From `encodeTuple`. */
  readonly values: EncodedTuple
  readonly document: DocumentId
}

const tableTags = { live: keyTags.indexLive, ended: keyTags.indexEnded, events: keyTags.indexEvent } as const

const writer = new ByteWriter()

/** Live document: the newest version, if it is not a delete. */
export function documentKey(ref: Ref): Uint8Array {
  begin(keyTags.document, ref.database)
  appendDocument(ref.collection, ref.id)
  return writer.copy()
}

/** All live documents of a collection, by id. */
export function documentRange(database: DatabaseId, collection: CollectionId): KeyInterval {
  return prefixRange(collectionPrefix(keyTags.document, database, collection))
}

/** A superseded version, or the delete that is a document's newest version. */
export function historyKey(ref: Ref, ts: Micros): Uint8Array {
  beginHistory(ref)
  appendTimeDescending(ts)
  return writer.copy()
}

/** Says that something of a document falls out of the history when that begins at `ts` or later. */
export function dueKey(ref: Ref, ts: Micros): Uint8Array {
  beginDue(ref.database, ref.collection, ts)
  writer.u64(ref.id)
  return writer.copy()
}

/** What falls out of a collection, oldest first; up to `notAfter` when given. */
export function dueRange(database: DatabaseId, collection: CollectionId, notAfter?: Micros): KeyInterval {
  const all = prefixRange(collectionPrefix(keyTags.due, database, collection))
  if (notAfter === undefined) return all
  beginDue(database, collection, micros(notAfter + 1))
  return { start: all.start, end: writer.copy() }
}

/** All versions in a document's history, newest first; from the newest at or before `notAfter` when given. */
export function historyRange(ref: Ref, notAfter?: Micros): KeyInterval {
  beginHistory(ref)
  const prefix = writer.copy()
  const { start, end } = prefixRange(prefix)
  return { start: notAfter === undefined ? start : historyKey(ref, notAfter), end }
}

/** The histories of all documents of a collection, by id. */
export function collectionHistoryRange(database: DatabaseId, collection: CollectionId): KeyInterval {
  return prefixRange(collectionPrefix(keyTags.history, database, collection))
}

/** An entry that exists now. */
export function indexLiveKey(entry: EntryKeyParts): Uint8Array {
  beginIndex('live', entry.database, entry.index, entry.terms)
  appendPosition(entry)
  return writer.copy()
}

/** An entry that existed until `removedTs`. */
export function indexEndedKey(entry: EntryKeyParts, removedTs: Micros): Uint8Array {
  beginIndex('ended', entry.database, entry.index, entry.terms)
  appendPosition(entry)
  appendTimeDescending(removedTs)
  return writer.copy()
}

/** An add or remove event of an entry. At one moment remove events come first. */
export function indexEventKey(entry: EntryKeyParts, ts: Micros, action: 'add' | 'remove'): Uint8Array {
  beginIndex('events', entry.database, entry.index, entry.terms)
  appendTime(ts)
  writer.u8(actionByte(action))
  appendEntryDocument(entry.document)
  appendTuple(entry.values)
  return writer.copy()
}

/** The place before or after all events that agree with these parts; each part needs those before it. */
export interface EventKeyBound {
  /** May lie beyond all times that keys can hold: before 1684, or after 2255. */
  readonly ts: number
  readonly action?: 'add' | 'remove'
  readonly document?: DocumentId
  readonly values?: EncodedTuple
  readonly side: 'low' | 'high'
}

/** The keys of all events of one index and terms between two bounds. */
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
  bound: EventKeyBound,
): Uint8Array {
  beginIndex('events', database, index, terms)
  appendTime(micros(Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, bound.ts))))
  if (bound.action) {
    writer.u8(actionByte(bound.action))
    if (bound.document) {
      appendEntryDocument(bound.document)
      if (bound.values) appendTuple(bound.values)
    }
  }
  const key = writer.copy()
  return bound.side === 'low' ? key : successor(key)
}

/** What the keys of all entries with these terms begin with. */
export function indexTermsPrefix(
  table: IndexTable,
  database: DatabaseId,
  index: number,
  terms: Uint8Array,
): Uint8Array {
  beginIndex(table, database, index, terms)
  return writer.copy()
}

/** One table of an index as a whole. */
export function indexTableRange(table: IndexTable, database: DatabaseId, index: number): KeyInterval {
  begin(tableTags[table], database)
  writer.u32(index)
  return prefixRange(writer.copy())
}

/** A number that grows with every write to a database's schema. */
export function schemaVersionKey(database: DatabaseId): Uint8Array {
  begin(keyTags.schemaVersion, database)
  return writer.copy()
}

/** The last number given to a schema object of this kind. */
export function counterKey(database: DatabaseId, nativeCollection: CollectionId): Uint8Array {
  begin(keyTags.counter, database)
  writer.u16(nativeCollection)
  return writer.copy()
}

/** Where the key with this id lives. */
export function keyHomeKey(keyId: bigint): Uint8Array {
  writer.reset().u8(keyTags.keyHome)
  writer.u64(keyId)
  return writer.copy()
}

/** The collections that the transaction at `ts` changed. */
export function changesKey(ts: Micros, sequence: number): Uint8Array {
  writer.reset().u8(keyTags.changes)
  appendTime(ts)
  writer.u32(sequence)
  return writer.copy()
}

/** The rows of all transactions after `after`, oldest first; all of them when absent. */
export function changesRange(after?: Micros): KeyInterval {
  const { start, end } = tagRange('changes')
  return { start: after === undefined ? start : changesKey(micros(after + 1), 0), end }
}

/** One part of what the transaction at `ts` changed in a collection. */
export function collectionChangesKey(
  database: DatabaseId,
  collection: CollectionId,
  ts: Micros,
  sequence: number,
): Uint8Array {
  begin(keyTags.collectionChanges, database)
  writer.u16(collection)
  appendTime(ts)
  writer.u32(sequence)
  return writer.copy()
}

/** What transactions from `from` on, up to and without `until`, changed in a collection, oldest first; no ends: all of it. */
export function collectionChangesRange(
  database: DatabaseId,
  collection: CollectionId,
  from?: Micros,
  until?: Micros,
): KeyInterval {
  const all = prefixRange(collectionPrefix(keyTags.collectionChanges, database, collection))
  return {
    start: from === undefined ? all.start : collectionChangesKey(database, collection, from, 0),
    end: until === undefined ? all.end : collectionChangesKey(database, collection, until, 0),
  }
}

/** A fact about the whole data directory, such as its format version. */
export function metaKey(name: string): Uint8Array {
  writer.reset().u8(keyTags.meta)
  writer.utf8(name)
  return writer.copy()
}

/**
 * Something that belongs to the service and no database, such as a request for an export of the query log: where several
 * machines share a store, it is in there. `rest` is the key by which its owner knows it.
 */
export function controlKey(rest: Uint8Array): Uint8Array {
  const key = new Uint8Array(1 + rest.length)
  key[0] = keyTags.control
  key.set(rest, 1)
  return key
}

/** Work for the background sweeper on a document or schema object, due at `due`. */
export function garbageKey(kind: GarbageKind, due: Micros, target: Ref): Uint8Array {
  beginGarbage(kind, due)
  writer.u64(target.database)
  appendDocument(target.collection, target.id)
  return writer.copy()
}

/** All work of one kind that is due at or before `due`, oldest first. */
export function garbageRange(kind: GarbageKind, due: Micros): KeyInterval {
  beginGarbage(kind, micros(due + 1))
  const end = writer.copy()
  return { start: end.slice(0, 2), end }
}

/** How far the build of an index over existing documents has come. */
export function buildKey(database: DatabaseId, index: number): Uint8Array {
  begin(keyTags.build, database)
  writer.u32(index)
  return writer.copy()
}

/** A time as it stands in keys. */
export function timeBytes(ts: Micros, order: 'ascending' | 'descending'): Uint8Array {
  writer.reset()
  if (order === 'ascending') appendTime(ts)
  else appendTimeDescending(ts)
  return writer.copy()
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

/** Everything a database holds, except what other databases' keys and the sweeper's work say about it. */
export function databaseRanges(database: DatabaseId): KeyInterval[] {
  return databaseKinds.map(kind => {
    begin(keyTags[kind], database)
    return prefixRange(writer.copy())
  })
}

function begin(tag: number, database: DatabaseId): void {
  writer.reset().u8(tag)
  writer.u64(database)
}

function beginHistory(ref: Ref): void {
  begin(keyTags.history, ref.database)
  appendDocument(ref.collection, ref.id)
}

function beginDue(database: DatabaseId, collection: CollectionId, ts: Micros): void {
  begin(keyTags.due, database)
  writer.u16(collection)
  appendTime(ts)
}

function beginIndex(table: IndexTable, database: DatabaseId, index: number, terms: Uint8Array): void {
  begin(tableTags[table], database)
  writer.u32(index)
  writer.append(terms)
}

function beginGarbage(kind: GarbageKind, due: Micros): void {
  writer.reset().u8(keyTags.garbage)
  writer.u8(garbageKinds[kind])
  appendTime(due)
}

function collectionPrefix(tag: number, database: DatabaseId, collection: CollectionId): Uint8Array {
  begin(tag, database)
  writer.u16(collection)
  return writer.copy()
}

function appendDocument(collection: CollectionId, id: bigint): void {
  writer.u16(collection)
  writer.u64(id)
}

/** An entry's place in its index: by values, then by document. */
function appendPosition(entry: EntryKeyParts): void {
  writer.append(entry.values.bytes)
  appendEntryDocument(entry.document)
  writer.append(entry.values.tie)
}

function appendTuple(values: EncodedTuple): void {
  writer.append(values.bytes)
  writer.append(values.tie)
}

/** In index entries the id comes first: that is their order. */
function appendEntryDocument(document: DocumentId): void {
  writer.u64(document.id)
  writer.u16(document.collection)
}

function actionByte(action: 'add' | 'remove'): number {
  return action === 'add' ? 1 : 0
}

const two32 = 0x1_0000_0000

function appendTime(ts: Micros): void {
  assert(Number.isSafeInteger(ts), 'a time in a key is a safe integer')
  const high = Math.floor(ts / two32)
  writer.u32((high ^ 0x8000_0000) >>> 0)
  writer.u32(ts - high * two32)
}

function appendTimeDescending(ts: Micros): void {
  const start = writer.length
  appendTime(ts)
  writer.complementFrom(start)
}

// The records of index entries, which contain only data that is not in their keys. Scans can evaluate them without
// decoding.
//
//   live, ended   flags, since (8), [ttl (8)], [values]
//   event         flags, [values]
//
// A last value that is the reference of the document itself is omitted. Values are stored although the key contains
// them, because the encoding of the key is only suitable for comparisons.

import { assert } from '../../base/assert.ts'
import { ByteWriter } from '../../values/byte-writer.ts'
import { compareDocuments } from '../../values/order.ts'
import {
  type CollectionId,
  type DatabaseId,
  isArray,
  type Micros,
  Ref,
  type Value,
} from '../../values/value.ts'
import { entryDocumentPlace } from '../keys/key-reader.ts'
import { timeOf } from '../keys/key-times.ts'
import { keyTags } from '../keys/keyspace.ts'
import { appendEncoded, decodeValue } from '../keys/value-codec.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import { appendTime, idAt, never, timeAt } from './records.ts'

/** The data of an entry in addition to its key. */
interface EntryRecord {
  readonly document: Ref
  /** The time of the entry's addition; undefined for events, whose time is in the key. */
  readonly since: Micros | undefined
  /** Not stored for events. */
  readonly ttl: Micros
  readonly values: readonly Value[]
  /** The values were too long for the key: entries with the same prefix are not ordered. */
  readonly cut: boolean
  /** For events: the entry was removed. */
  readonly removed?: boolean
}

const ttlFlag = 0x01
const valuesFlag = 0x04
const cutFlag = 0x08
const removedFlag = 0x10
/** Set in every record, to distinguish this format from earlier formats. */
const formFlag = 0x20
const ownRefFlag = 0x40

const sinceAt = 1
const extrasAt = sinceAt + 8

const noValues: readonly Value[] = []
const writer = new ByteWriter()

/** The value of an entry's row. */
export function encodeEntry({ cut, document, removed, since, ttl, values }: EntryRecord): Bytes {
  const endsWithOwn = isOwn(values.at(-1), document)
  const stored = endsWithOwn ? values.slice(0, -1) : values
  const hasTtl = ttl !== never && since !== undefined
  let flags = formFlag
  if (hasTtl) flags |= ttlFlag
  if (stored.length > 0) flags |= valuesFlag
  if (cut) flags |= cutFlag
  if (removed) flags |= removedFlag
  if (endsWithOwn) flags |= ownRefFlag
  writer.reset().u8(flags)
  if (since !== undefined) appendTime(writer, since)
  if (hasTtl) appendTime(writer, ttl)
  if (stored.length > 0) appendEncoded(writer, stored)
  return writer.copy()
}

function isOwn(value: Value | undefined, document: Ref): boolean {
  return (
    value instanceof Ref && value.database === document.database && compareDocuments(value, document) === 0
  )
}

function isEvent(key: Bytes): boolean {
  return key[0] === keyTags.indexEvent
}

/** The time of an entry's addition, or of an event. */
export function entrySince({ key, value }: Entry): Micros {
  return isEvent(key) ? timeOf(key) : timeAt(value, sinceAt)
}

/** The record of an entry with another time of addition. */
export function withSince(record: Bytes, since: Micros): Bytes {
  writer.reset().append(record)
  const { length } = writer
  writer.length = sinceAt
  appendTime(writer, since)
  writer.length = length
  return writer.copy()
}

/** A record that was just encoded for a key of that kind, with the time `from` replaced by `to`. */
export function withEntryTime(tag: number, record: Bytes, from: Micros, to: Micros): Bytes {
  return tag === keyTags.indexEvent || timeAt(record, sinceAt) !== from ? record : withSince(record, to)
}

/** The time when an ended entry was removed. */
export function entryUntil({ key }: Entry): Micros {
  return timeOf(key)
}

/** Returns whether a row of an index only concerns times before the oldest that can be read. */
export function hasExpired(row: Entry, minimum: Micros): boolean {
  if (row.key[0] === keyTags.indexEnded) return entryUntil(row) <= minimum
  return row.key[0] === keyTags.indexEvent && entrySince(row) <= minimum
}

/** The expiry of the document of a live or ended entry; {@link never} without expiry. */
export function entryTtl({ value }: Pick<Entry, 'value'>): Micros {
  return (value[0] as number) & ttlFlag ? timeAt(value, extrasAt) : never
}

/** The collection of an entry's document. */
export function entryCollection({ key }: Pick<Entry, 'key'>): CollectionId {
  const at = entryDocumentPlace(key) + 8
  return ((key[at] as number) << 8) | (key[at + 1] as number)
}

/** The document of an entry. */
export function entryDocument(database: DatabaseId, { key }: Pick<Entry, 'key'>): Ref {
  const at = entryDocumentPlace(key)
  return new Ref(database, ((key[at + 8] as number) << 8) | (key[at + 9] as number), idAt(key, at))
}

/** Returns whether the key contains only a part of the values of an entry. */
export function entryIsCut({ value }: Pick<Entry, 'value'>): boolean {
  return ((value[0] as number) & cutFlag) !== 0
}

/** Returns whether an event removes its entry. */
export function eventIsRemove({ value }: Pick<Entry, 'value'>): boolean {
  return ((value[0] as number) & removedFlag) !== 0
}

/** The values of an entry of a document. */
export function entryValues({ key, value }: Entry, document: Ref): readonly Value[] {
  const flags = value[0] as number
  const stored = flags & valuesFlag ? decodeValues(value, valuesAt(flags, isEvent(key))) : noValues
  return flags & ownRefFlag ? [...stored, document] : stored
}

function valuesAt(flags: number, ofEvent: boolean): number {
  if (ofEvent) return 1
  return extrasAt + (flags & ttlFlag ? 8 : 0)
}

function decodeValues(value: Bytes, at: number): readonly Value[] {
  const values = decodeValue(value, at)
  assert(isArray(values), 'the values of an entry are an array')
  return values
}

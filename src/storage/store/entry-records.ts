// Encodes and decodes the records of index entries. A record is the value of an entry's row, and contains the data that
// is not in the key of the row. Scans can read the flags and times of a record without decoding the values. An index
// has separate tables for live entries, ended (removed) entries and events. The records of these tables contain the
// following parts. Sizes in bytes are in parentheses, and optional parts are in brackets:
//
//   live, ended   flags, since (8), [ttl (8)], [values]
//   event         flags, [values]
//
// If the last value is the reference to the entry's document, this value is omitted. The key also contains the values,
// but their encoding in keys is only suitable for comparisons. Therefore the record contains the values, too.

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
import { entryDocumentOffset, idAt } from '../keys/key-reader.ts'
import { timeOf } from '../keys/key-times.ts'
import { keyTags } from '../keys/keyspace.ts'
import { appendEncoded, decodeValue } from '../keys/value-codec.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import { appendTime, never, timeAt } from './records.ts'

/** The data of an entry that is not in its key. */
interface EntryRecord {
  readonly document: Ref
  /** The time when the entry was added; undefined for events, because the key of an event contains its time. */
  readonly since: Micros | undefined
  /** The expiry of the document. Not stored for events. */
  readonly ttl: Micros
  readonly values: readonly Value[]
  /** The values are too long for the key, so it contains only a prefix of the encoded values. */
  readonly truncated: boolean
  /** True for an event that removed the entry. */
  readonly removed?: boolean
}

// 0x02 was a flag of an earlier format.
const ttlFlag = 0x01
const valuesFlag = 0x04
const truncatedFlag = 0x08
const removedFlag = 0x10
/** Set in every record, to distinguish this format from earlier formats. */
const formFlag = 0x20
const ownRefFlag = 0x40

const sinceAt = 1
const extrasAt = sinceAt + 8

const noValues: readonly Value[] = []
const writer = new ByteWriter()

export function encodeEntry({ document, removed, since, truncated, ttl, values }: EntryRecord): Bytes {
  const endsWithOwn = isOwn(values.at(-1), document)
  const stored = endsWithOwn ? values.slice(0, -1) : values
  const hasTtl = ttl !== never && since !== undefined
  let flags = formFlag
  if (hasTtl) flags |= ttlFlag
  if (stored.length > 0) flags |= valuesFlag
  if (truncated) flags |= truncatedFlag
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

/** Returns the time when an entry was added. For an event, returns the time of the event. */
export function entrySince({ key, value }: Entry): Micros {
  return isEvent(key) ? timeOf(key) : timeAt(value, sinceAt)
}

/** A copy of the record with another `since`, the time when the entry was added. */
export function withSince(record: Bytes, since: Micros): Bytes {
  writer.reset().append(record)
  const { length } = writer
  writer.length = sinceAt
  appendTime(writer, since)
  writer.length = length
  return writer.copy()
}

/**
 * Replaces the time `from` by `to`. Returns the record unchanged if it contains another time or, as the record of an
 * event, none. `tag`: the tag of its table.
 */
export function withEntryTime(tag: number, record: Bytes, from: Micros, to: Micros): Bytes {
  return tag === keyTags.indexEvent || timeAt(record, sinceAt) !== from ? record : withSince(record, to)
}

/** Returns the time when an ended entry was removed. */
export function entryUntil({ key }: Entry): Micros {
  return timeOf(key)
}

/** Returns whether no read needs the row any more. `minimum`: the oldest time that can be read. */
export function hasExpired(row: Entry, minimum: Micros): boolean {
  if (row.key[0] === keyTags.indexEnded) return entryUntil(row) <= minimum
  return row.key[0] === keyTags.indexEvent && entrySince(row) <= minimum
}

/** The expiry of the document of a live or ended entry; {@link never} if it does not expire. */
export function entryTtl({ value }: Pick<Entry, 'value'>): Micros {
  return (value[0] as number) & ttlFlag ? timeAt(value, extrasAt) : never
}

export function entryCollection({ key }: Pick<Entry, 'key'>): CollectionId {
  const at = entryDocumentOffset(key) + 8
  return ((key[at] as number) << 8) | (key[at + 1] as number)
}

export function entryDocument(database: DatabaseId, { key }: Pick<Entry, 'key'>): Ref {
  const at = entryDocumentOffset(key)
  return new Ref(database, ((key[at + 8] as number) << 8) | (key[at + 9] as number), idAt(key, at))
}

export function entryIsTruncated({ value }: Pick<Entry, 'value'>): boolean {
  return ((value[0] as number) & truncatedFlag) !== 0
}

/** True if the event removed an entry, false if it added one. */
export function eventIsRemove({ value }: Pick<Entry, 'value'>): boolean {
  return ((value[0] as number) & removedFlag) !== 0
}

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

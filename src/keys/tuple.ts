// The values of an index entry as part of a key, and the places in an index that cursors and ranges name.
//
// Entries order by their values, then by document. Values that are equal in the order but not the same (1 and
// 1.0) have equal bytes, so a tie-break behind the document keeps such entries apart: one bit for each number
// of the tuple, set for a double that equals a long, without trailing zero bytes, and then the number of these
// bytes, so that keys can be read from their end. For nearly all tuples it is the single byte 0.
//
// Keys are limited in length. The encoding of a tuple longer than `tupleBytesMax` is cut there and followed by
// 16 bytes of the SHA-256 of the whole encoding. Entries whose tuples are cut at equal bytes lie together but
// in no order: a reader sorts such a run again (`isCut`, `compareEntries`).

import { createHash } from 'node:crypto'
import { ByteWriter } from '../values/byte-writer.ts'
import { compareBytes, compareDocuments, compareValues } from '../values/order.ts'
import type { Ref, Value } from '../values/value.ts'
import { appendOrdered, NumberKinds, noTie } from './order-codec.ts'
import { successor } from './prefix.ts'

/** The longest encoding of a tuple of values that stands in a key as it is. */
export const tupleBytesMax = 1200

const hashBytes = 16

/** A tuple of values as it stands in keys. */
export interface EncodedTuple {
  /** At most `tupleBytesMax` bytes, or exactly 16 more when it was cut. */
  readonly bytes: Uint8Array
  /** Tells apart tuples whose values are equal in the order. */
  readonly tie: Uint8Array
}

/** A place in an index: a (possibly short) tuple of values, optionally with the document. */
export interface TupleBound {
  readonly values: readonly Value[]
  readonly document?: Pick<Ref, 'id' | 'collection'>
  /** Before or after all entries that agree with the bound as far as it goes. A document needs all values. */
  readonly side: 'low' | 'high'
  /** The last value is an array, with which all arrays agree that begin with its elements; no document then. */
  readonly isOpen?: boolean
}

/** What decides the place of an entry in its index. */
export interface EntryPosition {
  readonly values: readonly Value[]
  readonly document: Pick<Ref, 'id' | 'collection'>
}

const writer = new ByteWriter()
const noValues: EncodedTuple = { bytes: new Uint8Array(0), tie: noTie }

/** Encodes a tuple; `descending[i]` turns the order of its i-th value around (missing: false). */
export function encodeTuple(values: readonly Value[], descending: readonly boolean[]): EncodedTuple {
  if (values.length === 0) return noValues
  const kinds = new NumberKinds()
  appendTuple(values, descending, kinds)
  if (writer.length <= tupleBytesMax) return { bytes: writer.copy(), tie: kinds.bytes() }
  const whole = writer.bytes.subarray(0, writer.length)
  const hash = createHash('sha256').update(whole).update(kinds.bytes()).digest()
  const bytes = new Uint8Array(tupleBytesMax + hashBytes)
  bytes.set(whole.subarray(0, tupleBytesMax))
  bytes.set(hash.subarray(0, hashBytes), tupleBytesMax)
  return { bytes, tie: noTie }
}

/** Whether the tuple was too long for a key and was cut. */
export function isCut(tuple: Uint8Array): boolean {
  return tuple.length > tupleBytesMax
}

/** Compares entries of one index as their uncut keys would. */
export function compareEntries(
  left: EntryPosition,
  right: EntryPosition,
  descending: readonly boolean[],
): number {
  const order =
    compareTuples(left.values, right.values, descending) || compareDocuments(left.document, right.document)
  return order || compareBytes(tieOf(left.values), tieOf(right.values))
}

/** Compares tuples place by place as far as both go, each place in its own direction. */
export function compareTuples(
  left: readonly Value[],
  right: readonly Value[],
  descending: readonly boolean[],
): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const order = compareValues(left[index] as Value, right[index] as Value)
    if (order !== 0) return descending[index] ? -order : order
  }
  return 0
}

/** Where an entry lies seen from a bound: negative before it, positive behind it, never zero. */
export function compareToBound(
  entry: EntryPosition,
  bound: TupleBound,
  descending: readonly boolean[],
): number {
  const values = bound.isOpen ? cutAsOpen(entry.values, bound.values) : entry.values
  const order =
    compareTuples(values, bound.values, descending) ||
    (bound.document &&
      (compareDocuments(entry.document, bound.document) ||
        compareBytes(tieOf(entry.values), tieOf(bound.values))))
  return order || (bound.side === 'low' ? 1 : -1)
}

/** The values of an entry, with the array at the place of an open bound's last one as long as that at most. */
function cutAsOpen(values: readonly Value[], bound: readonly Value[]): readonly Value[] {
  const last = bound.length - 1
  const array = values[last]
  const { length } = bound[last] as readonly Value[]
  return Array.isArray(array) ? values.with(last, array.slice(0, length)) : values
}

/**
 * The keys of all entries of one index and terms between two bounds; `prefix` is what all their keys begin with.
 * A bound too long for a key cannot be met exactly: then `inexact` is set, the interval is wider than asked for
 * and `compareToBound` must be asked about each entry.
 */
export function entryRange(
  prefix: Uint8Array,
  descending: readonly boolean[],
  from: TupleBound | undefined,
  to: TupleBound | undefined,
): { readonly start: Uint8Array; readonly end: Uint8Array; readonly inexact: boolean } {
  const start = from && boundKey(prefix, from, descending)
  const end = to && boundKey(prefix, to, descending)
  return {
    start: !start ? prefix : from?.side === 'high' && !start.cut ? successor(start.key) : start.key,
    end: !end ? successor(prefix) : to?.side === 'high' || end.cut ? successor(end.key) : end.key,
    inexact: start?.cut === true || end?.cut === true,
  }
}

function boundKey(
  prefix: Uint8Array,
  bound: TupleBound,
  descending: readonly boolean[],
): { readonly key: Uint8Array; readonly cut: boolean } {
  const kinds = new NumberKinds()
  appendTuple(bound.values, descending, kinds)
  const cut = writer.length > tupleBytesMax
  if (cut) writer.length = tupleBytesMax
  else if (bound.document) {
    writer.u64(bound.document.id).u16(bound.document.collection).append(kinds.bytes())
  } else if (bound.isOpen) {
    // The end of the array is one byte.
    writer.length--
  }
  const key = new Uint8Array(prefix.length + writer.length)
  key.set(prefix)
  key.set(writer.bytes.subarray(0, writer.length), prefix.length)
  return { key, cut }
}

function appendTuple(values: readonly Value[], descending: readonly boolean[], kinds: NumberKinds): void {
  writer.reset()
  for (let index = 0; index < values.length; index++) {
    appendOrdered(writer, values[index] as Value, descending[index] === true, kinds)
  }
}

function tieOf(values: readonly Value[]): Uint8Array {
  const kinds = new NumberKinds()
  appendTuple(values, [], kinds)
  return kinds.bytes()
}

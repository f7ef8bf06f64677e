// The values of an index entry as part of a key, and the positions in an index for cursors and ranges.
//
// Entries are ordered by their values, then by document. Values that are equal in the order but different (1 and 1.0)
// have equal bytes. So a tie-break after the document distinguishes such entries: one bit per number of the tuple, set
// for a double that equals a long. The tie-break has no trailing zero bytes and ends with the number of its bytes, so
// that keys can be parsed from their end. For nearly all tuples the tie-break is the single byte 0.
//
// Keys have a maximum length. An encoding longer than `tupleBytesMax` is truncated there, followed by 16 bytes of the
// SHA-256 of the whole encoding. Entries with equal truncated bytes are adjacent but unordered, so a reader sorts each
// group of such entries (`isCut`, `compareEntries`).

import { createHash } from 'node:crypto'
import { ByteWriter } from '../../values/byte-writer.ts'
import { compareBytes, compareDocuments, compareValues } from '../../values/order.ts'
import type { Ref, Value } from '../../values/value.ts'
import { appendOrdered, NumberKinds, noTie } from './order-codec.ts'
import { successor } from './prefix.ts'

/** The longest encoding of a tuple that a key contains in full. */
export const tupleBytesMax = 1200

const hashBytes = 16

/** A tuple of values as encoded in keys. */
export interface EncodedTuple {
  /** At most `tupleBytesMax` bytes, or exactly 16 more when truncated. */
  readonly bytes: Uint8Array
  /** Distinguishes tuples whose values are equal in the order. */
  readonly tie: Uint8Array
}

/** A position in an index: the values, or the first few of them, and optionally the document. */
export interface TupleBound {
  readonly values: readonly Value[]
  readonly document?: Pick<Ref, 'id' | 'collection'>
  /** Before or after all entries that match the given parts. A document requires all values. */
  readonly side: 'low' | 'high'
  /** The last value is an array that matches all arrays beginning with its elements. Not combined with a document. */
  readonly isOpen?: boolean
}

/** The parts of an entry that determine its position in the index. */
export interface EntryPosition {
  readonly values: readonly Value[]
  readonly document: Pick<Ref, 'id' | 'collection'>
}

const writer = new ByteWriter()
const noValues: EncodedTuple = { bytes: new Uint8Array(0), tie: noTie }

/** Encodes a tuple. `descending[i]` reverses the order of its i-th value; false when missing. */
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

/** Returns whether the encoding was too long for a key and was truncated. */
export function isCut(tuple: Uint8Array): boolean {
  return tuple.length > tupleBytesMax
}

/** Compares entries of one index as their untruncated keys would. */
export function compareEntries(
  left: EntryPosition,
  right: EntryPosition,
  descending: readonly boolean[],
): number {
  const order =
    compareTuples(left.values, right.values, descending) || compareDocuments(left.document, right.document)
  return order || compareBytes(tieOf(left.values), tieOf(right.values))
}

/** Compares tuples value by value up to the shorter length, each value in its own direction. */
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

/** The position of an entry relative to a bound: negative before it, positive after it, never zero. */
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

/**
 * The values of an entry, with the array that corresponds to the open bound's last value truncated to that value's
 * length.
 */
function cutAsOpen(values: readonly Value[], bound: readonly Value[]): readonly Value[] {
  const last = bound.length - 1
  const array = values[last]
  const { length } = bound[last] as readonly Value[]
  return Array.isArray(array) ? values.with(last, array.slice(0, length)) : values
}

/**
 * The keys of all entries of one index and terms between two bounds. `prefix` is the common prefix of their keys. A
 * bound that is too long for a key cannot be exact. Then `inexact` is set, the interval is wider than requested, and
 * each entry must be filtered with `compareToBound`.
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
    // The terminator of the array is one byte.
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

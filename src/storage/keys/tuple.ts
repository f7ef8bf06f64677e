// Encodes the values of an index entry as part of a key, and computes the range of keys between two bounds in an
// index, for cursors and range reads.
//
// Entries are ordered by their values, then by document. Different values that are equal in the order (1 and 1.0) have
// equal bytes, so a tie-break after the document distinguishes such entries. It has one bit for each number of the
// tuple, set if the number is a double that compares equal to a long (a 64-bit integer). Trailing zero bytes are
// omitted. The last byte of the tie-break is the number of its other bytes, so that keys can be parsed from their end.
// For nearly all tuples, the tie-break is the single byte 0.
//
// Keys have a maximum length. An encoding with more than `tupleBytesMax` bytes is truncated to this length, and 16
// bytes of the SHA-256 of the complete encoding are appended. Entries with equal truncated bytes are adjacent but
// unordered, so code that reads an index sorts each group of such entries (storage/store/index-scan.ts).

import { createHash } from 'node:crypto'
import { ByteWriter } from '../../values/byte-writer.ts'
import { compareBytes, compareDocuments, compareValues } from '../../values/order.ts'
import type { Ref, Value } from '../../values/value.ts'
import { appendOrdered, NumberKinds, noTie } from './order-codec.ts'
import { successor } from './prefix.ts'

/** Longer encodings of tuples are truncated. */
export const tupleBytesMax = 1200

const hashBytes = 16

export interface EncodedTuple {
  /** The encoding has at most `tupleBytesMax` bytes, or `tupleBytesMax` + 16 bytes if it is truncated. */
  readonly bytes: Uint8Array
  /** Distinguishes different tuples with equal `bytes`. */
  readonly tie: Uint8Array
}

/** `values` are all values of an entry, or only its first values. */
export interface TupleBound {
  readonly values: readonly Value[]
  /** Requires that `values` are all values of an entry. */
  readonly document?: Pick<Ref, 'id' | 'collection'>
  /** `low`: before all entries that match the given parts; `high`: after them. */
  readonly side: 'low' | 'high'
  /**
   * The last value is an array and matches every array that begins with the same elements. Requires that `values` are
   * all values of an entry. Not combined with `document`.
   */
  readonly isOpen?: boolean
}

/** The parts of an entry that determine its order in the index. */
export interface EntryOrderParts {
  readonly values: readonly Value[]
  readonly document: Pick<Ref, 'id' | 'collection'>
}

const writer = new ByteWriter()
const noValues: EncodedTuple = { bytes: new Uint8Array(0), tie: noTie }

/** `descending[i]` reverses the order of the i-th value; false if missing. */
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

export function isTruncated(tuple: Uint8Array): boolean {
  return tuple.length > tupleBytesMax
}

/** The order that the keys would have without truncation. */
export function compareEntries(
  left: EntryOrderParts,
  right: EntryOrderParts,
  descending: readonly boolean[],
): number {
  const order =
    compareTuples(left.values, right.values, descending) || compareDocuments(left.document, right.document)
  return order || compareBytes(tieOf(left.values), tieOf(right.values))
}

/** Value by value, up to the shorter length. `descending[i]` reverses the order of the i-th values. */
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

/** Negative if the entry is before the bound, positive if it is after; never zero. */
export function compareToBound(
  entry: EntryOrderParts,
  bound: TupleBound,
  descending: readonly boolean[],
): number {
  const values = bound.isOpen ? truncateArray(entry.values, bound.values) : entry.values
  const order =
    compareTuples(values, bound.values, descending) ||
    (bound.document &&
      (compareDocuments(entry.document, bound.document) ||
        compareBytes(tieOf(entry.values), tieOf(bound.values))))
  return order || (bound.side === 'low' ? 1 : -1)
}

/**
 * For a comparison with an open bound, truncates the entry's array at the bound's last value to the length of the
 * bound's array.
 */
function truncateArray(values: readonly Value[], bound: readonly Value[]): readonly Value[] {
  const last = bound.length - 1
  const array = values[last]
  const { length } = bound[last] as readonly Value[]
  return Array.isArray(array) ? values.with(last, array.slice(0, length)) : values
}

/**
 * The keys between two bounds in an index, all of entries with the same terms. `prefix`: the common prefix of these
 * keys. If a bound is too long for a key, `inexact` is true: the interval is wider than requested, and the caller must
 * filter the entries with `compareToBound`.
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
    start: !start ? prefix : from?.side === 'high' && !start.truncated ? successor(start.key) : start.key,
    end: !end ? successor(prefix) : to?.side === 'high' || end.truncated ? successor(end.key) : end.key,
    inexact: start?.truncated === true || end?.truncated === true,
  }
}

function boundKey(
  prefix: Uint8Array,
  bound: TupleBound,
  descending: readonly boolean[],
): { readonly key: Uint8Array; readonly truncated: boolean } {
  const kinds = new NumberKinds()
  appendTuple(bound.values, descending, kinds)
  const truncated = writer.length > tupleBytesMax
  if (truncated) writer.length = tupleBytesMax
  else if (bound.document) {
    writer.u64(bound.document.id).u16(bound.document.collection).append(kinds.bytes())
  } else if (bound.isOpen) {
    // Removes the terminator of the array, which is one byte.
    writer.length--
  }
  const key = new Uint8Array(prefix.length + writer.length)
  key.set(prefix)
  key.set(writer.bytes.subarray(0, writer.length), prefix.length)
  return { key, truncated }
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

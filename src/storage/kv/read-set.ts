// Records and validates read sets. A read set contains the keys that a transaction has read, with their values, and the
// ranges, up to the point where reading stopped. With the ranges, validation detects rows that were added later. A read
// set is valid on another state if all its reads would return the same results from that state.

import { createHash, type Hash, hash } from 'node:crypto'
import { byteText, textBytes } from '../../base/byte-text.ts'
import { cachedIfEqual } from './engine-parts.ts'
import type { Bytes, Entry, KeyRange, View } from './kv-contract.ts'

/** A string is the fingerprint (hash) of a long value. Undefined: there was no row. */
export type RecordedValue = Bytes | string | undefined

/** The part of a range that was read. */
export interface ReadRange {
  /** `byteText` of the first key of the part. */
  readonly start: string
  /** `byteText` of the first key after the part. */
  readonly end: string
  readonly reverse: boolean
  readonly rowCount: number
  /** A fingerprint of all rows; undefined when there were no rows. */
  readonly fingerprint: string | undefined
}

/** All reads of one state. */
export interface ReadSet {
  /** Reads of single keys, by the `byteText` of the key. */
  readonly keys: ReadonlyMap<string, RecordedValue>
  readonly ranges: readonly ReadRange[]
  /** The result of {@link sizeOf}, if known without counting. */
  readonly size?: number
}

/** A longer value is represented by its fingerprint. */
const plainBytesMax = 4096

/** Records the reads of another view. The read set contains the returned arrays, so the caller must not change them. */
export class RecordingView implements View {
  readonly #base: View
  readonly #isRecorded: (key: Bytes) => boolean
  readonly #keys = new Map<string, RecordedValue>()
  readonly #ranges: RecordedRange[] = []
  readonly #absent: ReadRange[] = []

  /** `isRecorded`: whether the read of a single key is added to the read set. Reads of ranges are always added. */
  constructor(base: View, isRecorded: (key: Bytes) => boolean = () => true) {
    this.#base = base
    this.#isRecorded = isRecorded
  }

  get(key: Bytes, cached?: Bytes): Bytes | undefined {
    if (!this.#isRecorded(key)) return this.#base.get(key, cached)
    const text = byteText(key)
    const recorded = this.#keys.get(text)
    const isNew = recorded === undefined && !this.#keys.has(text)
    // The state does not change, so a recorded value need not be read again, unless only a fingerprint is recorded.
    if (!isNew && typeof recorded !== 'string') return cachedIfEqual(recorded, cached)
    const value = this.#base.get(key, cached)
    if (isNew) this.#keys.set(text, recordedValueOf(value))
    return value
  }

  range(range: KeyRange): Iterable<Entry> {
    return { [Symbol.iterator]: () => this.#iterate(range) }
  }

  recordAbsence(key: Bytes, { end, start }: Pick<KeyRange, 'start' | 'end'>): void {
    const text = byteText(key)
    if (!this.#keys.has(text)) this.#keys.set(text, undefined)
    const range = { start: byteText(start), end: byteText(end) }
    this.#absent.push({ ...range, reverse: false, rowCount: 0, fingerprint: undefined })
  }

  /** Returns the reads so far. */
  reads(): ReadSet {
    return { keys: this.#keys, ranges: [...this.#absent, ...this.#ranges.map(range => range.read())] }
  }

  *#iterate(range: KeyRange): Generator<Entry> {
    const recorded = new RecordedRange(range)
    this.#ranges.push(recorded)
    for (const entry of this.#base.range(range)) {
      recorded.add(entry)
      yield entry
    }
    recorded.finish()
  }
}

function recordedValueOf(value: Bytes | undefined): RecordedValue {
  if (value === undefined || value.length <= plainBytesMax) return value
  return hash('sha1', value, 'latin1')
}

/** A range while it is being read. */
class RecordedRange {
  readonly #range: KeyRange
  readonly #fingerprint = new Fingerprint()
  #last: Bytes | undefined
  #isAtEnd = false

  constructor(range: KeyRange) {
    this.#range = range
  }

  add(entry: Entry): void {
    this.#fingerprint.add(entry)
    this.#last = entry.key
  }

  /** The iteration has reached the end of the range or its limit. */
  finish(): void {
    this.#isAtEnd = this.#fingerprint.rowCount !== this.#range.limit
  }

  /** Returns the range up to the last row that was read, or the complete range if reading reached the end. */
  read(): ReadRange {
    const reverse = this.#range.reverse === true
    const { rowCount } = this.#fingerprint
    let start = byteText(this.#range.start)
    let end = byteText(this.#range.end)
    if (!this.#isAtEnd) {
      const last = this.#last === undefined ? undefined : byteText(this.#last)
      if (last === undefined) end = start
      else if (reverse) start = last
      else end = `${last}\0`
    }
    return { start, end, reverse, rowCount, fingerprint: this.#fingerprint.text }
  }
}

class Fingerprint {
  rowCount = 0
  #hash: Hash | undefined

  add({ key, value }: Entry): void {
    this.#hash ??= createHash('sha1')
    lengths[0] = key.length
    lengths[1] = value.length
    this.#hash.update(lengths).update(key).update(value)
    this.rowCount++
  }

  get text(): string | undefined {
    return this.#hash?.copy().digest('latin1')
  }
}

/**
 * The lengths of a key and its value are hashed first. Otherwise, different rows could have the same concatenated
 * bytes.
 */
const lengths = new Uint32Array(2)

/** The number of keys and rows that must be read to validate a read set. */
export function sizeOf(reads: ReadSet): number {
  if (reads.size !== undefined) return reads.size
  let size = reads.keys.size
  for (const { rowCount } of reads.ranges) size += 1 + rowCount
  return size
}

/** Returns whether all reads would return the same results from `view`. */
export function isReadSetValid(reads: ReadSet, view: View): boolean {
  for (const [text, found] of reads.keys) if (!isSame(found, view.get(textBytes(text)))) return false
  return reads.ranges.every(range => isRangeValid(range, view))
}

function isSame(found: RecordedValue, value: Bytes | undefined): boolean {
  if (found === undefined || value === undefined) return found === value
  if (typeof found === 'string') return recordedValueOf(value) === found
  return Buffer.compare(found, value) === 0
}

function isRangeValid(range: ReadRange, view: View): boolean {
  const fingerprint = new Fingerprint()
  const { reverse, rowCount } = range
  const [start, end] = [textBytes(range.start), textBytes(range.end)]
  for (const entry of view.range({ start, end, reverse, limit: rowCount + 1 })) fingerprint.add(entry)
  return fingerprint.rowCount === rowCount && fingerprint.text === range.fingerprint
}

/** The first byte of a key determines its kind. Several kinds may share a bit. */
export function kindBit(firstByte: number): number {
  return 1 << (firstByte & 31)
}

/** The kinds of keys that a range can contain, as bits ({@link kindBit}). */
export function kindsOf({ end, start }: ReadRange): number {
  if (start >= end) return 0
  const first = start === '' ? 0 : start.charCodeAt(0)
  const last = Math.min(end.charCodeAt(0), first + 31)
  let kinds = 0
  for (let byte = first; byte <= last; byte++) kinds |= kindBit(byte)
  return kinds
}

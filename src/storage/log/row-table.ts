// Indexes the rows of one segment of the commit log in memory, until the rows are in LMDB. One block of shared memory
// contains the encoded rows; its bytes are also the content of the segment's file. So no copy is needed to write the
// file, or to apply the rows in another thread. The garbage collector has nothing to trace. A hash table finds rows by
// key. Each row links to the older row of the same key, so readers can skip rows that are not durable yet.

import { copyOf } from '../../base/bytes.ts'
import { WriteReader } from '../kv/batch.ts'
import type { Bytes, KeyRange, Write } from '../kv/kv-contract.ts'
import { hashKey } from './key-hash.ts'

/** A power of two; doubled when needed. */
const initialRows = 1024
/** Slots of the hash table; a power of two. */
const slotsPerRow = 2
/** New rows are inserted into an ordered list one by one up to this number. Longer lists are merged. */
const insertsMax = 32

export class RowTable {
  /** The bytes of the segment. */
  readonly bytes: Bytes
  readonly #reader: WriteReader
  #rows = 0
  #published = 0
  /**
   * By the number of a row, from 1: the start and the end of its key, the hash of the key, and the older row of the
   * same key (0: none).
   */
  #keyStarts: Uint32Array
  #keyEnds: Uint32Array
  #hashes: Int32Array
  #before: Uint32Array
  /** A hash table with open addressing: the newest row of a key; 0: the slot is free. */
  #slots: Uint32Array
  /** Rows have moved to other slots since the last `publish`, so the slots are not in the order of insertion. */
  #isRehashed = false
  /**
   * By the first byte of keys: the first row of each key that is not ordered yet. Keys are ordered only when needed,
   * because most kinds of keys are never read in order.
   */
  readonly #unordered: (number[] | undefined)[] = new Array(256).fill(undefined)
  /** The first row of each ordered key, in the order of keys, by the first byte of the keys. */
  readonly #ordered: (number[] | undefined)[] = new Array(256).fill(undefined)

  /** `rows`: the expected number of rows. */
  constructor(bytes: Bytes, rows = 0) {
    this.bytes = bytes
    let room = initialRows
    // Rows are numbered from 1, and a table grows when only one place is left.
    while (room < rows + 2) room *= 2
    this.#keyStarts = new Uint32Array(room)
    this.#keyEnds = new Uint32Array(room)
    this.#hashes = new Int32Array(room)
    this.#before = new Uint32Array(room)
    this.#slots = new Uint32Array(room * slotsPerRow)
    this.#reader = new WriteReader(bytes)
  }

  /** Includes replaced and unpublished rows. */
  get rows(): number {
    return this.#rows
  }

  /** The number of rows that are visible to readers. */
  get published(): number {
    return this.#published
  }

  /** Adds the write that is encoded at `start`; returns the end of its encoding. {@link publish} makes it visible. */
  add(start: number): number {
    const reader = this.#reader
    reader.read(start)
    const { end, keyEnd, keyStart } = reader
    this.#put(keyStart, keyEnd)
    return end
  }

  /** Adds a write whose key is encoded at `keyStart`. */
  addKey(keyStart: number, key: Bytes): void {
    this.#put(keyStart, keyStart + key.length)
  }

  #put(keyStart: number, keyEnd: number): void {
    const hash = hashKey(this.bytes, keyStart, keyEnd)
    const slot = this.#slotOf(hash, this.bytes, keyStart, keyEnd)
    const before = this.#slots[slot] as number
    const row = ++this.#rows
    this.#keyStarts[row] = keyStart
    this.#keyEnds[row] = keyEnd
    this.#hashes[row] = hash
    this.#before[row] = before
    this.#slots[slot] = row
    if (before === 0) {
      const tag = this.bytes[keyStart] as number
      const waiting = this.#unordered[tag]
      if (waiting === undefined) this.#unordered[tag] = [row]
      else waiting.push(row)
    }
    if (row + 1 === this.#hashes.length) this.#grow()
  }

  /** Makes all rows visible to readers. */
  publish(): void {
    this.#published = this.#rows
    this.#isRehashed = false
  }

  /** Orders the keys that are not ordered yet. Without this call, the next read of a range orders these keys. */
  order(): void {
    for (let tag = 0; tag < 256; tag++) this.#orderedOf(tag)
  }

  /** Removes the rows that have not been published. */
  revert(): void {
    const published = this.#published
    if (this.#rows === published) return
    if (this.#isRehashed) {
      this.#rows = published
      this.#slots.fill(0)
      for (let row = 1; row <= published; row++) this.#slots[this.#slotOfRow(row)] = row
    }
    // This loop removes rows in reverse order of insertion: the search for a row passes only slots that were filled
    // before the row was inserted, so these slots must still be filled.
    for (; this.#rows > published; this.#rows--)
      this.#slots[this.#slotOfRow(this.#rows)] = this.#before[this.#rows] as number
    for (const rowsOfTags of [this.#unordered, this.#ordered])
      for (const [tag, rows] of rowsOfTags.entries()) rowsOfTags[tag] = rows?.filter(row => row <= published)
  }

  /** The newest row with the key among the first `limit` rows, or 0. `hash`: the result of {@link hashKey}. */
  find(key: Bytes, hash: number, limit: number): number {
    return this.#visible(this.#slotOf(hash, key, 0, key.length), limit)
  }

  /**
   * Returns `cached` itself if it has the same bytes. Undefined: the row deletes its key. The caller may change the
   * returned array.
   */
  value(row: number, cached?: Bytes): Bytes | undefined {
    const reader = this.#reader
    reader.readValue(this.#keyEnds[row] as number)
    if (reader.isDelete) return undefined
    const { end, valueStart } = reader
    if (cached !== undefined && cached.length === end - valueStart && this.#isAt(valueStart, cached))
      return cached
    return copyOf(this.bytes, valueStart, end)
  }

  /** Returns the writes among the first `limit` rows; undefined when the table has no keys in the range. */
  within(range: KeyRange, limit: number): Iterable<Write> | undefined {
    const first = range.start[0] ?? 0
    const { end } = range
    // `end` itself is not in the range. So if `end` is a single byte, no key with this first byte is in the range.
    const last = Math.min(255, end.length > 1 ? (end[0] as number) : (end[0] as number) - 1)
    const spans: { readonly rows: readonly number[]; readonly from: number; readonly to: number }[] = []
    for (let tag = first; tag <= last; tag++) {
      const rows = this.#orderedOf(tag)
      if (rows === undefined) continue
      const from = this.#lowerBound(rows, range.start, 0, range.start.length)
      const to = this.#lowerBound(rows, end, 0, end.length)
      if (from < to) spans.push({ rows, from, to })
    }
    if (spans.length === 0) return undefined
    if (range.reverse) spans.reverse()
    return this.#iterate(spans, range.reverse === true, limit)
  }

  /** The newest row of every key, in the order of keys; the arrays share the memory of the segment. */
  *all(): Generator<Write> {
    const reader = this.#reader
    for (let tag = 0; tag < 256; tag++) {
      for (const first of this.#orderedOf(tag) ?? []) {
        const row = this.#newest(first, this.#rows)
        reader.readValue(this.#keyEnds[row] as number)
        yield { key: this.#keyOf(row), value: reader.value }
      }
    }
  }

  *#iterate(
    spans: readonly { readonly rows: readonly number[]; readonly from: number; readonly to: number }[],
    reverse: boolean,
    limit: number,
  ): Generator<Write> {
    for (const { from, rows, to } of spans) {
      for (let at = from; at < to; at++) {
        const row = this.#newest(rows[reverse ? from + to - 1 - at : at] as number, limit)
        if (row !== 0) yield { key: this.#keyOf(row).slice(), value: this.value(row) }
      }
    }
  }

  /** The first row of each key with the first byte `tag`, in the order of keys; undefined if there are none. */
  #orderedOf(tag: number): readonly number[] | undefined {
    const waiting = this.#unordered[tag]
    const ordered = this.#ordered[tag]
    if (waiting === undefined) return ordered
    this.#unordered[tag] = undefined
    waiting.sort((left, right) => this.#compare(left, right))
    this.#ordered[tag] = ordered === undefined ? waiting : this.#merge(ordered, waiting)
    return this.#ordered[tag]
  }

  /** Merges two lists that are in the order of keys, and have no key in common. */
  #merge(rows: number[], more: readonly number[]): number[] {
    const [first] = more
    const last = rows.at(-1)
    if (first === undefined) return rows
    if (last === undefined || this.#compare(last, first) < 0) {
      for (const row of more) rows.push(row)
      return rows
    }
    if (more.length <= insertsMax) {
      for (const row of more) rows.splice(this.#indexIn(rows, row), 0, row)
      return rows
    }
    const merged: number[] = []
    let at = 0
    for (const row of more) {
      const end = this.#indexIn(rows, row)
      while (at < end) merged.push(rows[at++] as number)
      merged.push(row)
    }
    while (at < rows.length) merged.push(rows[at++] as number)
    return merged
  }

  #indexIn(rows: readonly number[], row: number): number {
    return this.#lowerBound(rows, this.bytes, this.#keyStarts[row] as number, this.#keyEnds[row] as number)
  }

  /**
   * The index of the first row in `rows`, which is in the order of keys, whose key is not less than `from[start..end)`.
   */
  #lowerBound(rows: readonly number[], from: Bytes, start: number, end: number): number {
    let low = 0
    let high = rows.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compareKey(rows[middle] as number, from, start, end) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(left: number, right: number): number {
    return this.#compareKey(
      left,
      this.bytes,
      this.#keyStarts[right] as number,
      this.#keyEnds[right] as number,
    )
  }

  /** Compares the key of a row with `from[start..end)`. */
  #compareKey(row: number, from: Bytes, start: number, end: number): number {
    const keyStart = this.#keyStarts[row] as number
    const keyBytes = (this.#keyEnds[row] as number) - keyStart
    const length = Math.min(keyBytes, end - start)
    for (let at = 0; at < length; at++) {
      const difference = (this.bytes[keyStart + at] as number) - (from[start + at] as number)
      if (difference !== 0) return difference
    }
    return keyBytes - (end - start)
  }

  /** Shares the memory of the segment. */
  #keyOf(row: number): Bytes {
    return this.bytes.subarray(this.#keyStarts[row] as number, this.#keyEnds[row] as number)
  }

  /** The newest row with the key of `row` among the first `limit` rows; 0 when there is none. */
  #newest(row: number, limit: number): number {
    return this.#visible(this.#slotOfRow(row), limit)
  }

  #visible(slot: number, limit: number): number {
    let row = this.#slots[slot] as number
    while (row > limit) row = this.#before[row] as number
    return row
  }

  #slotOfRow(row: number): number {
    const [start, end] = [this.#keyStarts[row] as number, this.#keyEnds[row] as number]
    return this.#slotOf(this.#hashes[row] as number, this.bytes, start, end)
  }

  /** The slot of the newest row with the key `from[start..end)`, or a free slot. */
  #slotOf(hash: number, from: Bytes, start: number, end: number): number {
    const mask = this.#slots.length - 1
    let slot = hash & mask
    for (;;) {
      const row = this.#slots[slot] as number
      if (row === 0) return slot
      if (this.#hashes[row] === hash && this.#compareKey(row, from, start, end) === 0) return slot
      slot = (slot + 1) & mask
    }
  }

  #isAt(start: number, bytes: Bytes): boolean {
    for (let at = 0; at < bytes.length; at++) if (this.bytes[start + at] !== bytes[at]) return false
    return true
  }

  #grow(): void {
    this.#keyStarts = grown(this.#keyStarts, Uint32Array)
    this.#keyEnds = grown(this.#keyEnds, Uint32Array)
    this.#hashes = grown(this.#hashes, Int32Array)
    this.#before = grown(this.#before, Uint32Array)
    const slots = new Uint32Array(this.#hashes.length * slotsPerRow)
    const mask = slots.length - 1
    for (const row of this.#slots) {
      if (row === 0) continue
      let slot = (this.#hashes[row] as number) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = row
    }
    this.#slots = slots
    this.#isRehashed = true
  }
}

function grown<T extends Uint32Array | Int32Array>(old: T, type: new (length: number) => T): T {
  const larger = new type(old.length * 2)
  larger.set(old)
  return larger
}

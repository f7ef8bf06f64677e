// Encodes a read set (the rows and ranges that a transaction has read) as bytes. One process evaluates the transaction,
// and sends the bytes to another process, which commits the transaction. A large read set must not block the committing
// process for long, so nothing is decoded in advance. A table contains the hash of each key, and ranges are sorted by
// their first keys. Only reads of rows that other commits may have changed are decoded.
//
// Layout; words of 32 bits have the byte order of the machine, because both processes run on the same machine:
//
//   4 words: number of keys, number of ranges, size (sizeOf), kinds (kindsOf)
//   for each key, a word: its hash; for each key, a word: the offset of its item
//   for each range, a word: the offset of its item; for each range, a word: the index of the
//   range with the greatest end, among this range and all earlier ranges
//   items, which are not aligned, so that their words are in little-endian order:
//     of keys: length of the key, kind of the value, length of the value, key, value
//     of ranges: lengths of start, end and fingerprint, number of rows, direction, start, end, fingerprint

import { hashText } from '../../base/byte-text.ts'
import type { Bytes } from './kv-contract.ts'
import { kindsOf, type ReadRange, type ReadSet, type RecordedValue, sizeOf } from './read-set.ts'

const wordBytes = 4
const headWords = 4
/** Words at the start of the item of a key, and of a range. */
const keyHeadWords = 3
const rangeHeadWords = 5

/** No value, a complete value, and a fingerprint (hash) of a long value. */
const [absent, plain, fingerprint] = [0, 1, 2]

export function packReads(reads: ReadSet): Buffer {
  const keys = [...reads.keys]
  const ranges = reads.ranges.toSorted((left, right) =>
    left.start < right.start ? -1 : left.start > right.start ? 1 : 0,
  )
  const tableWords = headWords + 2 * (keys.length + ranges.length)
  let bytes = tableWords * wordBytes
  for (const [key, found] of keys) bytes += keyHeadWords * wordBytes + key.length + (found?.length ?? 0)
  for (const { end, fingerprint: text, start } of ranges)
    bytes += rangeHeadWords * wordBytes + start.length + end.length + (text?.length ?? 0)
  const packed = Buffer.from(new ArrayBuffer(bytes))
  const table = new Uint32Array(packed.buffer, 0, tableWords)
  const items = new ItemWriter(packed, tableWords * wordBytes)
  table.set([
    keys.length,
    ranges.length,
    sizeOf(reads),
    ranges.reduce((bits, range) => bits | kindsOf(range), 0),
  ])
  let at = headWords
  for (const [index, [key, found]] of keys.entries()) {
    table[at + index] = hashText(key)
    table[at + keys.length + index] = items.end
    items.addKey(key, found)
  }
  at += 2 * keys.length
  let furthest = 0
  for (const [index, range] of ranges.entries()) {
    if (range.end > (ranges[furthest] as ReadRange).end) furthest = index
    table[at + index] = items.end
    table[at + ranges.length + index] = furthest
    items.addRange(range)
  }
  return packed
}

class ItemWriter {
  end: number
  readonly #bytes: Buffer

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes
    this.end = start
  }

  addKey(key: string, found: RecordedValue): void {
    const kind = found === undefined ? absent : typeof found === 'string' ? fingerprint : plain
    this.#addWords(key.length, kind, found?.length ?? 0)
    this.#addText(key)
    if (typeof found === 'string') this.#addText(found)
    else if (found !== undefined) {
      this.#bytes.set(found, this.end)
      this.end += found.length
    }
  }

  addRange({ end, rowCount, fingerprint: text, reverse, start }: ReadRange): void {
    this.#addWords(start.length, end.length, text?.length ?? 0, rowCount, reverse ? 1 : 0)
    this.#addText(start)
    this.#addText(end)
    if (text !== undefined) this.#addText(text)
  }

  #addWords(...words: readonly number[]): void {
    for (const word of words) this.end = this.#bytes.writeUInt32LE(word, this.end)
  }

  #addText(text: string): void {
    this.end += this.#bytes.write(text, this.end, 'latin1')
  }
}

/** A result of {@link packReads}. Each access to `keys` or `ranges` decodes all keys or all ranges again. */
export class PackedReads implements ReadSet {
  readonly size: number
  /** The kinds of keys that the ranges can contain ({@link kindsOf}). */
  readonly kinds: number
  readonly #bytes: Buffer
  readonly #hashes: Int32Array
  readonly #keyAt: Uint32Array
  readonly #rangeAt: Uint32Array
  readonly #furthest: Uint32Array

  /** The offset of `bytes` in the underlying buffer must be a multiple of four. */
  constructor(bytes: Bytes) {
    const { buffer, byteLength, byteOffset } = bytes
    const [keys = 0, ranges = 0, size = 0, kinds = 0] = new Int32Array(buffer, byteOffset, headWords)
    this.size = size
    this.kinds = kinds
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
    const words = (start: number, count: number) =>
      new Uint32Array(buffer, byteOffset + (headWords + start) * wordBytes, count)
    this.#hashes = new Int32Array(buffer, byteOffset + headWords * wordBytes, keys)
    this.#keyAt = words(keys, keys)
    this.#rangeAt = words(2 * keys, ranges)
    this.#furthest = words(2 * keys + ranges, ranges)
  }

  get keys(): ReadonlyMap<string, RecordedValue> {
    return this.keysAt(this.#keyAt.keys())
  }

  get ranges(): readonly ReadRange[] {
    return Array.from(this.#rangeAt.keys(), index => this.rangeAt(index))
  }

  /** The indexes of the keys whose hash `isSelected` accepts; undefined if there are more than `max`. */
  select(isSelected: (hash: number) => boolean, max: number): readonly number[] | undefined {
    const found: number[] = []
    const hashes = this.#hashes
    for (let index = 0; index < hashes.length; index++)
      if (isSelected(hashes[index] as number) && found.push(index) > max) return undefined
    return found
  }

  keysAt(indexes: Iterable<number>): Map<string, RecordedValue> {
    const keys = new Map<string, RecordedValue>()
    for (const index of indexes) {
      const start = this.#keyAt[index] as number
      const [keyBytes = 0, kind = absent, valueBytes = 0] = this.#words(start, keyHeadWords)
      const keyStart = start + keyHeadWords * wordBytes
      const valueStart = keyStart + keyBytes
      keys.set(this.#text(keyStart, keyBytes), this.#value(kind, valueStart, valueBytes))
    }
    return keys
  }

  #value(kind: number, start: number, length: number): RecordedValue {
    if (kind === absent) return undefined
    return kind === fingerprint ? this.#text(start, length) : this.#bytes.subarray(start, start + length)
  }

  rangeAt(index: number): ReadRange {
    const at = this.#rangeAt[index] as number
    const [startBytes = 0, endBytes = 0, hashBytes = 0, rowCount = 0, reverse] = this.#words(
      at,
      rangeHeadWords,
    )
    const startAt = at + rangeHeadWords * wordBytes
    const endAt = startAt + startBytes
    return {
      start: this.#text(startAt, startBytes),
      end: this.#text(endAt, endBytes),
      reverse: reverse === 1,
      rowCount,
      fingerprint: hashBytes === 0 ? undefined : this.#text(endAt + endBytes, hashBytes),
    }
  }

  /** Adds the indexes of the ranges that contain `key` to `found`. Returns the number of comparisons. */
  addRangesWith(key: Bytes, found: Set<number>): number {
    let low = 0
    let high = this.#rangeAt.length
    let comparisons = 0
    while (low < high) {
      const middle = (low + high) >>> 1
      comparisons++
      if (this.#compareStart(middle, key) <= 0) low = middle + 1
      else high = middle
    }
    for (let index = low - 1; index >= 0; index--) {
      comparisons++
      if (this.#compareEnd(this.#furthest[index] as number, key) <= 0) break
      if (this.#compareEnd(index, key) > 0) found.add(index)
    }
    return comparisons
  }

  #compareStart(index: number, key: Bytes): number {
    const at = this.#rangeAt[index] as number
    const start = at + rangeHeadWords * wordBytes
    return this.#bytes.compare(key, 0, key.length, start, start + this.#bytes.readUInt32LE(at))
  }

  #compareEnd(index: number, key: Bytes): number {
    const at = this.#rangeAt[index] as number
    const start = at + rangeHeadWords * wordBytes + this.#bytes.readUInt32LE(at)
    const end = start + this.#bytes.readUInt32LE(at + wordBytes)
    return this.#bytes.compare(key, 0, key.length, start, end)
  }

  #words(start: number, count: number): number[] {
    return Array.from({ length: count }, (_, index) => this.#bytes.readUInt32LE(start + index * wordBytes))
  }

  #text(start: number, length: number): string {
    return this.#bytes.toString('latin1', start, start + length)
  }
}

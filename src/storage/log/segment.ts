// A segment of the commit log: its bytes in memory, the table of its rows, and its file.

import { crc32 } from 'node:zlib'
import { systemRandom } from '../../base/random.ts'
import { batchVersion, encodeWrite, firstWrite, keyStartOf, writeBytesMax } from '../kv/batch.ts'
import type { Bytes, Write } from '../kv/kv-contract.ts'
import { RowTable } from './row-table.ts'
import type { SegmentFile } from './segment-files.ts'
import {
  alignment,
  encodeHeader,
  headerBytes,
  type RecordBounds,
  recordBytes,
  recordHeadBytes,
  saltBytes,
  sealRecord,
} from './segment-format.ts'

/** A place in the chain of records, directly after the record with this sequence number and this checksum. */
export interface ChainPlace {
  readonly sequence: number
  readonly checksum: number
}

/** Bytes that a segment with a single record needs in addition to the bytes of the record's writes. */
export const segmentSlack = headerBytes + recordHeadBytes + 1 + alignment

export class Segment {
  readonly number: number
  readonly bytes: Buffer
  readonly table: RowTable
  readonly file: SegmentFile
  readonly #salt: Bytes = systemRandom.bytes(saltBytes)
  /** The offset of the current record, which is not durable yet. */
  #end = headerBytes
  /** The offset of the next write of the current record. */
  #at = 0
  /** CRC-32 of the current record's batch, up to the offset `#summedTo`. */
  #checksum = 0
  #summedTo = 0
  #isComplete = true
  #place: ChainPlace

  /** `rows`: the expected number of rows. */
  constructor(file: SegmentFile, log: Bytes, place: ChainPlace, rows?: number) {
    this.file = file
    this.number = file.number
    this.bytes = Buffer.from(new SharedArrayBuffer(file.bytes))
    this.table = new RowTable(new Uint8Array(this.bytes.buffer), rows)
    this.#place = place
    const { checksum: before, sequence } = place
    encodeHeader({ number: file.number, log, salt: this.#salt, sequence: sequence + 1, before }, this.bytes)
    this.#begin()
  }

  /** The place after the log's newest record, which is in this segment or in an earlier segment. */
  get place(): ChainPlace {
    return this.#place
  }

  /** Bytes of the header and the durable records. */
  get end(): number {
    return this.#end
  }

  #begin(): void {
    this.#isComplete = this.#end + recordHeadBytes < this.bytes.length
    if (!this.#isComplete) return
    this.bytes[this.#end + recordHeadBytes] = batchVersion
    this.#at = this.#end + recordHeadBytes + 1
    this.#checksum = 0
    this.#summedTo = this.#end + recordHeadBytes
  }

  /** The segment has no records yet. */
  get isEmpty(): boolean {
    return this.#end === headerBytes
  }

  /** False when a write of the current record did not fit into the segment. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** If a write does not fit, {@link isComplete} becomes false, and this write and later writes are ignored. */
  add(write: Write): void {
    this.#isComplete &&= this.#at + writeBytesMax(write) + alignment <= this.bytes.length
    if (!this.#isComplete) return
    const start = this.#at
    this.#at = encodeWrite(write, this.bytes, start)
    this.table.addKey(keyStartOf(write, start), write.key)
  }

  /** Returns whether the current record has space for `bytes` bytes of encoded writes. */
  hasRoom(bytes: number): boolean {
    return this.#isComplete && this.#at + bytes + alignment <= this.bytes.length
  }

  /** Adds a part of a batch to the current record, which must have space for it. */
  addPart(part: Bytes): void {
    let start = this.#at
    this.#at = start + part.length
    this.bytes.set(part, start)
    while (start < this.#at) start = this.table.add(start)
    // Ordering the keys and computing the checksum once for a large batch would block the thread for a long time.
    this.table.order()
    this.#sum()
  }

  #sum(): void {
    this.#checksum = crc32(this.bytes.subarray(this.#summedTo, this.#at), this.#checksum)
    this.#summedTo = this.#at
  }

  /** Completes the record, and returns the range of bytes that must be written to the file. */
  seal(): { readonly start: number; readonly end: number; readonly place: ChainPlace } {
    const recordStart = this.#end
    const { checksum: before } = this.#place
    const sequence = this.#place.sequence + 1
    this.#sum()
    const batch = { bytes: this.#at - recordStart - recordHeadBytes, checksum: this.#checksum }
    const checksum = sealRecord(this.bytes, recordStart, batch, { salt: this.#salt, sequence, before })
    // The header is written with the first record.
    const start = recordStart === headerBytes ? 0 : recordStart
    return { start, end: recordStart + recordBytes(batch.bytes), place: { sequence, checksum } }
  }

  /** Makes a durable record visible to readers. */
  accept({ end, place }: { readonly end: number; readonly place: ChainPlace }): void {
    this.#end = end
    this.#place = place
    this.table.publish()
    this.#begin()
  }

  /** Drops the current record. */
  revert(): void {
    this.table.revert()
    this.#begin()
  }
}

/** Offsets in a buffer of records. */
export type BatchSpan = Pick<RecordBounds, 'batchStart' | 'batchEnd'>

/** Adds the rows of one record to `table`. */
export function addBatch(table: RowTable, bytes: Bytes, { batchEnd, batchStart }: BatchSpan): void {
  for (let start = firstWrite(bytes, batchStart); start < batchEnd; ) start = table.add(start)
}

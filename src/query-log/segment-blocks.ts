// Reads the blocks of a segment (segment-format.ts). A block with a wrong checksum is skipped. The last block may be
// incomplete, because its writer crashed or is still writing. Its complete records are read, although they have no
// checksum: a crash of the process then loses no record that has reached the file.

import { open } from 'node:fs/promises'
import { newline } from '../values/json-scan.ts'
import { ifPresent } from './segment-files.ts'
import {
  blockBytesMax,
  blockMagic,
  headAt,
  headBytes,
  isIntact,
  recordFlag,
  regionGroupIn,
  textFrame,
} from './segment-format.ts'
import type { RecordGroup } from './segment-record.ts'
import { StoredRecord, type TextOf } from './stored-record.ts'
import { StoredText } from './stored-text.ts'
import { VarintReader } from './varint.ts'

const noText = new StoredText('')

const readBytes = 262_144
/** Less than the bytes of the shortest record: 24 bytes of its trace, and at least one byte for each field. */
const recordBytesMin = 32
/** Maximum number of bytes of the first line of a segment. */
const firstLineMax = 4096

/**
 * Yields the records of a segment block by block. Yields nothing if the file no longer exists. Throws if the segment has
 * an unknown version of the format, and throws the reason of `signal` once the signal is aborted.
 */
export async function* recordsOf(
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordGroup, void, undefined> {
  const file = await ifPresent(open(path))
  if (file === undefined) return
  try {
    let decoder: SegmentDecoder | undefined
    let bytes = Buffer.allocUnsafe(readBytes)
    let [start, end] = [0, 0]
    for (let isAtEnd = false; !isAtEnd; ) {
      signal?.throwIfAborted()
      // The block is longer than the buffer.
      if (start === 0 && end === bytes.length) bytes = Buffer.concat([bytes], 2 * end)
      bytes.copyWithin(0, start, end)
      end -= start
      start = 0
      const { bytesRead } = await file.read(bytes, end, bytes.length - end, null)
      end += bytesRead
      isAtEnd = bytesRead === 0
      if (decoder === undefined) {
        const lineEnd = bytes.subarray(0, Math.min(end, firstLineMax)).indexOf(newline)
        if (lineEnd < 0 && end < firstLineMax) continue
        const regionGroup = regionGroupIn(bytes.toString('utf8', 0, Math.max(0, lineEnd)), path)
        if (regionGroup === undefined) {
          yield { records: [], damaged: 1 }
          return
        }
        decoder = new SegmentDecoder(regionGroup)
        start = lineEnd + 1
      }
      for (;;) {
        const found = decoder.next(bytes.subarray(0, end), start, isAtEnd)
        start = found.at
        if (found.group === undefined) break
        yield found.group
      }
    }
  } finally {
    await file.close()
  }
}

/** A step of the decoder. `at`: the start of the next block. `group` is undefined if the decoder needs more bytes. */
interface Step {
  readonly at: number
  readonly group?: RecordGroup
}

class SegmentDecoder {
  readonly #regionGroup: string
  #section = -1
  #texts: StoredText[] = []
  /** True if the current record has a text that was in a damaged block. */
  #isIncomplete = false
  readonly #textOf: TextOf = number => {
    const text = this.#texts[number]
    this.#isIncomplete ||= text === undefined
    return text ?? noText
  }

  constructor(regionGroup: string) {
    this.#regionGroup = regionGroup
  }

  /** Reads the next block from `start`. `isAtEnd`: the file has no bytes after `bytes`. */
  next(bytes: Buffer, start: number, isAtEnd: boolean): Step {
    if (start + headBytes > bytes.length) return { at: isAtEnd ? bytes.length : start }
    const length = bytes.readUInt32LE(start + headAt.length)
    const isBlock =
      bytes.compare(blockMagic, 0, blockMagic.length, start, start + blockMagic.length) === 0 &&
      length >= headBytes &&
      length <= blockBytesMax
    const end = start + length
    if (isBlock && end <= bytes.length && isIntact(bytes, start, end))
      return { at: end, group: this.#decode(bytes, start, end) }
    if (isBlock && end > bytes.length && !isAtEnd) return { at: start }
    const next = bytes.indexOf(blockMagic, start + 1)
    if (next >= 0) return { at: next, group: { records: [], damaged: damagedIn(bytes, start, length) } }
    if (isBlock && end > bytes.length)
      return { at: bytes.length, group: this.#decode(bytes, start, bytes.length) }
    // The end of the bytes may be the beginning of a block.
    if (!isAtEnd) return { at: Math.max(start, bytes.length - headBytes) }
    return { at: bytes.length, group: { records: [], damaged: damagedIn(bytes, start, length) } }
  }

  #decode(bytes: Buffer, start: number, end: number): RecordGroup {
    const section = bytes.readUInt32LE(start + headAt.section)
    if (section !== this.#section) this.#texts = []
    this.#section = section
    let texts = bytes.readUInt32LE(start + headAt.texts)
    const records: StoredRecord[] = []
    let damaged = 0
    let time = 0
    const reader = new VarintReader(bytes, start + headBytes)
    while (reader.at < end) {
      const first = bytes[reader.at++] as number
      if (first === textFrame) {
        const length = reader.next()
        if (reader.at + length > end) break
        this.#texts[++texts] = new StoredText(bytes.toString('utf8', reader.at, reader.at + length))
        reader.at += length
      } else if ((first & recordFlag.isRecord) !== 0) {
        this.#isIncomplete = false
        const record = new StoredRecord(reader, bytes, first, time, this.#regionGroup, this.#textOf)
        if (reader.at > end) break
        time = record.time
        if (this.#isIncomplete) damaged++
        else records.push(record)
      } else break
    }
    return { records, damaged }
  }
}

/** Returns the number of records in the head of a damaged block, if the number is possible. */
function damagedIn(bytes: Buffer, start: number, length: number): number {
  if (start + headBytes > bytes.length) return 1
  const records = bytes.readUInt32LE(start + headAt.records)
  return records > 0 && records * recordBytesMin <= length ? records : 1
}

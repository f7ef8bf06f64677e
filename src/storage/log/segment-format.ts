// The format of a segment of the commit log. A segment consists of a header and of records, one for each batch of
// transactions (numbers in parentheses are sizes in bytes):
//
//   header (64 bytes): magic (8), version (4), number of the segment (8), name of the log (16), salt (8), sequence
//                      number of the first record (8), checksum of the record before the first record (4), checksum
//                      of the header (4), 0 (4)
//   record: head (32 bytes), batch, up to 7 bytes of 0
//   head:   checksum (4), size of the batch in bytes (4), salt (8), sequence number (8), checksum of the previous
//           record (4), 0 (4)
//
// The checksum of a record is one CRC-32 over its batch, followed by its head without the checksum.
//
// New segments are zero-filled, and reused segments get another salt, so old content of a file is never read as a
// record. Each record contains the checksum of the previous record, even if the previous record is in another segment.
// The records therefore form a chain. Numbers are little-endian; numbers of 8 bytes are doubles.

import { crc32 } from 'node:zlib'
import { assert } from '../../base/assert.ts'
import type { Bytes } from '../kv/kv-contract.ts'

const magic = Buffer.from('terralog')
const formatVersion = 1

/** Bytes of a segment before its first record. */
export const headerBytes = 64
/** Bytes of a record before its batch. */
export const recordHeadBytes = 32
/** Records begin at multiples of this number of bytes. */
export const alignment = 8

export const logNameBytes = 16
export const saltBytes = 8

const headerAt = {
  version: 8,
  number: 12,
  log: 20,
  salt: 36,
  sequence: 44,
  before: 52,
  checksum: 56,
} as const
/** Offsets in the head of a record. */
const headAt = { checksum: 0, bytes: 4, salt: 8, sequence: 16, before: 24 } as const

interface SegmentHeader {
  readonly number: number
  readonly log: Bytes
  readonly salt: Bytes
  /** The sequence number of the first record. */
  readonly sequence: number
  /** The checksum of the record before the first record. */
  readonly before: number
}

/** Encodes into the first bytes of `target`. */
export function encodeHeader(header: SegmentHeader, target: Buffer): void {
  target.fill(0, 0, headerBytes)
  magic.copy(target)
  target.writeUInt32LE(formatVersion, headerAt.version)
  target.writeDoubleLE(header.number, headerAt.number)
  target.set(header.log, headerAt.log)
  target.set(header.salt, headerAt.salt)
  target.writeDoubleLE(header.sequence, headerAt.sequence)
  target.writeUInt32LE(header.before, headerAt.before)
  target.writeUInt32LE(crc32(target.subarray(0, headerAt.checksum)), headerAt.checksum)
}

/** Returns undefined when the header is missing or damaged; only `version` when it has another format. */
export function decodeHeader(bytes: Buffer): SegmentHeader | { readonly version: number } | undefined {
  if (bytes.length < headerBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined
  if (bytes.readUInt32LE(headerAt.checksum) !== crc32(bytes.subarray(0, headerAt.checksum))) return undefined
  const version = bytes.readUInt32LE(headerAt.version)
  if (version !== formatVersion) return { version }
  return {
    number: bytes.readDoubleLE(headerAt.number),
    log: Buffer.from(bytes.subarray(headerAt.log, headerAt.log + logNameBytes)),
    salt: Buffer.from(bytes.subarray(headerAt.salt, headerAt.salt + saltBytes)),
    sequence: bytes.readDoubleLE(headerAt.sequence),
    before: bytes.readUInt32LE(headerAt.before),
  }
}

export function recordBytes(batchBytes: number): number {
  return Math.ceil((recordHeadBytes + batchBytes) / alignment) * alignment
}

/**
 * Completes the record at `start`, after its batch has been written. The caller computes `batch.checksum`, the CRC-32
 * of the batch, while the batch grows, because the checksum of 32 MB takes 15 ms. Returns the checksum of the record.
 */
export function sealRecord(
  target: Buffer,
  start: number,
  batch: { readonly bytes: number; readonly checksum: number },
  { before, salt, sequence }: Pick<SegmentHeader, 'salt' | 'sequence' | 'before'>,
): number {
  target.writeUInt32LE(batch.bytes, start + headAt.bytes)
  target.set(salt, start + headAt.salt)
  target.writeDoubleLE(sequence, start + headAt.sequence)
  target.writeUInt32LE(before, start + headAt.before)
  target.writeUInt32LE(0, start + headAt.before + 4)
  target.fill(0, start + recordHeadBytes + batch.bytes, start + recordBytes(batch.bytes))
  const checksum = checksumOf(target, start, batch.checksum)
  target.writeUInt32LE(checksum, start + headAt.checksum)
  return checksum
}

/** `batchChecksum`: the checksum of the batch of the record at `start`. */
function checksumOf(bytes: Buffer, start: number, batchChecksum: number): number {
  return crc32(bytes.subarray(start + headAt.bytes, start + recordHeadBytes), batchChecksum)
}

/**
 * A complete record in a segment: its sequence number, the checksums of the previous record (`before`) and of this
 * record, and the offsets of its batch and of the next record.
 */
export interface RecordBounds {
  readonly sequence: number
  readonly before: number
  readonly checksum: number
  readonly batchStart: number
  readonly batchEnd: number
  readonly end: number
}

/** The record that begins at `start` within `bytes[..end)`; undefined if it is incomplete or has another salt. */
export function recordIn(
  bytes: Buffer,
  start: number,
  salt: Bytes,
  end: number = bytes.length,
): RecordBounds | undefined {
  const batchStart = start + recordHeadBytes
  if (batchStart > end || !hasSalt(bytes, start, salt)) return undefined
  const batchEnd = batchStart + bytes.readUInt32LE(start + headAt.bytes)
  if (batchEnd > end) return undefined
  const checksum = bytes.readUInt32LE(start + headAt.checksum)
  if (checksum !== checksumOf(bytes, start, crc32(bytes.subarray(batchStart, batchEnd)))) return undefined
  const sequence = bytes.readDoubleLE(start + headAt.sequence)
  const before = bytes.readUInt32LE(start + headAt.before)
  return { sequence, before, checksum, batchStart, batchEnd, end: start + recordBytes(batchEnd - batchStart) }
}

/** Accepts any salt; undefined for an incomplete record. */
export function anyRecordIn(bytes: Buffer, start: number): RecordBounds | undefined {
  return recordIn(bytes, start, bytes.subarray(start + headAt.salt, start + headAt.salt + saltBytes))
}

/** According to the head of the record; 0 if no head of a record begins at `start`. */
export function recordSize(bytes: Buffer, start: number, salt: Bytes): number {
  if (start + recordHeadBytes > bytes.length || !hasSalt(bytes, start, salt)) return 0
  return recordBytes(bytes.readUInt32LE(start + headAt.bytes))
}

function hasSalt(bytes: Buffer, start: number, salt: Bytes): boolean {
  return bytes.compare(salt, 0, saltBytes, start + headAt.salt, start + headAt.salt + saltBytes) === 0
}

/** The offsets of the complete record that begins at `start`. */
export function recordAt(bytes: Bytes, start: number): Pick<RecordBounds, 'batchStart' | 'batchEnd' | 'end'> {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(start + headAt.bytes, true)
  const batchStart = start + recordHeadBytes
  return { batchStart, batchEnd: batchStart + size, end: start + recordBytes(size) }
}

/** Returns whether a complete record with the salt `salt` begins at or after `start`. */
export function hasRecordFrom(bytes: Buffer, start: number, salt: Bytes): boolean {
  let found = bytes.indexOf(salt, start + headAt.salt)
  for (; found !== -1; found = bytes.indexOf(salt, found + 1))
    if (recordIn(bytes, found - headAt.salt, salt) !== undefined) return true
  return false
}

assert(headerBytes % alignment === 0 && recordHeadBytes % alignment === 0, 'records are aligned')

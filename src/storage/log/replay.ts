// Reads the segments of a data directory's commit log that are not in LMDB.

import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { bytesEqual } from '../../base/bytes.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import type { Environment } from '../lmdb/folder.ts'
import { decodePosition, type LogPosition, positionKey } from './position.ts'
import { RowTable } from './row-table.ts'
import { addBatch, type ChainPlace } from './segment.ts'
import { pathOf, segmentNumbers } from './segment-files.ts'
import { decodeHeader, hasRecordFrom, headerBytes, recordHeadBytes, recordIn } from './segment-format.ts'

export interface ReadSegment {
  readonly number: number
  readonly bytes: Buffer
  readonly table: RowTable
  /** The end of the last record. */
  readonly end: number
  /** The place after the last record. */
  readonly place: ChainPlace
  /** The start of the last record; the end of the header if the segment has no records. */
  readonly lastRecord: number
}

interface ReadLog {
  /** The segments that are not in LMDB, the oldest first. */
  readonly segments: readonly ReadSegment[]
  /** The numbers of all segment files, with or without such records. */
  readonly files: readonly number[]
}

/**
 * Reads all records after `position`. Throws {@link StoreUnavailableError} when the log is missing, belongs to another
 * store, was written by a newer version of Terrarium, or is damaged before its end.
 */
export function readLog(folder: string, position: LogPosition): ReadLog {
  const damaged = (number: number, what: string) =>
    new StoreUnavailableError(`segment ${number} of the commit log in ${folder} ${what}; restore a backup`)
  const files = segmentNumbers(folder)
  const segments: ReadSegment[] = []
  let place: ChainPlace = position
  let hasEnded = false
  for (const number of files) {
    if (number <= position.segment) continue
    const { bytes, isWhole } = readSegment(folder, number)
    const header = decodeHeader(bytes)
    if (header !== undefined && 'version' in header)
      throw damaged(number, `has format ${header.version}, which a newer version wrote`)
    // The file was prepared for the segment, but has no complete header, or the header of the segment that used it
    // before: the segment has no records.
    if (header === undefined || header.number !== number) {
      hasEnded = true
      continue
    }
    if (!position.log.every((byte, at) => byte === header.log[at]))
      throw damaged(number, 'is of another store')
    if (!isWhole) throw damaged(number, 'is truncated')
    if (header.sequence !== place.sequence + 1 || header.before !== place.checksum)
      throw damaged(number, 'does not follow the one before it: records are missing')
    if (hasEnded && recordIn(bytes, headerBytes, header.salt))
      throw damaged(number, 'follows a damaged record')
    const table = new RowTable(new Uint8Array(bytes.buffer))
    let at = headerBytes
    let lastRecord = at
    for (;;) {
      const record = recordIn(bytes, at, header.salt)
      if (record === undefined) break
      if (record.before !== place.checksum || record.sequence !== place.sequence + 1)
        throw damaged(number, 'has a record that does not follow the one before it')
      addBatch(table, bytes, record)
      lastRecord = at
      at = record.end
      place = record
    }
    if (hasRecordFrom(bytes, at, header.salt)) throw damaged(number, `is damaged at byte ${at}`)
    table.publish()
    segments.push({ number, bytes, table, end: at, place, lastRecord })
  }
  if (!position.isLogApplied && !files.includes(position.segment + 1))
    throw new StoreUnavailableError(
      `${folder} does not contain segment ${position.segment + 1}, which has the last commits: copy a data directory with its commit log, or use "terrarium backup"`,
    )
  return { segments, files }
}

/**
 * Writes the end of a log to disk again: the last record, and zeros in place of the head of a further record. The log
 * was read from the page cache. If a write or a flush has failed, or if the previous process was killed, the disk may
 * contain another end of the log. After a power failure, the last record might then be missing, or a rejected record
 * might exist, although newer segments follow. Throws {@link StoreUnavailableError}.
 */
export function writeEndAgain(
  folder: string,
  { bytes, end, lastRecord, number }: Pick<ReadSegment, 'bytes' | 'end' | 'lastRecord' | 'number'>,
): void {
  const start = lastRecord === headerBytes ? 0 : lastRecord
  const head = Buffer.alloc(Math.min(recordHeadBytes, bytes.length - end))
  const content = Buffer.concat([bytes.subarray(start, end), head])
  let descriptor: number | undefined
  try {
    descriptor = openSync(pathOf(folder, number), 'r+')
    for (let at = 0; at < content.length; )
      at += writeSync(descriptor, content, at, content.length - at, start + at)
    fdatasyncSync(descriptor)
  } catch (cause) {
    const message = `the commit log in ${folder} cannot be written: ${causeText(cause)}`
    throw new StoreUnavailableError(message, { cause })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Damage is reported only after this number of reads, because another process may write during a read. */
const verificationsMax = 4

/**
 * Verifies all records that are not in LMDB, even while another process appends and applies records. Throws like
 * {@link readLog}.
 */
export function verifyLog(root: Environment, folder: string): void {
  for (let attempt = 1; ; ) {
    root.resetReadTxn()
    const stored = root.get(positionKey)
    if (stored === undefined) return
    try {
      readLog(folder, decodePosition(stored))
      return
    } catch (error) {
      root.resetReadTxn()
      // If segments have been applied to LMDB during the read, their files may have been reused.
      if (bytesEqual(stored, root.get(positionKey) ?? stored) && attempt++ >= verificationsMax) throw error
    }
  }
}

function readSegment(folder: string, number: number): { readonly bytes: Buffer; readonly isWhole: boolean } {
  const descriptor = openSync(pathOf(folder, number), 'r')
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.from(new SharedArrayBuffer(size))
    let at = 0
    while (at < size) {
      const read = readSync(descriptor, bytes, at, size - at, at)
      if (read === 0) break
      at += read
    }
    return { bytes, isWhole: at === size }
  } finally {
    closeSync(descriptor)
  }
}

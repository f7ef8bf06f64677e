// Reads the segments of a commit log that are not in LMDB yet, while another process appends to the log.
//
// A snapshot of LMDB contains the number of the newest segment that was applied to LMDB. Newer segments are read from
// their files. The committing process may reuse a file for a newer segment at any time. Each record contains the
// checksum of the previous record, so a reused file is recognized. A newer snapshot of LMDB then contains the rows of
// the file's previous segment.

import { closeSync, existsSync, fdatasyncSync, fstatSync, openSync, readSync } from 'node:fs'
import { bytesEqual } from '../../base/bytes.ts'
import { systemClock } from '../../base/clock.ts'
import { ifPresent } from '../../base/if-present.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import type { Environment } from '../lmdb/folder.ts'
import { type ApplyLag, decodePosition, type LogPosition, positionKey } from './position.ts'
import type { ReadSegment } from './replay.ts'
import { RowTable } from './row-table.ts'
import { addBatch, type ChainPlace } from './segment.ts'
import { pathOf } from './segment-files.ts'
import { decodeHeader, headerBytes, recordHeadBytes, recordIn, recordSize } from './segment-format.ts'

/** `end`, `place` and `lastRecord` change while the segment is read. */
type OpenSegment = { -readonly [Key in keyof ReadSegment]: ReadSegment[Key] } & {
  readonly descriptor: number
  readonly salt: Bytes
}

/** Reading a state fails, and is tried again, when a segment is reused during the read. */
const attemptsMax = 100
/** Bytes of the first read when a segment is searched for new records. */
const chunkBytes = 16_384
/** Minimum bytes of each further read. */
const longChunkBytes = 1_048_576

export class LogReader {
  readonly #folder: string
  readonly #durable: (() => number) | undefined
  /** The segments that are not in LMDB yet, the oldest first. */
  #segments: OpenSegment[] = []
  /** LMDB's position in the log, as of the last snapshot of LMDB: the stored bytes, and decoded. */
  #stored: Bytes = new Uint8Array(0)
  #position: LogPosition | undefined
  /** The time at which this process first read `#position`, in milliseconds of the monotonic clock. */
  #appliedMs = 0

  /**
   * `durable`: the sequence number of the newest durable record, which the committing process reports. Exactly the
   * records up to this number are read. If `durable` is undefined, all records are read, and their file is flushed
   * before the rows become visible. The newest record may then be one that the committing process will revoke
   * (durable-append.ts), so {@link isCommitted} exists.
   */
  constructor(folder: string, durable?: () => number) {
    this.#folder = folder
    this.#durable = durable
  }

  /**
   * Takes a new snapshot of LMDB; returns the segments that are not in the snapshot, the oldest first. Throws
   * {@link StoreUnavailableError} if the file of such a segment is missing.
   */
  read(root: Environment): readonly ReadSegment[] {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      root.resetReadTxn()
      const stored = root.get(positionKey)
      // A store of an earlier version has no log yet.
      if (stored === undefined) return []
      if (!bytesEqual(stored, this.#stored)) {
        this.#stored = stored
        this.#appliedMs = systemClock.elapsedMs()
        this.#position = decodePosition(stored)
      }
      if (this.#catchUp(this.#position as LogPosition)) return this.#segments
      this.#drop(Number.POSITIVE_INFINITY)
    }
    throw new StoreUnavailableError(
      `records are missing in the commit log in ${this.#folder}: copy a data directory with its commit log, or use "terrarium backup"`,
    )
  }

  /**
   * Reads the log again. Returns true if the record at `place`, which an earlier read returned as the newest record, is
   * committed: a newer record follows, or LMDB contains the record. Undefined: the record is still the newest. False:
   * it has been revoked or cannot be found any more.
   */
  isCommitted(root: Environment, place: ChainPlace): boolean | undefined {
    const newest = this.read(root).at(-1)?.place ?? (this.#position as LogPosition)
    if (isSamePlace(newest, place)) return isSamePlace(this.#position as LogPosition, place) || undefined
    for (const { bytes, end, salt } of this.#segments)
      for (let at = headerBytes; at < end; ) {
        const record = recordIn(bytes, at, salt, end)
        if (record === undefined) break
        if (isSamePlace(record, place)) return true
        at = record.end
      }
    return false
  }

  /** The lag of LMDB at the last read. */
  get applyLag(): ApplyLag {
    const bytes = this.#segments.reduce((sum, { end }) => sum + end, 0)
    return { bytes, lagMs: bytes === 0 ? 0 : systemClock.elapsedMs() - this.#appliedMs }
  }

  close(): void {
    this.#drop(Number.POSITIVE_INFINITY)
  }

  /**
   * Reads the log after the position of LMDB. Returns false if the log must be read again with a newer snapshot of
   * LMDB: the file of a segment is missing or was reused, or the newest record was revoked.
   */
  #catchUp(position: LogPosition): boolean {
    if (this.#segments[0] && this.#segments[0].number <= position.segment) this.#drop(position.segment)
    const oldest = this.#segments[0]
    if (oldest !== undefined && oldest.number !== position.segment + 1) return false
    const durable = this.#durable?.() ?? Number.POSITIVE_INFINITY
    const last = this.#segments.at(-1)
    if (last !== undefined && this.#durable === undefined && isRevoked(last)) return false
    for (let newest = last; ; ) {
      if (newest !== undefined && newest.place.sequence < durable) readRecords(newest, durable)
      const place = newest?.place ?? position
      if (place.sequence >= durable) return true
      const number = (newest?.number ?? position.segment) + 1
      const next = this.#open(number, position.log, place)
      if (next === 'mismatch') return false
      if (next === undefined) {
        // The committing process has reported the records as durable, so a newer snapshot of LMDB contains them.
        if (this.#durable !== undefined) return false
        // If the log may have newer records than LMDB, the file of their segment exists.
        return newest !== undefined || position.isLogApplied || existsSync(pathOf(this.#folder, number))
      }
      this.#segments.push(next)
      newest = next
    }
  }

  /**
   * Returns undefined if there is no segment `number`, and 'mismatch' if it does not continue the chain of records
   * after `place`.
   */
  #open(number: number, log: Bytes, place: ChainPlace): OpenSegment | 'mismatch' | undefined {
    const descriptor = ifPresent(() => openSync(pathOf(this.#folder, number), 'r'))
    if (descriptor === undefined) return undefined
    const head = Buffer.alloc(headerBytes)
    readSync(descriptor, head, 0, headerBytes, 0)
    const header = decodeHeader(head)
    const isOurs =
      header !== undefined && 'log' in header && header.number === number && bytesEqual(header.log, log)
    if (!isOurs) {
      closeSync(descriptor)
      return undefined
    }
    if (header.sequence !== place.sequence + 1 || header.before !== place.checksum) {
      closeSync(descriptor)
      return 'mismatch'
    }
    const bytes = Buffer.from(new SharedArrayBuffer(fstatSync(descriptor).size))
    const table = new RowTable(new Uint8Array(bytes.buffer))
    const { salt } = header
    return { number, bytes, table, end: headerBytes, place, lastRecord: headerBytes, descriptor, salt }
  }

  #drop(upTo: number): void {
    for (const { descriptor, number } of this.#segments) if (number <= upTo) closeSync(descriptor)
    this.#segments = this.#segments.filter(({ number }) => number > upTo)
  }
}

/** Reads up to the record with the sequence number `durable`. */
function readRecords(segment: OpenSegment, durable: number): void {
  const { bytes, descriptor, salt, table } = segment
  for (let wanted = chunkBytes; ; ) {
    const room = Math.min(wanted, bytes.length - segment.end)
    const read = readSync(descriptor, bytes, segment.end, room, segment.end)
    const readEnd = segment.end + read
    while (segment.place.sequence < durable) {
      const record = recordIn(bytes, segment.end, salt, readEnd)
      const { checksum, sequence } = segment.place
      if (record === undefined || record.before !== checksum || record.sequence !== sequence + 1) break
      addBatch(table, bytes, record)
      segment.lastRecord = segment.end
      segment.end = record.end
      segment.place = record
    }
    if (read < wanted || segment.place.sequence >= durable) break
    // If the chunk ends within a record or directly after a record, a longer chunk is read. If the bytes after the last
    // record are enough for another record but contain none, there are no new records.
    const size = recordSize(bytes, segment.end, salt)
    if (readEnd - segment.end >= Math.max(chunkBytes, size)) break
    wanted = Math.max(longChunkBytes, size)
  }
  if (table.rows === table.published) return
  if (durable === Number.POSITIVE_INFINITY) fdatasyncSync(descriptor)
  table.publish()
}

/** Returns whether the file no longer contains the newest record that was read from it. */
function isRevoked({ bytes, descriptor, end, lastRecord }: OpenSegment): boolean {
  if (end === headerBytes) return false
  const head = Buffer.alloc(recordHeadBytes)
  readSync(descriptor, head, 0, head.length, lastRecord)
  return !bytesEqual(head, bytes.subarray(lastRecord, lastRecord + recordHeadBytes))
}

function isSamePlace(left: ChainPlace, right: ChainPlace): boolean {
  return left.sequence === right.sequence && left.checksum === right.checksum
}

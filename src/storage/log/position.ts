// Stores the position of LMDB in the commit log: all records up to the position have been applied to LMDB. Each
// transaction that applies records updates a row of LMDB with the position.

import { assert } from '../../base/assert.ts'
import { systemRandom } from '../../base/random.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import type { Environment, OpenFolder } from '../lmdb/folder.ts'
import { assertRoom } from '../lmdb/room.ts'
import { logNameBytes } from './segment-format.ts'

/** Key of the row in the environment's main table. */
export const positionKey = Buffer.from('log')

export interface LogPosition {
  readonly log: Bytes
  /** The newest segment whose records are all in LMDB. */
  readonly segment: number
  /** Sequence number and checksum of the newest record in LMDB. */
  readonly sequence: number
  readonly checksum: number
  /** The log was closed normally, so it has no records after the position. */
  readonly isClosed: boolean
}

/** The part of the log that is not in LMDB. */
export interface ApplyLag {
  /** Bytes of the records that are not in LMDB. Their rows are in memory. */
  readonly bytes: number
  /** 0 when all records are in LMDB. */
  readonly lagMs: number
}

const formatVersion = 1

export function encodePosition({ checksum, isClosed, log, segment, sequence }: LogPosition): Buffer {
  const row = Buffer.alloc(1 + logNameBytes + 8 + 8 + 4 + 1)
  row[0] = formatVersion
  row.set(log, 1)
  let at = row.writeDoubleLE(segment, 1 + logNameBytes)
  at = row.writeDoubleLE(sequence, at)
  at = row.writeUInt32LE(checksum, at)
  row[at] = isClosed ? 1 : 0
  return row
}

export function decodePosition(bytes: Bytes): LogPosition {
  const row = Buffer.from(bytes)
  assert(row[0] === formatVersion, 'the log position has a format that this version knows')
  const at = 1 + logNameBytes
  return {
    log: row.subarray(1, at),
    segment: row.readDoubleLE(at),
    sequence: row.readDoubleLE(at + 8),
    checksum: row.readUInt32LE(at + 16),
    isClosed: row[at + 20] === 1,
  }
}

/** Reads the position of LMDB in the log. If the store has no log, begins a log. */
export function beginLog({ newest, root }: OpenFolder): LogPosition {
  return root.transactionSync(() => {
    newest.check(root)
    const found = readPosition(root)
    if (found) return found
    const position = startOf(systemRandom.bytes(logNameBytes))
    root.put(positionKey, encodePosition(position))
    return position
  })
}

/**
 * Records whether LMDB contains all rows of the log. `free`: the free bytes on the disk. Throws an error with the code
 * of a full disk if too few bytes are free.
 */
export function recordClosed({ newest, root }: OpenFolder, isClosed: boolean, free: number): void {
  root.transactionSync(() => {
    newest.check(root)
    const position = readPosition(root) as LogPosition
    if (position.isClosed === isClosed) return
    assertRoom({ rows: 1, bytes: 0 }, free)
    root.put(positionKey, encodePosition({ ...position, isClosed }))
  })
}

/** Returns the position as of the current snapshot; undefined if the store has no log. */
export function readPosition(root: Environment): LogPosition | undefined {
  const stored = root.get(positionKey)
  return stored && decodePosition(stored)
}

/** Begins a log with the name `log`, of which LMDB contains no records. */
export function renameLog(root: Environment, log: Bytes): void {
  root.transactionSync(() => {
    root.put(positionKey, encodePosition(startOf(log)))
  })
}

function startOf(log: Bytes): LogPosition {
  return { log, segment: 0, sequence: 0, checksum: 0, isClosed: true }
}

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
  /** The log has no records after the position. If false, the log may have such records. */
  readonly isLogApplied: boolean
}

/** The part of the log that is not in LMDB. */
export interface ApplyLag {
  /** Bytes of the records that are not in LMDB. Their rows are in memory. */
  readonly bytes: number
  /** 0 when all records are in LMDB. */
  readonly lagMs: number
}

const formatVersion = 1

export function encodePosition({ checksum, isLogApplied, log, segment, sequence }: LogPosition): Buffer {
  const row = Buffer.alloc(1 + logNameBytes + 8 + 8 + 4 + 1)
  row[0] = formatVersion
  row.set(log, 1)
  let at = row.writeDoubleLE(segment, 1 + logNameBytes)
  at = row.writeDoubleLE(sequence, at)
  at = row.writeUInt32LE(checksum, at)
  row[at] = isLogApplied ? 1 : 0
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
    isLogApplied: row[at + 20] === 1,
  }
}

/**
 * Reads the position of LMDB in the log. If the store has no log, begins a log. Throws ForgottenCommitError
 * (lmdb/newest-commit.ts).
 */
export function beginLog({ newest, root }: OpenFolder): LogPosition {
  return root.transactionSync(() => {
    newest.assertNotForgotten(root)
    const found = readPosition(root)
    if (found) return found
    const position = startOf(systemRandom.bytes(logNameBytes))
    root.put(positionKey, encodePosition(position))
    return position
  })
}

/**
 * Stores whether LMDB contains all records of the log. `isLogApplied` is false before the first record is written, and
 * true after a normal close or in a completed copy. `free`: the free bytes on the disk. Throws ForgottenCommitError
 * (lmdb/newest-commit.ts), or an error with the code of a full disk if too few bytes are free.
 */
export function markLogApplied({ newest, root }: OpenFolder, isLogApplied: boolean, free: number): void {
  root.transactionSync(() => {
    newest.assertNotForgotten(root)
    const position = readPosition(root) as LogPosition
    if (position.isLogApplied === isLogApplied) return
    assertRoom({ rows: 1, bytes: 0 }, free)
    root.put(positionKey, encodePosition({ ...position, isLogApplied }))
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
  return { log, segment: 0, sequence: 0, checksum: 0, isLogApplied: true }
}

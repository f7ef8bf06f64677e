// Applies the commit log to LMDB. One LMDB transaction writes all rows of the given segments, and the new position of
// LMDB in the log. The rows of a segment are written in the order of keys.

import type { Bytes } from '../kv-contract.ts'
import type { OpenFolder } from '../lmdb-folder.ts'
import type { Trees } from '../lmdb-trees.ts'
import type { ReadingSegment } from './log-reader.ts'
import { encodePosition, type LogPosition, positionKey, readPosition } from './position.ts'
import { RowTable } from './row-table.ts'
import { addBatch, addRecords } from './segment.ts'
import type { RecordBounds } from './segment-format.ts'

/** The segments to apply, and the position that LMDB then has. */
export interface ApplyRequest {
  /** The segments to apply, the oldest first. */
  readonly segments: readonly { readonly memory: SharedArrayBuffer; readonly end: number }[]
  /** The position of LMDB in the log after all segments are applied. */
  readonly position: LogPosition
}

/**
 * Applies segments; when the function returns, their rows are on disk in LMDB. Throws LMDB's error if the transaction
 * fails.
 */
export function applySegments(
  { newest, root, trees }: OpenFolder,
  { position, segments }: ApplyRequest,
): void {
  root.transactionSync(() => {
    newest.check(root)
    for (const { end, memory } of segments) applyRows(trees, new Uint8Array(memory), end)
    root.put(positionKey, encodePosition(position))
  })
}

/**
 * Applies `segments` to a copy of LMDB. The segments were read before the copy was made. After the call, the copy needs
 * no log.
 */
export function completeCopy(copy: OpenFolder, segments: readonly ReadingSegment[]): void {
  copy.root.transactionSync(() => {
    let position = readPosition(copy.root)
    if (position === undefined) return
    for (const { bytes, end, header, place } of segments) {
      if (header.number <= position.segment) continue
      applyRows(copy.trees, new Uint8Array(bytes.buffer), end)
      position = { ...position, segment: header.number, sequence: place.sequence, checksum: place.checksum }
    }
    copy.root.put(positionKey, encodePosition({ ...position, isClosed: true }))
  })
}

/** The offsets at which a batch begins and ends in a buffer of records. */
export type BatchSpan = Pick<RecordBounds, 'batchStart' | 'batchEnd'>

/** Applies batches in `bytes`, in their order, in one transaction. */
export function applyBatches(
  { root, trees }: Pick<OpenFolder, 'root' | 'trees'>,
  bytes: Bytes,
  batches: readonly BatchSpan[],
): void {
  if (batches.length === 0) return
  const table = new RowTable(bytes)
  for (const batch of batches) addBatch(table, bytes, batch)
  root.transactionSync(() => applyTable(trees, table))
}

function applyRows(trees: Trees, bytes: Bytes, end: number): void {
  const table = new RowTable(bytes)
  addRecords(table, bytes, end)
  applyTable(trees, table)
}

function applyTable(trees: Trees, table: RowTable): void {
  for (const { key, value } of table.all()) {
    const tree = trees.of(key)
    if (value) tree.put(key, value)
    else tree.remove(key)
  }
}

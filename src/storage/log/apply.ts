// Applies records of the commit log to LMDB. For a segment, one LMDB transaction writes all rows, in the order of keys,
// and the new position of LMDB in the commit log. A transaction writes only if the disk has space for the pages that it
// may need, because a failed write may crash the process (lmdb/room.ts).

import type { Bytes } from '../kv/kv-contract.ts'
import { pageBytes } from '../lmdb/data-file.ts'
import type { OpenFolder } from '../lmdb/folder.ts'
import { assertFree } from '../lmdb/room.ts'
import type { ByteDatabase, Trees } from '../lmdb/trees.ts'
import { encodePosition, type LogPosition, markLogApplied, positionKey, readPosition } from './position.ts'
import type { ReadSegment } from './replay.ts'
import { RowTable } from './row-table.ts'
import { addBatch, type BatchSpan } from './segment.ts'
import { headerBytes, recordAt } from './segment-format.ts'

export interface ApplyRequest {
  readonly memory: SharedArrayBuffer
  /** The end of the segment's last record in `memory`. */
  readonly end: number
  /** The position of LMDB in the log after the segment is applied. */
  readonly position: LogPosition
  /** Free bytes on the disk of the folder. */
  readonly free: number
}

/**
 * When the function returns, the rows are on disk in LMDB. Throws LMDB's error if the transaction fails, an error with
 * the code of a full disk if too few bytes are free, or ForgottenCommitError if LMDB has forgotten the newest commit
 * (lmdb/newest-commit.ts).
 */
export function applySegment(folder: OpenFolder, { end, free, memory, position }: ApplyRequest): void {
  const table = tableOf(new Uint8Array(memory), end)
  applyTable(folder, table, end, free, position)
}

/**
 * Applies `segments`, which were read before a copy of LMDB was made. The copy then needs no log. `freeBytes`: on the
 * disk of the copy. Throws like {@link applySegment}.
 */
export function completeCopy(
  copy: OpenFolder,
  segments: readonly ReadSegment[],
  freeBytes: () => number,
): void {
  const { root } = copy
  let position = readPosition(root)
  // A store of an earlier version has no log yet.
  if (position === undefined) return
  for (const { bytes, end, number, place } of segments) {
    if (number <= position.segment) continue
    position = { ...position, segment: number, sequence: place.sequence, checksum: place.checksum }
    applyTable(copy, tableOf(new Uint8Array(bytes.buffer), end), end, freeBytes(), position)
  }
  markLogApplied(copy, true, freeBytes())
}

/**
 * Applies batches of a backup, in their order and in one transaction, while the backup is restored. The position of
 * LMDB does not change. `free`: the free bytes on the disk of the folder. Throws like {@link applySegment}.
 */
export function applyBatches(
  folder: OpenFolder,
  bytes: Bytes,
  batches: readonly BatchSpan[],
  free: number,
): void {
  if (batches.length === 0) return
  const table = new RowTable(bytes)
  for (const batch of batches) addBatch(table, bytes, batch)
  applyTable(folder, table, bytes.length, free)
}

/** All rows of the records of a segment. */
function tableOf(bytes: Bytes, end: number): RowTable {
  const table = new RowTable(bytes)
  for (let at = headerBytes; at < end; ) {
    const record = recordAt(bytes, at)
    addBatch(table, bytes, record)
    at = record.end
  }
  return table
}

/** `bytes`: maximum bytes of the keys and values in the table. `position`: the new position of LMDB, if it changes. */
function applyTable(
  { newest, root, trees }: OpenFolder,
  table: RowTable,
  bytes: number,
  free: number,
  position?: LogPosition,
): void {
  root.transactionSync(() => {
    newest.assertNotForgotten(root)
    assertFree(copiedPagesMax(trees, table) * pageBytes + bytes * bytesPerRowByte, free)
    for (const { key, value } of table.all()) {
      const tree = trees.of(key)
      if (value) tree.put(key, value)
      else tree.remove(key)
    }
    if (position) root.put(positionKey, encodePosition(position))
  })
}

/**
 * For each byte of a row, the maximum bytes of new pages: pages can be half empty after splits, each row has a header
 * of ten bytes, and a long value takes whole pages.
 */
const bytesPerRowByte = 3

/** The types of lmdb-js lack these statistics. */
interface TreeStats {
  readonly treeDepth: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
}

/**
 * Returns the maximum number of pages that LMDB copies when the rows of a table are written: each row copies its leaf
 * page and the branch pages above it. Must run in a transaction.
 */
function copiedPagesMax(trees: Trees, table: RowTable): number {
  const rowsByTree = new Map<ByteDatabase, number>()
  for (const { key } of table.all()) {
    const tree = trees.of(key)
    rowsByTree.set(tree, (rowsByTree.get(tree) ?? 0) + 1)
  }
  let pages = 0
  for (const [tree, rows] of rowsByTree) {
    const { treeBranchPageCount, treeDepth, treeLeafPageCount } = tree.getStats() as TreeStats
    const leaves = Math.min(rows, treeLeafPageCount)
    pages += leaves + Math.min(leaves * Math.max(0, treeDepth - 1), treeBranchPageCount)
  }
  return pages
}

// Reads the records of the commit log in a continuous backup: where each begins, and where the commits within it end.

import { assert } from '../base/assert.ts'
import type { Micros } from '../base/micros.ts'
import { keyTags } from '../storage/keys/keyspace.ts'
import { firstWrite, WriteReader } from '../storage/kv/batch.ts'
import { anyRecordIn, type RecordBounds } from '../storage/kv/log/segment-format.ts'
import { commitOf } from '../storage/store/last-commit.ts'

/** The record of a piece, with the place where it begins. */
export interface PieceRecord extends RecordBounds {
  readonly start: number
}

/** The records that follow each other in `bytes`. Throws an `InvariantError` for other bytes. */
export function* recordsIn(bytes: Buffer): Generator<PieceRecord> {
  for (let start = 0; start < bytes.length; ) {
    const record = anyRecordIn(bytes, start)
    assert(record !== undefined, 'a piece consists of whole records')
    yield { ...record, start }
    start = record.end
  }
}

/** A commit within a record: its time, and where its last write ends. */
interface CommitEnd {
  readonly time: Micros
  readonly end: number
}

/**
 * The commits of a record, in their order. The last write of each is the row of the newest commit, except for a large
 * transaction, which is the last one of its record: its other writes may come after that row.
 */
export function commitsIn(bytes: Buffer, { batchEnd, batchStart }: RecordBounds): CommitEnd[] {
  const commits: CommitEnd[] = []
  const reader = new WriteReader(bytes)
  for (let start = firstWrite(bytes, batchStart); start < batchEnd; start = reader.end) {
    reader.read(start)
    if (bytes[reader.keyStart] !== keyTags.meta) continue
    const commit = commitOf({ key: reader.key, value: reader.value })
    if (commit !== undefined) commits.push({ time: commit.time, end: reader.end })
  }
  return commits
}

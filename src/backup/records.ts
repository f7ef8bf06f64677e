// Finds the records of the commit log in a piece of a continuous backup, and the ends of the commits in each record.

import { assert } from '../base/assert.ts'
import type { Micros } from '../base/micros.ts'
import { keyTags } from '../storage/keys/keyspace.ts'
import { firstWrite, WriteReader } from '../storage/kv/batch.ts'
import { anyRecordIn, type RecordBounds } from '../storage/kv/log/segment-format.ts'
import { commitOf } from '../storage/store/last-commit.ts'

/** A record of a piece, with the offset at which it begins. */
export interface PieceRecord extends RecordBounds {
  readonly start: number
}

/** The consecutive records in `bytes`. Throws an `InvariantError` if `bytes` contains anything else. */
export function* recordsIn(bytes: Buffer): Generator<PieceRecord> {
  for (let start = 0; start < bytes.length; ) {
    const record = anyRecordIn(bytes, start)
    assert(record !== undefined, 'a piece consists of whole records')
    yield { ...record, start }
    start = record.end
  }
}

/** A commit in a record: its time, and the end of its last write. */
interface CommitEnd {
  readonly time: Micros
  readonly end: number
}

/**
 * The commits of a record, in order. Each commit writes the row that stores the newest commit, and this write is its last one.
 * Only in a large transaction, other writes may follow. A large transaction is always the last commit of its record.
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

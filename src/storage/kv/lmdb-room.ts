// Whether the disk has room for a commit, asked before LMDB tries. LMDB takes a failed write well, but lmdb-js 3.5.6 puts what it says of
// one into memory that is too short for it (`mdb_page_flush`), and the process may die of that at any time later.

import { statfsSync } from 'node:fs'
import { megabyte } from '../../base/bytes.ts'

/** Bytes that stay free, for what is written beside commits. */
const reserveBytes = 16 * megabyte
/** Bytes of the pages that are copied for each row, beside those of the row itself: roughly, and rather too many. */
const bytesPerRow = 8192

/** What a commit is about to write. */
interface CommitSize {
  readonly rows: number
  /** Of keys and values. */
  readonly bytes: number
}

/** Bytes that are free on the disk of a folder; infinity where the file system does not tell. */
export function freeBytes(folder: string): number {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}

/** Throws when less is free than a commit may take, with the code of a full disk. */
export function assertRoom({ bytes, rows }: CommitSize, free: number): void {
  const wanted = reserveBytes + bytes + rows * bytesPerRow
  if (free >= wanted) return
  const mebibytes = (of: number) => (of / megabyte).toFixed(0)
  const message = `the disk has no room: ${mebibytes(free)} MB are free, ${mebibytes(wanted)} MB are wanted`
  throw Object.assign(new Error(message), { code: 'ENOSPC' })
}

// Checks that the disk has space for a transaction before LMDB writes it. LMDB itself can handle a failed write. But
// lmdb-js 3.5.6 writes the text of the error into a buffer that is too short (`mdb_page_flush`), so the process may
// crash later.

import { statfsSync } from 'node:fs'
import { megabyte } from '../../base/bytes.ts'

/** Bytes that stay free for other writes besides commits. */
const reserveBytes = 16 * megabyte
/** Pages that LMDB copies for each row, besides the row itself: a generous estimate. */
const bytesPerRow = 8192

interface CommitSize {
  readonly rows: number
  /** Bytes of keys and values. */
  readonly bytes: number
}

/** Infinite where the file system does not report the number. */
export function freeBytes(folder: string): number {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
}

/** Throws an error with the code of a full disk when a commit may use more than the free bytes. */
export function assertRoom({ bytes, rows }: CommitSize, free: number): void {
  assertFree(bytes + rows * bytesPerRow, free)
}

/** Throws an error with the code of a full disk when fewer than `bytes` bytes and the reserve are free. */
export function assertFree(bytes: number, free: number): void {
  const wanted = reserveBytes + bytes
  if (free >= wanted) return
  const mebibytes = (of: number) => (of / megabyte).toFixed(0)
  const message = `the disk is full: ${mebibytes(free)} MB are free, ${mebibytes(wanted)} MB are needed`
  throw Object.assign(new Error(message), { code: 'ENOSPC' })
}

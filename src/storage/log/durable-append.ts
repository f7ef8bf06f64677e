// Appends records to the commit log with a known outcome.
//
// A disk that reports an error may have stored the bytes nevertheless: thin volumes and network file systems can report
// ENOSPC after they have stored a write. Reading the bytes back decides nothing, because they come from the page cache.
// If a record remained in the log although its transactions were rejected, these transactions would exist after the
// next start. So the head of such a record is overwritten with zeros, durably, before the transactions are rejected.

import { isFullDisk } from '../kv/store-errors.ts'
import type { Segment } from './segment.ts'
import type { LogDisk, Piece } from './segment-files.ts'
import { headerBytes, recordHeadBytes } from './segment-format.ts'

/** Thrown if it is unknown whether a record is in the log. `cause` contains the error of the disk. */
export class UnknownAppendError extends Error {
  override name = 'UnknownAppendError'

  constructor(cause: unknown) {
    super('it is unknown whether the disk has stored a record', { cause })
  }
}

const zeros = Buffer.alloc(recordHeadBytes)

/**
 * Waits until the record is on disk. Throws the error of a disk that is full if the log certainly does not contain the
 * record, and {@link UnknownAppendError} otherwise.
 */
export async function appendDurably(
  disk: LogDisk,
  { bytes, file: { descriptor } }: Pick<Segment, 'bytes' | 'file'>,
  { end, start }: Pick<Piece, 'start' | 'end'>,
): Promise<void> {
  try {
    await writeDurably(disk, descriptor, { bytes, start, end }, start)
  } catch (error) {
    if (!isFullDisk(error)) throw new UnknownAppendError(error)
    // The write of a segment's first record begins with the header of the segment.
    const head = Math.max(start, headerBytes)
    await writeDurably(disk, descriptor, { bytes: zeros, start: 0, end: zeros.length }, head).catch(
      (cause: unknown) => {
        throw new UnknownAppendError(cause)
      },
    )
    throw error
  }
}

async function writeDurably(disk: LogDisk, descriptor: number, piece: Piece, offset: number): Promise<void> {
  await disk.write(descriptor, piece, offset)
  await disk.flush?.(descriptor)
}

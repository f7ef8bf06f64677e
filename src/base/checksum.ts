// A checksum for stored rows, so that the integrity check notices what a disk has changed.

import { crc32 } from 'node:zlib'

/** Bytes that {@link checksum} takes up at the end of a row. */
export const checksumBytes = 4

/** CRC-32 as zlib computes it: an unsigned number of 32 bits. */
export function checksum(bytes: Uint8Array): number {
  return crc32(bytes)
}

// Computes the checksum of stored rows. The integrity check uses the checksum to detect corruption on disk.

import { crc32 } from 'node:zlib'

/** Length of a {@link checksum} at the end of a row, in bytes. */
export const checksumBytes = 4

/** CRC-32 as zlib computes it: an unsigned number of 32 bits. */
export function checksum(bytes: Uint8Array): number {
  return crc32(bytes)
}

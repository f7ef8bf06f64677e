// The checksum at the end of stored rows, by which the integrity check detects corruption on disk.

import { crc32 } from 'node:zlib'

export const checksumBytes = 4

/** CRC-32 as in zlib, unsigned. */
export function checksum(bytes: Uint8Array): number {
  return crc32(bytes)
}

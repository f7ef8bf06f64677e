// The file of a claim (claim.ts) is a small LMDB environment without content.
//
// LMDB creates such a file without a flush. After a power failure, the file may be empty, short, or contain zeros, and
// LMDB kills every process that opens such a file. The content never changes, so this module writes the file itself,
// and writes it again if the content is wrong. It never replaces or truncates the file: other processes may have the
// file mapped, and the inode number is a part of the identity of the data directory. If two processes write the file at
// the same time, they write the same bytes.

import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { flushNames } from '../../base/folders.ts'
import { encodeEmptyMeta, metaPageBytes, pageBytes } from './data-file.ts'

/** Sizes of pages that LMDB chooses on the supported machines. Terrarium 0.2 let LMDB choose. */
const pageSizes: readonly number[] = [pageBytes, 8192, 16_384, 32_768, 65_536]

/** Creates a missing and repairs a damaged file. `mapBytes`: the size of LMDB's map. */
export function prepareClaimFile(file: string, mapBytes: number, mode: number): void {
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, mode)
  try {
    const head = Buffer.alloc(pageBytes)
    readSync(descriptor, head, 0, head.length, 0)
    const stored = metaPageBytes(head)
    const size = pageSizes.includes(stored) ? stored : pageBytes
    const wanted = Buffer.concat([encodeEmptyMeta(0, size, mapBytes), encodeEmptyMeta(1, size, mapBytes)])
    const found = Buffer.alloc(wanted.length)
    readSync(descriptor, found, 0, found.length, 0)
    if (found.equals(wanted)) return
    for (let at = 0; at < wanted.length; ) at += writeSync(descriptor, wanted, at, wanted.length - at, at)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  flushNames(dirname(file))
}

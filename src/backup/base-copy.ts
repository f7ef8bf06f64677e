// A base copy: the data file of one snapshot, in compressed parts of bounded size. LMDB can copy only to a file, so the
// copy is first written to a folder of the data directory. That file takes as much disk space as the data.

import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../base/assert.ts'
import { megabyte } from '../base/bytes.ts'
import type { Micros } from '../base/micros.ts'
import { copyStore, storeBytes } from '../storage/kv/lmdb-copy.ts'
import { dataFileName } from '../storage/kv/lmdb-data-file.ts'
import { openFolder } from '../storage/kv/lmdb-folder.ts'
import { freeBytes } from '../storage/kv/lmdb-room.ts'
import type { Trees } from '../storage/kv/lmdb-trees.ts'
import { LmdbView } from '../storage/kv/lmdb-view.ts'
import { readPosition } from '../storage/kv/log/position.ts'
import type { ChainPlace } from '../storage/kv/log/segment.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import { decodeChunk, encodeChunk } from './chunk.ts'
import { BackupError, type BackupTarget } from './target.ts'

/** Uncompressed bytes of a part. */
const partBytes = 8 * megabyte
/** Bytes that a copy leaves free on the disk, for the service. */
const reserveBytes = 64 * megabyte

/** The folder of the data directory to which a copy is written. */
const copyFolder = 'base-copy.partial'

/** A copy on disk. */
interface StoreCopy {
  readonly folder: string
  readonly bytes: number
  readonly time: Micros
  readonly place: ChainPlace
}

/**
 * Copies the store of a data directory while it is served. The copy contains at least the records up to `durable()`. Throws
 * {@link BackupError} when the disk has too little free space.
 */
export async function makeCopy(data: string, durable: () => number): Promise<StoreCopy> {
  const folder = join(data, copyFolder)
  await removeCopy(data)
  const needed = storeBytes(data) + reserveBytes
  const free = freeBytes(data)
  if (free < needed)
    throw new BackupError(`a base copy needs ${needed} free bytes on the disk of ${data}, which has ${free}`)
  await mkdir(folder, { mode: 0o700 })
  await copyStore(data, folder, durable)
  const { root, trees } = openFolder(folder, { use: 'reading' })
  try {
    const place = readPosition(root)
    assert(place !== undefined, 'a store that is served has a commit log')
    return { folder, bytes: storeBytes(folder), time: timeOf(trees), place }
  } finally {
    await root.close()
  }
}

function timeOf(trees: Trees): Micros {
  const view = new LmdbView(trees)
  try {
    return lastCommit(view).time
  } finally {
    view.end()
  }
}

/** Removes the copy of a data directory, if there is one. */
export function removeCopy(data: string): Promise<void> {
  return rm(join(data, copyFolder), { recursive: true, force: true })
}

/** The number of parts of a copy. */
export function partsOf({ bytes }: Pick<StoreCopy, 'bytes'>): number {
  return Math.ceil(bytes / partBytes)
}

/** Reads and encodes a part of a copy. */
export async function encodePart({ bytes, folder }: StoreCopy, number: number): Promise<Buffer> {
  const file = await open(join(folder, dataFileName), 'r')
  try {
    const start = number * partBytes
    const part = Buffer.alloc(Math.min(partBytes, bytes - start))
    for (let at = 0; at < part.length; ) {
      const { bytesRead } = await file.read(part, at, part.length - at, start + at)
      if (bytesRead === 0) throw new BackupError(`the copy in ${folder} is shorter than its original size`)
      at += bytesRead
    }
    return encodeChunk(part)
  } finally {
    await file.close()
  }
}

/** Reads the parts `names` of a target into a new data file. Throws {@link BackupError} when a part is missing or damaged. */
export async function writeParts(
  target: BackupTarget,
  names: readonly string[],
  {
    bytes,
    file: path,
    onPart,
  }: { readonly bytes: number; readonly file: string; readonly onPart: (done: number) => void },
): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  let written = 0
  try {
    for (const name of names) {
      const object = await target.get(name)
      if (object === undefined)
        throw new BackupError(`the object ${name} is missing in the backup ${target.name}`)
      const part = await decodeChunk(name, object)
      await file.write(part, 0, part.length, written)
      written += part.length
      onPart(written)
    }
    if (written !== bytes)
      throw new BackupError(`a base copy in ${target.name} is damaged: it has ${written} bytes of ${bytes}`)
    await file.sync()
  } finally {
    await file.close()
  }
}

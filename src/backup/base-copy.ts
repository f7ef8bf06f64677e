// A base copy is a copy of the data file at one snapshot, stored in compressed parts of limited size. LMDB can copy
// only to a file, so the copy is first written to a folder of the data directory. The copy on disk takes as much space
// as the data. The functions at the end of this module remove expired objects from the target of the backup.

import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../base/assert.ts'
import { megabyte } from '../base/bytes.ts'
import { type Micros, microsPerDay } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import { dataFileName } from '../storage/lmdb/data-file.ts'
import { closeFolder, openFolder } from '../storage/lmdb/folder.ts'
import { freeBytes } from '../storage/lmdb/room.ts'
import type { Trees } from '../storage/lmdb/trees.ts'
import { LmdbView } from '../storage/lmdb/view.ts'
import { readPosition } from '../storage/log/position.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import { copyStore, storeBytes } from '../storage/log/store-copy.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import { baseContent } from './catalogue.ts'
import { decodeChunk, encodeChunk, partBytes, partsOf } from './chunk.ts'
import {
  type BaseName,
  baseObject,
  fromOf,
  logPrefix,
  partObject,
  partsPrefix,
  partsStart,
  piecesStart,
} from './object-names.ts'
import { BackupError, type BackupTarget } from './target.ts'

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
 * Copies the store of a data directory while a service uses the store. The copy contains at least the records up to
 * `durable()`. Throws {@link BackupError} when the disk has too little free space.
 */
async function makeCopy(data: string, durable: () => number): Promise<StoreCopy> {
  const folder = join(data, copyFolder)
  await removeCopy(data)
  const needed = storeBytes(data) + reserveBytes
  const free = freeBytes(data)
  if (free < needed)
    throw new BackupError(`a base copy needs ${needed} free bytes on the disk of ${data}, which has ${free}`)
  await mkdir(folder, { mode: 0o700 })
  await copyStore(data, folder, durable)
  const copy = openFolder(folder, { use: 'reading' })
  try {
    const place = readPosition(copy.root)
    assert(place !== undefined, 'a store that is served has a commit log')
    return { folder, bytes: storeBytes(folder), time: timeOf(copy.trees), place }
  } finally {
    await closeFolder(copy)
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

/** Removes the folder `copyFolder` of the data directory, if it exists. */
function removeCopy(data: string): Promise<void> {
  return rm(join(data, copyFolder), { recursive: true, force: true })
}

/** Reads and encodes a part of a copy. */
async function encodePart({ bytes, folder }: StoreCopy, number: number): Promise<Buffer> {
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

/**
 * Reads the parts `names` of a target into a new data file. Throws {@link BackupError} when a part is missing or
 * damaged.
 */
export async function writeParts(
  target: BackupTarget,
  names: Iterable<string>,
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
      const part = await decodeChunk(name, object, partBytes)
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

// Writes base copies to a target. The write of a part is retried until it succeeds. So a copy of many gigabytes
// survives an interruption of the network.

interface BaseWriterOptions {
  readonly target: BackupTarget
  readonly data: string
  /** The name of the log. */
  readonly log: Bytes
  readonly timers: Timers
  /** The sequence number of the newest durable record. */
  readonly durable: () => number
  /** Called after an object was written, with the size of the object in bytes. */
  readonly onWritten: (bytes: number) => void
  /** Called when the write of an object fails. The write is retried. */
  readonly onFailure: (error: unknown) => void
}

/** Milliseconds before a failed write is retried. */
const retryMs = 5_000

/**
 * Copies the store, and writes the copy to the target. The copy becomes a base copy of `generation` (a sequence of
 * records without a gap). `start`: the time at which the generation began. Resolves with undefined when `signal` has
 * aborted. Throws `BackupError` when the disk has too little free space.
 */
export async function writeBase(
  options: BaseWriterOptions,
  {
    generation,
    signal,
    start,
  }: { readonly generation: string; readonly start: Micros; readonly signal: AbortSignal },
): Promise<BaseName | undefined> {
  const { data, durable, log } = options
  try {
    const copy = await makeCopy(data, durable)
    const { place, time } = copy
    const base = { generation, from: fromOf(start, time), time, place }
    const parts = partsOf(copy.bytes)
    for (let number = 0; number < parts; number++) {
      const part = await encodePart(copy, number)
      if (!(await putWithRetries(options, partObject(base, number), part, signal))) return undefined
    }
    const content = baseContent({ parts, bytes: copy.bytes, log: Buffer.from(log).toString('hex') })
    return (await putWithRetries(options, baseObject(base), content, signal)) ? base : undefined
  } finally {
    await removeCopy(data)
  }
}

/**
 * Writes an object, with retries until the write succeeds. Returns false if `signal` aborts before a write succeeds.
 */
async function putWithRetries(
  { onFailure, onWritten, target, timers }: BaseWriterOptions,
  name: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await target.put(name, bytes)
      onWritten(bytes.length)
      return true
    } catch (error) {
      onFailure(error)
      await wait(retryMs, timers)
    }
  }
  return false
}

// Removes the objects that no restore within the retention needs. A restore to the oldest time needs the newest base
// copy that is older than the retention. All base copies before the needed copy are removed, together with their parts.
// The records before the needed copy are removed, too.
//
// First, the objects that mark base copies as complete are removed, then parts, then records. Each kind is removed from
// the oldest to the newest. So an interruption never leaves a complete base copy without its parts or records. The next
// removal finds the remaining objects.

/**
 * Returns the base copy that a restore to the oldest time of the retention needs. The age of a copy is the sum of the
 * intervals between consecutive copies, from this copy until `now`. An interval longer than one day is counted as one
 * day. So if the clock jumps forward, at most one day too much is removed.
 */
export function oldestNeeded(bases: readonly BaseName[], now: Micros, days: number): BaseName | undefined {
  let age = 0
  let later: number = now
  for (const base of bases.toReversed()) {
    age += Math.max(0, Math.min(later - base.from, microsPerDay))
    later = base.from
    if (age >= days * microsPerDay) return base
  }
  return bases[0]
}

/** Removes the objects that are needed only for times before `oldest`. */
export async function removeBefore(
  target: BackupTarget,
  bases: readonly BaseName[],
  oldest: BaseName,
): Promise<void> {
  for (const base of bases) {
    if (base === oldest) break
    await target.remove(baseObject(base))
  }
  await removeUpTo(target, partsPrefix, partsStart(oldest))
  await removeUpTo(target, logPrefix, piecesStart(oldest.generation, oldest.time))
}

/** Removes the objects whose names begin with `prefix` and are less than `end`. */
async function removeUpTo(target: BackupTarget, prefix: string, end: string): Promise<void> {
  for await (const name of target.list(prefix)) {
    if (name >= end) break
    await target.remove(name)
  }
}

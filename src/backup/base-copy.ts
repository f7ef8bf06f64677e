// Writes base copies: compressed parts of limited size, which together are a copy of all data as of one commit. LMDB
// can copy only to a file, so the copy needs as much space in the data directory as the data. Also removes the base
// copies and records that no restore within the retention needs.

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
import { LmdbView } from '../storage/lmdb/view.ts'
import { readPosition } from '../storage/log/position.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import { copyStore, storeBytes } from '../storage/log/store-copy.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import { baseContent } from './catalogue.ts'
import { packObject, partBytes, partsOf, unpackObject } from './object-format.ts'
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

/** The number of bytes that a copy leaves free on the disk for the service. */
const reserveBytes = 64 * megabyte

/** The name of the folder of the copy in the data directory. */
const copyFolder = 'base-copy.partial'

interface StoreCopy {
  readonly folder: string
  readonly bytes: number
  readonly time: Micros
  readonly place: ChainPlace
}

/**
 * Copies the store while a service uses it. The copy contains at least the records up to `durable()`. Throws {@link
 * BackupError} when the disk has too little free space.
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
  const copy = openFolder(folder, { use: 'existing' })
  try {
    const place = readPosition(copy.root)
    assert(place !== undefined, 'a store that is served has a commit log')
    const { time } = lastCommit(new LmdbView(copy.trees))
    return { folder, bytes: storeBytes(folder), time, place }
  } finally {
    await closeFolder(copy)
  }
}

function removeCopy(data: string): Promise<void> {
  return rm(join(data, copyFolder), { recursive: true, force: true })
}

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
    return packObject(part)
  } finally {
    await file.close()
  }
}

/**
 * Reads parts into a new data file of `bytes` bytes. Throws {@link BackupError} when a part is missing or damaged, or
 * the parts have another size.
 */
export async function writeParts(
  target: BackupTarget,
  names: Iterable<string>,
  path: string,
  bytes: number,
  onPart: (done: number) => void,
): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  let written = 0
  try {
    for (const name of names) {
      const object = await target.get(name)
      if (object === undefined)
        throw new BackupError(`the object ${name} is missing in the backup ${target.name}`)
      const part = await unpackObject(name, object, partBytes)
      await file.writeFile(part)
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

interface BaseWriterOptions {
  readonly target: BackupTarget
  /** The data directory of the service. */
  readonly data: string
  /** The name of the commit log. */
  readonly log: Bytes
  readonly timers: Timers
  /** Sequence number of the newest durable record. */
  readonly durable: () => number
  /** Receives the size of each written object in bytes. */
  readonly onWritten: (bytes: number) => void
  /** Called after each failed write, which is then retried. */
  readonly onFailure: (error: unknown) => void
  /** The name of a sequence of records without a gap, and the time at which it began. */
  readonly generation: string
  readonly start: Micros
  readonly signal: AbortSignal
}

/** Milliseconds before a failed write is retried. */
const retryMs = 5_000

/**
 * Writes a copy of the store to the target, as a base copy of `generation`. Retries each part until it succeeds, so a
 * copy of many gigabytes survives an interruption of the network. Resolves with undefined when `signal` has aborted.
 * Throws `BackupError` when the disk has too little free space, and `StoreUnavailableError` when the copy fails.
 */
export async function writeBase(options: BaseWriterOptions): Promise<BaseName | undefined> {
  const { data, durable, generation, log, start } = options
  try {
    const copy = await makeCopy(data, durable)
    const { place, time } = copy
    const base = { generation, from: fromOf(start, time), time, place }
    const parts = partsOf(copy.bytes)
    for (let number = 0; number < parts; number++) {
      const part = await encodePart(copy, number)
      if (!(await putWithRetries(options, partObject(base, number), part))) return undefined
    }
    const content = baseContent({ parts, bytes: copy.bytes, log: Buffer.from(log).toString('hex') })
    return (await putWithRetries(options, baseObject(base), content)) ? base : undefined
  } finally {
    await removeCopy(data)
  }
}

/** Returns false if `signal` aborts before a write succeeds. */
async function putWithRetries(
  { onFailure, onWritten, signal, target, timers }: BaseWriterOptions,
  name: string,
  bytes: Uint8Array,
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

/**
 * Returns the base copy that a restore to the oldest time of the retention needs: the newest one older than the
 * retention, or the oldest one if none is older. The age of a copy is the sum of the intervals between consecutive
 * copies until `now`, and an interval counts as at most one day. So if the clock jumps forward, at most one day too
 * much is removed.
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

/**
 * Removes the objects that are needed only for times before `oldest`: first those that mark base copies as complete,
 * then parts, then records, each kind from the oldest to the newest. An interruption then never leaves a complete base
 * copy without its parts or records, and the next removal finds the rest.
 */
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

/** Removes the names with `prefix` that are less than `end`. */
async function removeUpTo(target: BackupTarget, prefix: string, end: string): Promise<void> {
  for await (const name of target.list(prefix)) {
    if (name >= end) break
    await target.remove(name)
  }
}

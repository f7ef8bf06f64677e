// Copies a whole store for backups. LMDB copies one snapshot on a separate thread, without free pages, while other
// processes continue to write. The records of the commit log are read before the copy starts, and applied to the
// finished copy, which therefore needs no log.

import { chmodSync, closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { stayAlive, wait } from '../../base/timers.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import { isClaimed } from '../lmdb/claim.ts'
import { dataFileName } from '../lmdb/data-file.ts'
import { closeFolder, type Environment, openFolder, ownerOnly } from '../lmdb/folder.ts'
import { freeBytes } from '../lmdb/room.ts'
import { completeCopy } from './apply.ts'
import { LogReader } from './log-reader.ts'
import { type ReadSegment, verifyLog } from './replay.ts'
import type { ChainPlace } from './segment.ts'
import { logFolder } from './segment-files.ts'

/**
 * `to` is an empty folder. The copy is durable when the promise resolves. `durable`: as in {@link LogReader}. Throws
 * {@link StoreUnavailableError}.
 */
export async function copyStore(from: string, to: string, durable?: () => number): Promise<void> {
  const log = new LogReader(join(from, logFolder), durable)
  const source = openFolder(from, { use: 'existing' })
  try {
    verifyLog(source.root, join(from, logFolder))
    const segments = durable ? log.read(source.root) : await readCommitted(from, log, source.root)
    await source.root.backup(to, true)
    const copy = openFolder(to, { use: 'existing' })
    completeCopy(copy, segments, () => freeBytes(to))
    await closeFolder(copy)
  } catch (cause) {
    throw new StoreUnavailableError(`the store cannot be copied to ${to}: ${causeText(cause)}`, { cause })
  } finally {
    log.close()
    await closeFolder(source)
  }
  rmSync(join(to, 'lock.mdb'), { force: true })
  const copy = join(to, dataFileName)
  chmodSync(copy, ownerOnly.permissionsMode)
  flush(copy)
  flush(to)
}

/** The interval at which {@link readCommitted} reads the log, and its maximum duration. */
const readAgainMs = 10
const uncertainMsMax = 10_000

/**
 * Waits while the newest record may be one that the disk has stored although it reports an error: the committing
 * process revokes such a record. The wait takes at most some seconds, because an idle committing process soon applies
 * the record to LMDB. If no process commits, the next start of the service keeps the record.
 */
async function readCommitted(
  folder: string,
  log: LogReader,
  root: Environment,
): Promise<readonly ReadSegment[]> {
  const endMs = systemClock.elapsedMs() + uncertainMsMax
  const letGo = stayAlive()
  try {
    for (;;) {
      // A later read adds records to the segments of this read.
      const segments = log.read(root).map(segment => ({ ...segment }))
      const newest = segments.at(-1)?.place
      let isCommitted = newest === undefined || log.isCommitted(root, newest)
      while (isCommitted === undefined) {
        if (systemClock.elapsedMs() >= endMs || !isClaimed(folder)) return segments
        await wait(readAgainMs)
        isCommitted = log.isCommitted(root, newest as ChainPlace)
      }
      if (isCommitted) return segments
    }
  } finally {
    letGo()
  }
}

/** Bytes of the data file of a folder, including free pages; 0 when there is no file. */
export function storeBytes(folder: string): number {
  return statSync(join(folder, dataFileName), { throwIfNoEntry: false })?.size ?? 0
}

/** Waits until a file, or the list of files of a folder, is on disk. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

// Restores a state into a new data file, from a base copy and the records of the log up to the requested time. The
// restored store gets a new log name and a new secret. With the new secret, it rejects all cursors and event sources of
// version 10 from before the restore, which may refer to commits that the restored state does not contain.

import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { endOfTime } from '../base/micros.ts'
import { systemRandom } from '../base/random.ts'
import { causeText } from '../storage/kv/store-errors.ts'
import { checkDataFile, dataFileName } from '../storage/lmdb/data-file.ts'
import { closeFolder, type OpenFolder, openFolder, ownerOnly } from '../storage/lmdb/folder.ts'
import { assertRoom, freeBytes } from '../storage/lmdb/room.ts'
import { applyBatches } from '../storage/log/apply.ts'
import { readPosition, renameLog } from '../storage/log/position.ts'
import type { BatchSpan } from '../storage/log/segment.ts'
import { logNameBytes } from '../storage/log/segment-format.ts'
import { flush } from '../storage/log/store-copy.ts'
import { secretKeyRow } from '../storage/store/records.ts'
import { formatMicros } from '../values/time.ts'
import { writeParts } from './base-copy.ts'
import { type RestorePlan, readBase } from './catalogue.ts'
import { commitsIn, recordsIn, unpackObject } from './object-format.ts'
import { lineageBytes, partObject, pieceObject } from './object-names.ts'
import { BackupError, type BackupTarget } from './target.ts'

/**
 * Restores a planned state into the empty folder `folder`; the data file is durable when the promise resolves. Holds
 * one object in memory at a time. `onProgress` gets the restored share, from 0 to 1: up to 0.5 for the base copy, then
 * for the log. Throws {@link BackupError} when an object is missing or damaged, or the disk has too little free space.
 */
export async function restoreInto(
  target: BackupTarget,
  plan: RestorePlan,
  folder: string,
  onProgress: (share: number) => void = () => undefined,
): Promise<void> {
  const { base, pieces } = plan
  const file = join(folder, dataFileName)
  const { bytes, parts } = await readBase(target, base)
  const free = freeBytes(folder)
  if (bytes > free)
    throw new BackupError(`the data needs ${bytes} free bytes on the disk of ${folder}, which has ${free}`)
  const names = Array.from({ length: parts }, (_, number) => partObject(base, number))
  await writeParts(target, names, file, bytes, done => onProgress(done / bytes / 2))
  checkDataFile(file)
  const restored = openFolder(folder, { use: 'existing', durable: false })
  try {
    await replay(target, plan, restored, folder, done => onProgress((1 + done / pieces.length) / 2))
    // The two rows are the name of the log and the secret.
    assertRoom({ rows: 2, bytes: 0 }, freeBytes(folder))
    renewNameAndSecret(restored)
  } finally {
    await closeFolder(restored)
  }
  await chmod(file, ownerOnly.permissionsMode)
  flush(file)
}

/** Applies the records after the base copy of the plan. Skips commits later than the time of the plan. */
async function replay(
  target: BackupTarget,
  { at = endOfTime, base, pieces }: RestorePlan,
  restored: OpenFolder,
  folder: string,
  onPiece: (done: number) => void,
): Promise<void> {
  let place = base.place
  /** The time of the newest commit that was applied. */
  let time = base.time
  /** True after the first commit that was skipped because it is later than `at`. */
  let isOver = false
  const broken = (what: string) =>
    new BackupError(
      `${what} in the backup ${target.name}; the newest restorable time before it is ${formatMicros(time)}`,
    )
  for (const [number, piece] of pieces.entries()) {
    const name = pieceObject(piece)
    const object = await target.get(name)
    if (object === undefined) throw broken(`the object ${name} is missing`)
    const bytes = await unpackObject(name, object).catch(cause => {
      throw broken(causeText(cause))
    })
    const batches: BatchSpan[] = []
    for (const record of recordsIn(bytes)) {
      if (record.sequence <= place.sequence) continue
      if (record.sequence !== place.sequence + 1 || record.before !== place.checksum)
        throw broken(`the object ${name} does not continue the records before it`)
      place = record
      if (isOver) continue
      // A record contains one or more commits in the order of their times.
      const commits = commitsIn(bytes, record)
      const wanted = commits.filter(commit => commit.time <= at)
      time = wanted.at(-1)?.time ?? time
      isOver = wanted.length < commits.length
      const { batchStart } = record
      const batchEnd = isOver ? (wanted.at(-1)?.end ?? batchStart) : record.batchEnd
      if (batchEnd > batchStart) batches.push({ batchStart, batchEnd })
    }
    applyBatches(restored, bytes, batches, freeBytes(folder))
    onPiece(number + 1)
  }
}

/**
 * Gives the log a new name, which keeps the lineage (object-names.ts) of the old name. Removes the secret, so that the
 * store generates another one.
 */
function renewNameAndSecret({ root, trees }: OpenFolder): void {
  const before = readPosition(root)
  const log = systemRandom.bytes(logNameBytes)
  if (before) log.set(before.log.subarray(0, lineageBytes))
  renameLog(root, log)
  root.transactionSync(() => {
    trees.of(secretKeyRow).remove(secretKeyRow)
  })
}

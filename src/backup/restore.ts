// Restores a state into a new data file, from a base copy and the records of the log up to the requested time. The
// restored store gets a new log name and a new secret. With the new secret, it rejects all cursors and event sources of
// version 10 from before the restore, which may refer to commits that the restored state does not contain.

import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { endOfTime, type Micros } from '../base/micros.ts'
import { systemRandom } from '../base/random.ts'
import { causeText } from '../storage/kv/store-errors.ts'
import { checkDataFile, dataFileName } from '../storage/lmdb/data-file.ts'
import { closeFolder, type OpenFolder, openFolder, ownerOnly } from '../storage/lmdb/folder.ts'
import { assertRoom, freeBytes } from '../storage/lmdb/room.ts'
import { applyBatches, type BatchSpan } from '../storage/log/apply.ts'
import { readPosition, renameLog } from '../storage/log/position.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import { logNameBytes } from '../storage/log/segment-format.ts'
import { flush } from '../storage/log/store-copy.ts'
import { secretKeyRow } from '../storage/store/records.ts'
import { formatMicros } from '../values/time.ts'
import { writeParts } from './base-copy.ts'
import { type RestorePlan, readBase } from './catalogue.ts'
import { commitsIn, type PieceRecord, recordsIn, unpackObject } from './object-format.ts'
import { type BaseName, lineageBytes, type PieceName, partObject, pieceObject } from './object-names.ts'
import { BackupError, type BackupTarget } from './target.ts'

/**
 * Restores a planned state into the empty folder `folder`; the data file is durable when the promise resolves. Holds
 * one object in memory at a time. `onProgress` gets the restored share, from 0 to 1: up to 0.5 for the base copy, then
 * for the log. Throws {@link BackupError} when an object is missing or damaged.
 */
export async function restoreInto(
  target: BackupTarget,
  { at, base, pieces }: RestorePlan,
  folder: string,
  onProgress: (share: number) => void = () => undefined,
): Promise<void> {
  const file = join(folder, dataFileName)
  const { bytes, parts } = await readBase(target, base)
  const free = freeBytes(folder)
  if (bytes > free)
    throw new BackupError(`the data needs ${bytes} free bytes on the disk of ${folder}, which has ${free}`)
  const names = Array.from({ length: parts }, (_, number) => partObject(base, number))
  await writeParts(target, names, {
    bytes,
    file,
    onPart: done => onProgress(done / bytes / 2),
  })
  checkDataFile(file)
  const restored = openFolder(folder, { use: 'reading', durable: false })
  const replay = new Replay(target, folder, restored, base)
  try {
    for (const [number, piece] of pieces.entries()) {
      await replay.apply(piece, at)
      onProgress((1 + (number + 1) / pieces.length) / 2)
    }
    assertRoom({ rows: 2, bytes: 0 }, freeBytes(folder))
    renewNameAndSecret(restored)
  } finally {
    await closeFolder(restored)
  }
  await chmod(file, ownerOnly.permissionsMode)
  flush(file)
}

class Replay {
  readonly #target: BackupTarget
  readonly #folder: string
  readonly #restored: OpenFolder
  #place: ChainPlace
  /** True after the first commit that was skipped because it is later than the requested time. */
  #isOver = false
  /** The time of the newest commit that was applied. */
  #time: Micros

  constructor(
    target: BackupTarget,
    folder: string,
    restored: OpenFolder,
    { place, time }: Pick<BaseName, 'place' | 'time'>,
  ) {
    this.#target = target
    this.#folder = folder
    this.#restored = restored
    this.#place = place
    this.#time = time
  }

  /** Applies the records of a piece. Skips records that are applied already, and commits later than the time `at`. */
  async apply(piece: PieceName, at: Micros | undefined): Promise<void> {
    const name = pieceObject(piece)
    const object = await this.#target.get(name)
    if (object === undefined) throw this.#broken(`the object ${name} is missing`)
    const bytes = await unpackObject(name, object).catch(cause => {
      throw this.#broken(causeText(cause))
    })
    const batches: BatchSpan[] = []
    for (const record of recordsIn(bytes)) {
      if (record.sequence <= this.#place.sequence) continue
      if (record.sequence !== this.#place.sequence + 1 || record.before !== this.#place.checksum)
        throw this.#broken(`the object ${name} does not continue the records before it`)
      this.#place = record
      if (this.#isOver) continue
      const batchEnd = this.#endAt(bytes, record, at)
      if (batchEnd > record.batchStart) batches.push({ batchStart: record.batchStart, batchEnd })
    }
    applyBatches(this.#restored, bytes, batches, freeBytes(this.#folder))
  }

  /**
   * Returns the offset after the last commit up to the time `at`; a record contains one or more commits in the order of
   * their times. Updates `#time` and `#isOver`.
   */
  #endAt(bytes: Buffer, record: PieceRecord, at: Micros = endOfTime): number {
    const commits = commitsIn(bytes, record)
    const wanted = commits.filter(({ time }) => time <= at)
    this.#time = wanted.at(-1)?.time ?? this.#time
    this.#isOver = wanted.length < commits.length
    return this.#isOver ? (wanted.at(-1)?.end ?? record.batchStart) : record.batchEnd
  }

  #broken(what: string): BackupError {
    const end = `the newest restorable time before it is ${formatMicros(this.#time)}`
    return new BackupError(`${what} in the backup ${this.#target.name}; ${end}`)
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

// The files of a commit log: one for each segment, in a folder of the data directory. The next file is prepared in
// advance: zero-filled or reused, and then flushed, like the folder with its name. So an append changes only the
// content of a file, and one flush of the content makes the append durable.

import {
  close,
  constants,
  fdatasync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  write,
} from 'node:fs'
import { type FileHandle, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeFolder } from '../../base/folders.ts'
import { ifPresent } from '../../base/if-present.ts'
import type { Bytes } from '../kv/kv-contract.ts'

/** Ends the name of a file that is being filled. */
const temporarySuffix = '.draft'

/** The folder of segments in a data directory. */
export const logFolder = 'commit-log'

/** A segment for a larger record is larger. */
export const segmentBytesDefault = 8 * 1024 * 1024

/** Maximum number of files that are kept for reuse. */
const sparesMax = 2
/**
 * Each write to a new file adds so few zeros, because the page cache manages the pages of one write as a unit, and
 * later writes to a large unit take longer.
 */
const zeros = Buffer.alloc(65_536)

/** A segment file that is open for writing. */
export interface SegmentFile {
  readonly number: number
  readonly bytes: number
  readonly descriptor: number
}

export const pathOf = (folder: string, number: number) => join(folder, String(number).padStart(16, '0'))

/** Ascending; empty when the folder does not exist. */
export function segmentNumbers(folder: string): number[] {
  const names = ifPresent(() => readdirSync(folder)) ?? []
  const numbers = names.filter(name => /^\d{16}$/.test(name)).map(Number)
  return numbers.sort((left, right) => left - right)
}

/** The operations of a commit log on a disk. */
export interface LogDisk {
  /** If a system call writes only a part of `piece`, further calls write the rest. */
  write(descriptor: number, piece: Piece, offset: number): Promise<void>
  /** Flags for opening a segment, besides reading and writing. */
  readonly openFlags: number
  /** Waits until the written data of a file is on disk. Undefined if `write` itself flushes. */
  flush?(descriptor: number): Promise<void>
  /** Waits until the names in a folder are on disk. */
  flushFolder(path: string): Promise<void>
}

export interface Piece {
  readonly bytes: Bytes
  readonly start: number
  readonly end: number
}

/** Flushes separately after each write, which macOS needs; Windows has no flag for writes that flush. */
export const flushedDisk = {
  openFlags: 0,
  write: writeAt,
  flush: promisify(fdatasync),
  flushFolder,
} satisfies LogDisk

/** On Linux, a single call writes and flushes, which halves the time that an append waits for Node's threads. */
export const systemDisk: LogDisk =
  process.platform === 'linux' ? { openFlags: constants.O_DSYNC, write: writeAt, flushFolder } : flushedDisk

export class SegmentFiles {
  readonly #folder: string
  readonly #disk: LogDisk
  readonly #segmentBytes: number
  /** Files that can be reused: they have the ordinary size, and LMDB contains all their records. */
  readonly #spares: number[] = []

  constructor(folder: string, disk: LogDisk, segmentBytes: number) {
    this.#folder = folder
    this.#disk = disk
    this.#segmentBytes = segmentBytes
    makeFolder(folder, 0o700)
    // A killed process may have left temporary files, which would take space forever.
    for (const name of readdirSync(folder))
      if (name.endsWith(temporarySuffix)) rmSync(join(folder, name), { force: true })
  }

  /** Creates or reuses a file; resolves when it is ready for appends. */
  async make(number: number, bytes: number): Promise<SegmentFile> {
    const path = pathOf(this.#folder, number)
    const spare = bytes === this.#segmentBytes ? this.#takeSpare(number) : undefined
    let name = spare
    try {
      if (spare === undefined) await fill(path, bytes)
      else if (spare !== number) await rename(pathOf(this.#folder, spare), path)
      name = number
      await this.#disk.flushFolder(this.#folder)
      return { number, bytes, descriptor: openSync(path, constants.O_RDWR | this.#disk.openFlags) }
    } catch (error) {
      // The next attempt uses the file again, and needs no further space.
      if (name !== undefined && bytes === this.#segmentBytes) this.#spares.unshift(name)
      throw error
    }
  }

  /** All records of a segment are in LMDB, so its file is reused or removed. */
  free(number: number): void {
    try {
      if (this.#isOrdinary(number) && this.#spares.length < sparesMax) this.#spares.push(number)
      else unlinkSync(pathOf(this.#folder, number))
    } catch {
      // A disk that cannot remove the file stops neither commits nor the thread that applies segments. The next start
      // frees the file.
    }
  }

  /**
   * Frees the files when the log is opened. The file of segment `next` keeps its name until the segment is written.
   * Without this file, readLog (replay.ts) may report the log as incomplete, even if LMDB contains all records.
   */
  freeAll(numbers: readonly number[], next: number): void {
    if (numbers.includes(next) && this.#isOrdinary(next)) this.#spares.push(next)
    for (const number of numbers) if (number !== next) this.free(number)
  }

  /** Prefers the file that already has the name of segment `number`. */
  #takeSpare(number: number): number | undefined {
    const at = this.#spares.indexOf(number)
    return at === -1 ? this.#spares.shift() : this.#spares.splice(at, 1)[0]
  }

  #isOrdinary(number: number): boolean {
    return statSync(pathOf(this.#folder, number)).size === this.#segmentBytes
  }
}

async function fill(path: string, bytes: number): Promise<void> {
  // A temporary file does not have the name of a segment, so an unfinished file is ignored after a crash.
  const temporary = `${path}${temporarySuffix}`
  try {
    const file: FileHandle = await open(temporary, 'w', 0o600)
    try {
      for (let at = 0; at < bytes; ) {
        const { bytesWritten } = await file.write(zeros, 0, Math.min(zeros.length, bytes - at), at)
        at += bytesWritten
      }
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    // The temporary file must not take the last bytes of the disk.
    rmSync(temporary, { force: true })
    throw error
  }
}

export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function writeAt(descriptor: number, { bytes, end, start }: Piece, offset: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writeFrom = (from: number) =>
      write(descriptor, bytes, from, end - from, offset + from - start, (error, written) => {
        if (error) reject(error)
        else if (from + written < end) writeFrom(from + written)
        else resolve()
      })
    writeFrom(start)
  })
}

export const closeFile: (descriptor: number) => Promise<void> = promisify(close)

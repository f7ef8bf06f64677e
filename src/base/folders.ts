// Makes names of files durable. A flush of a file does not flush its name: after a power failure, a file can be absent
// although its content is on disk, unless the folder that contains the name was flushed.

import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The codes of errors after which names are possibly not on disk. */
const failures: ReadonlySet<unknown> = new Set(['EIO', 'ENOSPC', 'EDQUOT'])

/**
 * Flushes the names in a folder. Does nothing where flushing is impossible: Windows and some network file systems
 * cannot flush folders, and the parent of a data directory may not be readable.
 */
export function flushNames(folder: string): void {
  let descriptor: number | undefined
  try {
    descriptor = openSync(folder, 'r')
    fsyncSync(descriptor)
  } catch (error) {
    if (failures.has((error as NodeJS.ErrnoException).code)) throw error
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Creates a folder and its missing parents. Returns when their names are on disk. */
export function makeFolder(path: string, mode?: number): void {
  const first = mkdirSync(path, { recursive: true, mode })
  if (first === undefined) return
  const highest = dirname(resolve(first))
  for (let parent = dirname(resolve(path)); ; parent = dirname(parent)) {
    flushNames(parent)
    if (parent === highest) return
  }
}

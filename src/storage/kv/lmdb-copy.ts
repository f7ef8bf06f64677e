// Copies of a whole store for backups. LMDB copies one snapshot, on a thread of its own, while others go on writing;
// pages that hold nothing any more are left out.

import { chmodSync, closeSync, fsyncSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreUnavailableError, wordsOf } from './errors.ts'
import { dataFileName } from './lmdb-data-file.ts'
import { openFolder, ownerOnly } from './lmdb-folder.ts'

/**
 * Copies the store in the folder `from` into the folder `to`, which exists and is empty. Durable when it resolves.
 * Throws {@link StoreUnavailableError}.
 */
export async function copyStore(from: string, to: string): Promise<void> {
  const { newest, root } = openFolder(from)
  try {
    await root.backup(to, true)
  } catch (cause) {
    throw new StoreUnavailableError(`the store cannot be copied to ${to}: ${wordsOf(cause)}`, { cause })
  } finally {
    await root.close()
    newest.close()
  }
  const copy = join(to, dataFileName)
  chmodSync(copy, ownerOnly.permissionsMode)
  flush(copy)
  flush(to)
}

/** Bytes of the data file of a folder, pages without content included; 0 when there is none. */
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

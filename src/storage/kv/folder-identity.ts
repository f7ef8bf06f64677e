// The identity of the data directory at a path. A folder can be renamed, removed or replaced while a service has its
// files open. The service would continue with the old files, while processes that it starts would open the new ones. So
// a process that opens the folder on behalf of a service compares the identity with that of the service. Open files
// keep their inode numbers.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreUnavailableError } from './errors.ts'
import { claimFiles } from './lmdb-claim.ts'
import { dataFileName } from './lmdb-data-file.ts'

/** Nodes with a shared store have no data file in this folder, and new folders do not have a data file yet. */
const absent = '-'

const files = [...claimFiles, dataFileName]

/** The identity of the data directory at a path, as determined by a process that has its files open. */
export function identityOf(folder: string): string {
  return files.map(name => fileNumber(join(folder, name))).join(' ')
}

function fileNumber(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? absent : `${found.dev}:${found.ino}`
}

/**
 * Throws {@link StoreUnavailableError} unless the data directory at a path has this identity. Files may have been added
 * since the identity was determined.
 */
export function assertIdentity(folder: string, identity: string): void {
  const numbers = identityOf(folder).split(' ')
  const isSame = identity.split(' ').every((number, at) => number === absent || number === numbers[at])
  if (!isSame) throw new StoreUnavailableError(`the data directory ${folder} ${replaced}`)
}

const replaced = 'has been renamed, removed or replaced while it was being served'

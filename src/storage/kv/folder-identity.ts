// Which data directory lies at a path. A folder can be renamed, removed or replaced while a service has its files open:
// the service would go on with those, and what it starts would open whatever is there now. So a process that
// opens the folder on behalf of a service compares it with the one that the service holds. Open files keep their numbers.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreUnavailableError } from './errors.ts'
import { claimFiles } from './lmdb-claim.ts'
import { dataFileName } from './lmdb-data-file.ts'

/** Nodes over a shared store have no data file here, and new folders have none yet. */
const absent = '-'

const files = [...claimFiles, dataFileName]

/** The identity of the data directory at a path; told by a process that has its files open. */
export function identityOf(folder: string): string {
  return files.map(name => fileNumber(join(folder, name))).join(' ')
}

function fileNumber(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? absent : `${found.dev}:${found.ino}`
}

/**
 * Throws {@link StoreUnavailableError} unless the data directory at a path is the one with that identity. What that one did
 * not have may have come since.
 */
export function assertIdentity(folder: string, identity: string): void {
  const numbers = identityOf(folder).split(' ')
  const isSame = identity.split(' ').every((number, at) => number === absent || number === numbers[at])
  if (!isSame) throw new StoreUnavailableError(`the data directory ${folder} ${replaced}`)
}

const replaced = 'has been renamed, removed or replaced while it was being served'

// Claims a data directory for at most one service at a time. Node has no file locks, but LMDB locks its lock file for
// every process that reads. The system releases the lock when the process exits, for any reason. So the claim is a
// small LMDB environment from which only processes with a claim read. A process that finds another live reader in this
// environment cannot claim the directory. A claimed directory has an identity: the inode numbers of its files. A
// process uses the identity to check that a path still leads to the claimed directory.

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { causeText, FolderInUseError, StoreUnavailableError } from '../kv/store-errors.ts'
import { prepareClaimFile } from './claim-file.ts'
import { dataFileName } from './data-file.ts'
import { ownerOnly } from './folder.ts'
import { assertRoom, freeBytes } from './room.ts'

const fileName = 'service'

/**
 * Never removed, because another process may have the lock file open: removing it would break the lock of that process.
 */
export const claimFiles: readonly string[] = [fileName, `${fileName}-lock`]

const mapSizeBytes = 1 << 20

/**
 * Claims the folder for this process until the returned function is called. Throws {@link FolderInUseError} when
 * another process has claimed the folder, or tries at the same time, and {@link StoreUnavailableError} when the folder
 * cannot be written.
 */
export function claimFolder(folder: string): () => Promise<void> {
  const claims = openClaims(folder)
  // Precedes the first read, which takes the lock. A process in another container may have the same process id, so
  // after a read, this process could not distinguish its own lock from the lock of such a process.
  rejectClaimed(claims, folder, 0)
  claims.get('claim')
  // If two processes start at the same time, at least one of them now finds the reader of the other.
  rejectClaimed(claims, folder, 1)
  return () => claims.close()
}

/** Adds this process to the claim of its parent process: if the parent is killed, the folder stays claimed. */
export function joinClaim(folder: string): () => Promise<void> {
  const claims = openClaims(folder)
  claims.get('claim')
  return () => claims.close()
}

export function isClaimed(folder: string): boolean {
  if (!existsSync(join(folder, fileName))) return false
  const claims = openClaims(folder)
  try {
    return readersOf(claims).length > 0
  } finally {
    void claims.close()
  }
}

function openClaims(folder: string): RootDatabase {
  const path = join(folder, fileName)
  try {
    // LMDB maps its new lock file before the file has blocks on the disk. Without free blocks, a bus error kills the
    // process.
    if (!existsSync(`${path}-lock`)) assertRoom({ rows: 0, bytes: 0 }, freeBytes(folder))
    prepareClaimFile(path, mapSizeBytes, ownerOnly.permissionsMode)
    return open({ path, noSubdir: true, mapSize: mapSizeBytes, ...ownerOnly })
  } catch (cause) {
    throw new StoreUnavailableError(`the data directory ${folder} cannot be claimed: ${causeText(cause)}`, {
      cause,
    })
  }
}

/** Throws if another process has a live reader. `own`: the number of readers of this process. */
function rejectClaimed(claims: RootDatabase, folder: string, own: number): void {
  const pids = readersOf(claims)
  const otherPid = pids.find(pid => pid !== process.pid)
  if (otherPid === undefined && pids.length <= own) return
  void claims.close()
  const other = otherPid ?? `${process.pid} of another container`
  throw new FolderInUseError(`the data directory ${folder} is in use by process ${other}`)
}

/** The process ids of the live readers; in a container, the id within the container. */
function readersOf(claims: RootDatabase): number[] {
  // Removes the readers whose process has exited.
  claims.readerCheck()
  const rows = claims.readerList().split('\n').slice(1)
  return rows.map(row => Number(row.trim().split(/\s+/)[0])).filter(pid => pid > 0)
}

/**
 * Represents a missing file in an identity. The data file is missing in a new folder, and in the folder of a node over
 * PostgreSQL.
 */
const absent = '-'

const identityFiles = [...claimFiles, dataFileName]

/**
 * A folder can be renamed, removed or replaced while a service has its files open. The service would continue with the
 * old files, while processes that it starts would open the new files. So a process that opens the folder on behalf of a
 * service compares the folder's identity with the identity that the service has determined. The inode number of an open
 * file is not reused, so equal numbers mean the same file. The calling process must have the files of the directory
 * open.
 */
export function identityOf(folder: string): string {
  return identityFiles.map(name => fileNumber(join(folder, name))).join(' ')
}

function fileNumber(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? absent : `${found.dev}:${found.ino}`
}

/** Throws {@link StoreUnavailableError} for another identity. Files that were added later are not compared. */
export function assertIdentity(folder: string, identity: string): void {
  const numbers = identityOf(folder).split(' ')
  const isSame = identity.split(' ').every((number, at) => number === absent || number === numbers[at])
  if (!isSame) throw new StoreUnavailableError(`the data directory ${folder} ${replaced}`)
}

const replaced = 'has been renamed, removed or replaced while it was being served'

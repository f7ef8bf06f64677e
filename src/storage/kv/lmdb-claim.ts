// Claims a data directory for at most one service at a time. Node has no file locks, but LMDB locks its lock file for
// every process that reads. The system releases the lock when the process exits, for any reason. So the claim is a
// small LMDB environment that only services open. A service that finds another live reader in it cannot claim the
// directory. A claimed directory has an identity: the inode numbers of its files. A process uses the identity to check
// that a path still leads to the claimed directory.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { dataFileName } from './lmdb-data-file.ts'
import { ownerOnly } from './lmdb-folder.ts'
import { FolderInUseError, StoreUnavailableError, wordsOf } from './store-errors.ts'

const fileName = 'service'

/**
 * The files of a claim, which stay in the folder: removing a lock file that another process may have open would break
 * its lock.
 */
export const claimFiles: readonly string[] = [fileName, `${fileName}-lock`]

const mapSizeBytes = 1 << 20

/**
 * Claims the folder for this process until the returned function is called. Throws {@link FolderInUseError} when
 * another process has claimed it, or when two processes try at the same moment; {@link StoreUnavailableError} when the
 * folder cannot be written.
 */
export function claimFolder(folder: string): () => Promise<void> {
  const claims = openClaims(folder)
  // This check precedes the first read, which takes the lock. A process in another container may have the same process
  // number. After a read, this process could not distinguish the other lock from its own.
  rejectClaimed(claims, folder, 0)
  claims.get('claim')
  // Checked again, so that of two processes that start at the same moment at least one sees the other.
  rejectClaimed(claims, folder, 1)
  return () => claims.close()
}

/**
 * Shares the claim of the parent process: if the parent is killed, the folder stays claimed while this process lives.
 */
export function joinClaim(folder: string): () => Promise<void> {
  const claims = openClaims(folder)
  claims.get('claim')
  return () => claims.close()
}

function openClaims(folder: string): RootDatabase {
  try {
    return open({
      path: join(folder, fileName),
      noSubdir: true,
      mapSize: mapSizeBytes,
      maxReaders: 126,
      ...ownerOnly,
    })
  } catch (cause) {
    throw new StoreUnavailableError(`the data directory ${folder} cannot be claimed: ${wordsOf(cause)}`, {
      cause,
    })
  }
}

/** Throws when there are live readers besides the `own` readers of this process. */
function rejectClaimed(claims: RootDatabase, folder: string, own: number): void {
  const pids = readersOf(claims)
  const stranger = pids.find(pid => pid !== process.pid)
  if (stranger === undefined && pids.length <= own) return
  void claims.close()
  const other = stranger ?? `${process.pid} of another container`
  throw new FolderInUseError(`the data directory ${folder} is in use by process ${other}`)
}

/**
 * The process numbers of the live readers; in a container, a process enters the number that the container shows. LMDB
 * locks a row for each reader.
 */
function readersOf(claims: RootDatabase): number[] {
  // Removes the readers whose process has exited.
  claims.readerCheck()
  const rows = claims.readerList().split('\n').slice(1)
  return rows.map(row => Number(row.trim().split(/\s+/)[0])).filter(pid => pid > 0)
}

// The identity of the data directory at a path. A folder can be renamed, removed or replaced while a service has its
// files open. The service would continue with the old files, while processes that it starts would open the new ones. So
// a process that opens the folder on behalf of a service compares the identity with that of the service. The inode
// number of an open file is not reused, so equal numbers mean the same file.

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

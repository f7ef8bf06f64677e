// A claim on a data directory: at most one service at a time. Node has no file locks, but LMDB takes one on its lock
// file for every process that reads; the system releases it when the process ends, however it ends. So the claim is
// a small environment of its own that only services open, and a service that finds another live reader in it comes second.

import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { FolderInUseError, StoreUnavailableError, wordsOf } from './errors.ts'
import { ownerOnly } from './lmdb-folder.ts'

const fileName = 'service'

/** What claiming leaves in a folder for good: removing a lock that another process may have open would break it. */
export const claimFiles: readonly string[] = [fileName, `${fileName}-lock`]

const mapSizeBytes = 1 << 20

/**
 * Claims the folder for this process until the returned function is called. Throws {@link FolderInUseError} when another
 * process has it, or when two try at the same moment; {@link StoreUnavailableError} when the folder cannot be written to.
 */
export function claimFolder(folder: string): () => Promise<void> {
  const claims = openClaims(folder)
  // Looked at before the first read takes the lock: a process in another container may have the number of this one,
  // and what it holds would be taken for ours from then on, and be let go with it.
  refuseHeld(claims, folder, 0)
  claims.get('claim')
  // Looked at again, so that one of two that come at the same moment always sees the other.
  refuseHeld(claims, folder, 1)
  return () => claims.close()
}

/**
 * Shares the claim of the process that started this one: should that be killed, the folder stays claimed for as long as
 * this one lives.
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

/** Throws when there are live readers beside the `own` ones of this process. */
function refuseHeld(claims: RootDatabase, folder: string, own: number): void {
  const pids = readersOf(claims)
  const stranger = pids.find(pid => pid !== process.pid)
  if (stranger === undefined && pids.length <= own) return
  void claims.close()
  const other = stranger ?? `${process.pid} of another container`
  throw new FolderInUseError(`the data directory ${folder} is in use by process ${other}`)
}

/** The numbers of the processes that live and have read, as each of them knows its own: LMDB locks a row for each. */
function readersOf(claims: RootDatabase): number[] {
  // Takes those out whose process is gone.
  claims.readerCheck()
  const rows = claims.readerList().split('\n').slice(1)
  return rows.map(row => Number(row.trim().split(/\s+/)[0])).filter(pid => pid > 0)
}

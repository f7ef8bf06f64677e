// A claim on a data folder: at most one service at a time. Node has no file locks, but LMDB takes one on its lock
// file for every process that reads; the system releases it when the process ends, however it ends. So the claim is
// a small environment of its own that only services open, and whoever finds another live reader in it comes second.

import { join } from 'node:path'
import { open } from 'lmdb'
import { StoreUnavailableError } from './errors.ts'

const fileName = 'service'
const mapSizeBytes = 1 << 20

/**
 * Claims the folder for this process until the answer is called. Throws {@link StoreUnavailableError} when another
 * process has it, or when two try at the same moment.
 */
export function claimFolder(folder: string): () => Promise<void> {
  const claims = open({
    path: join(folder, fileName),
    noSubdir: true,
    mapSize: mapSizeBytes,
    maxReaders: 126,
  })
  // The first read takes the lock; only then are the others looked at, so that one of two always sees the other.
  claims.get('claim')
  claims.readerCheck()
  const other = holders(claims.readerList()).find(pid => pid !== process.pid)
  if (other === undefined) return () => claims.close()
  void claims.close()
  throw new StoreUnavailableError(`the data folder ${folder} is in use by process ${other}`)
}

/** The first column of the table that LMDB prints. */
function holders(table: string): number[] {
  const rows = table.split('\n').slice(1)
  return rows.map(row => Number(row.trim().split(/\s+/)[0])).filter(pid => pid > 0)
}

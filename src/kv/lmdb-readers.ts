// Who has an LMDB environment open for reading: its lock file has a table of them, and a lock for each that lives.

import type { RootDatabase } from 'lmdb'

/** The numbers of the processes that live and have read, as each of them knows its own. */
export function readersOf(root: Pick<RootDatabase, 'readerCheck' | 'readerList'>): number[] {
  // Takes those out whose process is gone.
  root.readerCheck()
  const rows = root.readerList().split('\n').slice(1)
  return rows.map(row => Number(row.trim().split(/\s+/)[0])).filter(pid => pid > 0)
}

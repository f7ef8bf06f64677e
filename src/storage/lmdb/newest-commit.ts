// Detects commits that LMDB has forgotten. All processes that share a folder read the number of the newest commit from
// the lock file. In LMDB's development branch, from which lmdb-js is built, opening an environment overwrites that
// number (OpenLDAP ITS#9496). The new value is the number that the opening process has read from the data file shortly
// before. If another process commits after this read, LMDB forgets the commit of that process. The next commit then
// overwrites an acknowledged commit.
//
// Therefore a process compares the number in the lock file with the meta pages of the data file, which are always
// correct. The process makes this comparison when it opens the environment, and before the first write of every write
// transaction.

import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { RootDatabase } from 'lmdb'
import { commitOffsets, dataFileName } from './data-file.ts'

/** Thrown before a write that would overwrite the newest commit, which LMDB has forgotten. */
export class ForgottenCommitError extends Error {
  override readonly name = 'ForgottenCommitError'

  constructor() {
    super('another process was killed while it opened the store: restart all processes that use the store')
  }
}

/** Reads from the data file of an existing data directory. */
export class NewestCommit {
  readonly #descriptor: number
  readonly #bytes = Buffer.alloc(8)

  constructor(folder: string) {
    this.#descriptor = openSync(join(folder, dataFileName), 'r')
  }

  /** Throws {@link ForgottenCommitError} if LMDB has forgotten the newest commit. */
  assertNotForgotten(root: Pick<RootDatabase, 'getWriteTxnId'>): void {
    if (this.#read() >= root.getWriteTxnId()) throw new ForgottenCommitError()
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #read(): number {
    let newest = 0
    for (const offset of commitOffsets) {
      readSync(this.#descriptor, this.#bytes, 0, 8, offset)
      newest = Math.max(newest, Number(this.#bytes.readBigUInt64LE(0)))
    }
    return newest
  }
}

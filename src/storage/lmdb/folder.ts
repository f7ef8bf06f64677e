// Opens the LMDB environment of a data directory. Checks the folder before lmdb-js opens it: if lmdb-js fails to open a
// folder, the process is killed with a segmentation fault.

import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import { flushNames, makeFolder } from '../../base/folders.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import { keyEncoder, valueEncoder } from './codec.ts'
import { checkDataFile, dataFileName, pageBytes } from './data-file.ts'
import { ForgottenCommitError, NewestCommit } from './newest-commit.ts'
import { assertRoom, freeBytes } from './room.ts'
import { Trees, treeCount } from './trees.ts'

/** lmdb-js represents an environment by its main table. */
export type Environment = RootDatabase<Bytes, Bytes>

export interface OpenFolder {
  readonly root: Environment
  readonly trees: Trees
  readonly newest: NewestCommit
}

/**
 * Key of the layout version in the environment's main table. The row also shows that the folder belongs to this
 * program.
 */
const layoutKey = Buffer.from('layout')
/** Folders without a commit log, such as the replica of a store in PostgreSQL. LMDB contains all rows. */
export const plainLayout = '5'
/** Folders with a commit log, which may contain newer rows than LMDB. */
export const loggedLayout = '6'

/**
 * Only the owner may read the files, because they contain hashes of passwords. The types of lmdb-js lack this option.
 */
export const ownerOnly = { permissionsMode: 0o600 }

/**
 * Suppresses console errors whose stack begins in lmdb-js, which also rejects a promise when a commit fails. The caller
 * reports the rejection.
 */
function silenceCommitErrors(): void {
  const write = console.error
  console.error = (...words: unknown[]) => {
    const [error] = words
    const isOfLmdb =
      error instanceof Error && /^\s+at .*[\\/]node_modules[\\/]lmdb[\\/]/m.test(firstFrame(error))
    if (!isOfLmdb) write(...words)
  }
}

function firstFrame({ stack = '' }: Error): string {
  return stack.split('\n').find(line => line.trimStart().startsWith('at ')) ?? ''
}

silenceCommitErrors()

const mapBytesDefault = 2 ** 40

const codec = { keyEncoder, encoder: valueEncoder, encoding: 'binary' as const }

interface FolderOptions {
  /** Address space for the data, in bytes; uses neither memory nor disk. */
  readonly mapSizeBytes?: number | undefined
  readonly durable?: boolean | undefined
  readonly use?: FolderUse
}

/**
 * `plain` (the default): the folder has no commit log. `logged`: it has a commit log; a plain folder gets this layout.
 * `existing`: keeps the layout of a folder that already contains data.
 */
type FolderUse = 'plain' | 'logged' | 'existing'

/**
 * Opens (or creates) the environment in the folder `path`, and its trees ({@link Trees}). If `durable` is false,
 * nothing is flushed: a crash of the machine, but not of the process, may damage the environment. Throws
 * {@link StoreUnavailableError} when the folder is not writable or contains other data, such as data in another layout.
 */
export function openFolder(
  path: string,
  { durable = true, mapSizeBytes: mapSize = mapBytesDefault, use = 'plain' }: FolderOptions = {},
): OpenFolder {
  let newest: NewestCommit | undefined
  try {
    checkFolder(path)
    for (let attempt = 1; ; attempt++) {
      const root = openEnvironment(path, mapSize, durable)
      try {
        newest ??= new NewestCommit(path)
        const trees = openTrees(root, path, use, newest)
        // LMDB flushes its file, but not the name of a new file.
        if (durable && use !== 'existing') flushNames(path)
        return { root, trees, newest }
      } catch (error) {
        void root.close()
        // Opening the environment has made LMDB forget a concurrent commit. Opening it again corrects this.
        if (!(error instanceof ForgottenCommitError) || attempt === openAttemptsMax) throw error
      }
    }
  } catch (error) {
    newest?.close()
    if (error instanceof StoreUnavailableError) throw error
    throw new StoreUnavailableError(`cannot open the store in ${path}: ${causeText(error)}`, { cause: error })
  }
}

export async function closeFolder({ newest, root }: OpenFolder): Promise<void> {
  await root.close()
  newest.close()
}

/** An attempt to open fails if another process commits within some tens of microseconds. */
const openAttemptsMax = 100

function openEnvironment(path: string, mapSize: number, durable: boolean): Environment {
  return open({
    path,
    ...codec,
    ...ownerOnly,
    mapSize,
    noSubdir: false,
    // A commit becomes visible to readers only when it is on disk.
    overlappingSync: false,
    noSync: !durable,
    pageSize: pageBytes,
    maxReaders: 1024,
    maxDbs: treeCount,
    compression: false,
  })
}

function openTrees(root: Environment, path: string, use: FolderUse, newest: NewestCommit): Trees {
  const openTree = (name: string) => root.openDB<Bytes, Bytes>(name, { ...codec })
  root.transactionSync(() => {
    newest.assertNotForgotten(root)
    storeLayout(root, path, use)
  })
  return root.transactionSync(() => {
    newest.assertNotForgotten(root)
    return new Trees(openTree)
  })
}

function checkFolder(path: string): void {
  makeFolder(path)
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  const [data, lock] = [join(path, dataFileName), join(path, 'lock.mdb')]
  for (const file of [data, lock]) {
    if (!existsSync(file)) continue
    accessSync(file, constants.R_OK | constants.W_OK)
    if (!statSync(file).isFile()) throw new StoreUnavailableError(`${file} is not a file`)
  }
  // LMDB maps its new lock file before the file has blocks on the disk. Without free blocks, a bus error kills the
  // process.
  if (!existsSync(lock)) assertRoom({ rows: 0, bytes: 0 }, freeBytes(path))
  if (existsSync(data)) checkDataFile(data)
}

/**
 * Stores the layout, which marks the environment as one of this program, and ensures that the list of free pages is not
 * empty. Throws if the environment contains other data. Must run in a write transaction.
 */
function storeLayout(root: Environment, path: string, use: FolderUse): void {
  const layout = use === 'plain' ? plainLayout : loggedLayout
  const stored = root.get(layoutKey)
  const found = stored && Buffer.from(stored).toString()
  if (found === undefined && root.getKeysCount({ limit: 1 }) > 0)
    throw new StoreUnavailableError(`${path} contains data of another program`)
  const readable = use === 'plain' ? [plainLayout] : [plainLayout, loggedLayout]
  if (found !== undefined && !readable.includes(found))
    throw new StoreUnavailableError(
      `${path} has data layout ${found}, and this version reads layout ${readable.join(' and ')} only: export the data with the version that wrote it, and import it into an empty folder`,
    )
  const written = found !== undefined && use === 'existing' ? found : layout
  if (found === written && hasFreePages(root)) return
  root.put(layoutKey, Buffer.from(written))
}

/**
 * A compacted copy has an empty list of free pages. The first transaction on an empty list kills the process if it
 * replaces more than some 250 pages (`mdb_freelist_save` in lmdb 3.5.6). Every transaction that replaces a page adds an
 * entry, so one small transaction is enough.
 */
function hasFreePages(root: Environment): boolean {
  const { free } = root.getStats() as { readonly free: { readonly entryCount: number } }
  return free.entryCount > 0
}

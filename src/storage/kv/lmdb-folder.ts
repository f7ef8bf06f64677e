// Opens the LMDB environment of a data directory. Everything that can be wrong with the folder is found out before
// lmdb-js sees it: its own failure to open ends the process with a segmentation fault.

import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'
import type { Bytes } from './contract.ts'
import { StoreUnavailableError, wordsOf } from './errors.ts'
import { keyEncoder, valueEncoder } from './lmdb-codec.ts'
import { checkDataFile, pageBytes } from './lmdb-data-file.ts'
import { ForgottenCommitError, NewestCommit } from './lmdb-newest-commit.ts'
import { assertRoom, freeBytes } from './lmdb-room.ts'
import { Trees, treeCount } from './lmdb-trees.ts'

/** The own table of an LMDB environment, which stands for the environment. */
export type Environment = RootDatabase<Bytes, Bytes>

/** An open LMDB folder. */
export interface OpenFolder {
  readonly root: Environment
  readonly trees: Trees
  /** The caller closes it after `root`. */
  readonly newest: NewestCommit
}

/** Key, in the environment's own table, of the version of our layout; says that the folder is ours. */
const layoutKey = Buffer.from('layout')
/** The layout of folders that hold all rows in LMDB: copies of a shared record, and stores beside the data directory. */
const plainLayout = '5'
/** The same rows, of which the newest may be only in a commit log beside LMDB. */
const loggedLayout = '6'
/**
 * Layout 3 lacks the order of what falls out of the history, and both have events of indexes: the store makes up what is missing
 * and removes what is not read any more (storage/store/due-filing.ts).
 */
const layoutsBefore: readonly string[] = ['3', '4']

/** The files hold hashes of passwords, in a folder that others may be able to read. lmdb-js's types lack the option. */
export const ownerOnly = { permissionsMode: 0o600 }

/**
 * lmdb-js writes the error of a failed commit to the console, with its stack, and rejects with it as well. The caller
 * reports it, so it is not written twice. Errors of its own code are known by the first line of their stack.
 */
function silenceCommitErrors(): void {
  const write = console.error
  console.error = (...words: unknown[]) => {
    const [error] = words
    const isItsOwn =
      error instanceof Error && /^\s+at .*[\\/]node_modules[\\/]lmdb[\\/]/m.test(firstFrame(error))
    if (!isItsOwn) write(...words)
  }
}

function firstFrame({ stack = '' }: Error): string {
  return stack.split('\n').find(line => line.trimStart().startsWith('at ')) ?? ''
}

silenceCommitErrors()

/** Address space set aside for the data, in bytes. */
const mapSizeDefault = 2 ** 40

const codec = { keyEncoder, encoder: valueEncoder, encoding: 'binary' as const }

interface FolderOptions {
  /** Address space set aside for the data; costs neither memory nor disk. */
  readonly mapSizeBytes?: number | undefined
  readonly durable?: boolean | undefined
  /** What opens the folder: an engine without a commit log, one with it, or one that only reads it. Absent: the first. */
  readonly use?: FolderUse
}

type FolderUse = 'plain' | 'logged' | 'reading'

/**
 * Opens (or creates) the environment in the folder `path`, with the trees that hold the entries. When not `durable`,
 * nothing is flushed: a crash of the machine, though not of the process, may leave it damaged.
 * Throws {@link StoreUnavailableError} when the folder is not writable or holds something else, such as the data of another
 * layout.
 */
export function openFolder(
  path: string,
  { durable = true, mapSizeBytes: mapSize = mapSizeDefault, use = 'plain' }: FolderOptions = {},
): OpenFolder {
  let newest: NewestCommit | undefined
  try {
    checkFolder(path)
    for (let attempt = 1; ; attempt++) {
      const root = openEnvironment(path, mapSize, durable)
      try {
        newest ??= new NewestCommit(path)
        return { root, trees: openTrees(root, path, use, newest), newest }
      } catch (error) {
        void root.close()
        // Opening has made LMDB forget a commit that came in between. Opening again sets it right.
        if (!(error instanceof ForgottenCommitError) || attempt === openAttemptsMax) throw error
      }
    }
  } catch (error) {
    newest?.close()
    if (error instanceof StoreUnavailableError) throw error
    throw new StoreUnavailableError(`cannot open the store in ${path}: ${wordsOf(error)}`, { cause: error })
  }
}

/** Opening fails only if another process commits during each attempt, within some ten microseconds. */
const openAttemptsMax = 100

function openEnvironment(path: string, mapSize: number, durable: boolean): Environment {
  return open({
    path,
    ...codec,
    ...ownerOnly,
    mapSize,
    noSubdir: false,
    // Without it a commit is visible to readers before it is on disk; so, all that is visible is durable.
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
    newest.check(root)
    claim(root, path, use)
  })
  return root.transactionSync(() => {
    newest.check(root)
    return new Trees(openTree)
  })
}

function checkFolder(path: string): void {
  mkdirSync(path, { recursive: true })
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  for (const name of ['data.mdb', 'lock.mdb']) {
    const file = join(path, name)
    if (!existsSync(file)) continue
    accessSync(file, constants.R_OK | constants.W_OK)
    if (!statSync(file).isFile()) throw new StoreUnavailableError(`${file} is not a file`)
  }
  // LMDB maps a file that has no blocks yet: where the disk has none, the process ends with a bus error.
  if (!existsSync(join(path, 'lock.mdb'))) assertRoom({ rows: 0, bytes: 0 }, freeBytes(path))
  const data = join(path, 'data.mdb')
  if (existsSync(data)) checkDataFile(data)
}

/** Marks an environment as ours. Runs in a write transaction. */
function claim(root: Environment, path: string, use: FolderUse): void {
  const layout = use === 'plain' ? plainLayout : loggedLayout
  const stored = root.get(layoutKey)
  const found = stored && Buffer.from(stored).toString()
  if (found === undefined && root.getKeysCount({ limit: 1 }) > 0)
    throw new StoreUnavailableError(`${path} holds data of another program`)
  const isReadable =
    found === undefined ||
    found === plainLayout ||
    layoutsBefore.includes(found) ||
    (found === loggedLayout && use !== 'plain')
  if (!isReadable)
    throw new StoreUnavailableError(
      `${path} has data layout ${found}, and this version reads layout ${layout} only: export the data with the version that wrote it, and import it into an empty folder`,
    )
  if (found === layout || (found !== undefined && use === 'reading')) return
  root.put(layoutKey, Buffer.from(layout))
}

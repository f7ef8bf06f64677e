// The data directory as the operator sees it: it exists, belongs to its owner alone, and holds the root secret when
// none was configured.

import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../base/random.ts'
import { StoreUnavailableError } from '../kv/errors.ts'
import { dataFileName } from '../kv/lmdb-data-file.ts'
import { queryLogFolder } from '../query-log/log-folder.ts'
import { StartError } from './command.ts'

const secretFileName = 'root-secret'
/** 192 bits. */
const secretBytes = 24

/** Makes the folder unless it exists, and checks that it can be used. Throws {@link StartError}. */
export function prepareDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!statSync(folder).isDirectory())
      throw new StartError(`the data directory ${folder} is not a directory`)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw new StartError(`the data directory ${folder} cannot be used: ${reasonOf(cause)}`)
  }
}

/**
 * Throws {@link StartError} when the data file has nothing in it although the folder was served before, so that nobody
 * goes on with an empty database by mistake. A service that was killed while it made the file leaves such a one, too.
 */
export function refuseEmptied(folder: string): void {
  const file = join(folder, dataFileName)
  const isEmpty = statSync(file, { throwIfNoEntry: false })?.size === 0
  if (!isEmpty || !existsSync(join(folder, queryLogFolder))) return
  const advice = 'restore a backup, or remove the file to begin anew'
  throw new StartError(`${file} is empty, and what it held is lost: ${advice}`)
}

/** What a restore writes to until it is complete, within the data directory. */
export const restoreDraft = 'restored.partial'

/** Throws {@link StartError} when a restore into the folder has not come to its end: what is there is not the backup. */
export function refuseHalfRestored(folder: string): void {
  if (!existsSync(join(folder, restoreDraft)) || existsSync(join(folder, dataFileName))) return
  const advice = `make it again, or remove ${join(folder, restoreDraft)} to begin with an empty database`
  throw new StartError(`a restore into ${folder} was interrupted: ${advice}`)
}

/** A root secret and whether this call made it. */
interface StoredSecret {
  readonly secret: string
  readonly file: string
  readonly created: boolean
}

/** The root secret kept in the folder; makes one the first time. */
export function storedRootSecret(folder: string, random: Random): StoredSecret {
  const file = join(folder, secretFileName)
  const existing = readSecret(file)
  if (existing !== undefined) return { secret: existing, file, created: false }
  const secret = Buffer.from(random.bytes(secretBytes)).toString('base64url')
  // Written aside and then linked, so that a process started at the same moment finds all of it or nothing.
  const draft = `${file}.${random.hex(8)}`
  try {
    writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, file)
    return { secret, file, created: true }
  } catch (cause) {
    const winner = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? readSecret(file) : undefined
    if (winner !== undefined) return { secret: winner, file, created: false }
    throw new StartError(`the root secret cannot be stored in ${file}: ${reasonOf(cause)}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The root secret kept in the folder; undefined when none is. */
export function keptRootSecret(folder: string): string | undefined {
  return readSecret(join(folder, secretFileName))
}

function readSecret(file: string): string | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartError(`the root secret in ${file} cannot be read: ${reasonOf(cause)}`)
  }
  if (text === '') throw new StartError(`the file ${file} is empty; remove it to get a new root secret`)
  return text
}

/** Turns a store that cannot be opened into one line for the operator. */
export async function explained<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (cause) {
    if (cause instanceof StoreUnavailableError) throw new StartError(cause.message)
    throw cause
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'it is already in use',
  ENOENT: 'it does not exist',
  EADDRNOTAVAIL: 'the machine does not have this address',
  ENOTFOUND: 'the name is unknown',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'part of the path is not a directory',
  EEXIST: 'it is not a directory',
  ENOSPC: 'the disk is full',
}

/** The system's reason for a failed file operation, in words. */
export function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code
  return (code !== undefined && reasons[code]) || (code ?? String(cause))
}

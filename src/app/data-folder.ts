// The data directory when it is opened: it exists, belongs to its owner alone, no other process serves it, and what is
// in it is what shall be served. The service, the package and the commands all come this way.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { reasonOf } from '../base/system-reasons.ts'
import { queryLogFolder } from '../query-log/log-folder.ts'
import { StoreUnavailableError } from '../storage/kv/errors.ts'
import { claimFolder } from '../storage/kv/lmdb-claim.ts'
import { storeBytes } from '../storage/kv/lmdb-copy.ts'
import { dataFileName } from '../storage/kv/lmdb-data-file.ts'
import { replicaFolder } from '../storage/kv/postgres/replica-folder.ts'
import type { Config } from './config/settings.ts'

/**
 * Makes the data directory unless it exists, and claims it for this process until the returned function is called. Throws
 * {@link StoreUnavailableError} when it cannot be used, is in use, or holds what the settings do not mean.
 */
export function claimData(config: Config): () => Promise<void> {
  const { data, store } = config
  prepareDataFolder(data)
  const release = claimFolder(data)
  try {
    checkData(config)
    // From here on it goes its own way.
    if (store === undefined) rmSync(join(data, movedFile), { force: true })
    return release
  } catch (cause) {
    void release()
    throw cause
  }
}

/** Throws {@link StoreUnavailableError} when the folder does not hold what the settings mean, or only a part of it. */
export function checkData(config: Config): void {
  refuseEmptied(config.data)
  refuseHalfRestored(config.data)
  refuseForeign(config)
}

/** Makes the folder unless it exists, and checks that it can be used. Throws {@link StoreUnavailableError}. */
export function prepareDataFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!statSync(folder).isDirectory())
      throw new StoreUnavailableError(`the data directory ${folder} is not a directory`)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    if (cause instanceof StoreUnavailableError) throw cause
    throw new StoreUnavailableError(`the data directory ${folder} cannot be used: ${reasonOf(cause)}`)
  }
}

/**
 * Throws {@link StoreUnavailableError} when the data file has nothing in it although the folder was served before, so that no
 * service goes on with an empty database by mistake. A service that was killed while it made the file leaves such a one, too.
 */
function refuseEmptied(folder: string): void {
  const file = join(folder, dataFileName)
  const isEmpty = statSync(file, { throwIfNoEntry: false })?.size === 0
  if (!isEmpty || !existsSync(join(folder, queryLogFolder))) return
  const advice = 'restore a backup, or remove the file to begin anew'
  throw new StoreUnavailableError(`${file} is empty, and what it held is lost: ${advice}`)
}

/** What a restore writes to until it is complete, within the data directory. */
export const restoreDraft = 'restored.partial'

/** Throws {@link StoreUnavailableError} when a restore into the folder has not come to its end: what is there is not the backup. */
function refuseHalfRestored(folder: string): void {
  if (!existsSync(join(folder, restoreDraft)) || existsSync(join(folder, dataFileName))) return
  const advice = `make it again, or remove ${join(folder, restoreDraft)} to begin with an empty database`
  throw new StoreUnavailableError(`a restore into ${folder} was interrupted: ${advice}`)
}

/** Says in a data directory where its data has been moved to. */
const movedFile = 'moved'

/** Notes that all data in the folder is in the shared store at `address` (without a password) from now on. */
export function noteMoved(folder: string, address: string): void {
  writeFileSync(join(folder, movedFile), `${address}\n`, { mode: 0o600, flush: true })
}

/**
 * Throws {@link StoreUnavailableError} when the folder holds something else than what the settings say is served from it, and
 * the operator has not said that this is meant: then what is there would be passed over without a word, and what is written is not
 * where it is looked for later.
 */
function refuseForeign({ acceptData, data, store }: Config): void {
  if (acceptData) return
  if (store !== undefined) {
    if (storeBytes(data) > 0 && movedTo(data) === undefined)
      throw new StoreUnavailableError(
        `${data} holds data of its own, which a node over a shared store does not serve: move it there with "terrarium migrate", name another folder, or give --accept-data to leave it aside`,
      )
    return
  }
  const address = movedTo(data)
  if (address !== undefined)
    throw new StoreUnavailableError(
      `the data in ${data} has been moved to ${address}: give --store (TERRARIUM_STORE), or --accept-data to go on with what was left behind`,
    )
  if (storeBytes(data) === 0 && existsSync(replicaFolder(data)))
    throw new StoreUnavailableError(
      `${data} belongs to a node over a shared store: give --store (TERRARIUM_STORE), or --accept-data to begin with an empty database of its own`,
    )
}

/** Where the data in a folder has been moved to; undefined when it has not been. */
function movedTo(folder: string): string | undefined {
  const file = join(folder, movedFile)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

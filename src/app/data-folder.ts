// Opens the data directory: creates and claims it, and checks that its content fits the settings.

import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flushNames, makeFolder } from '../base/folders.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { readIfPresent } from '../base/text-file.ts'
import { queryLogFolder } from '../query-log/segment-files.ts'
import { StoreUnavailableError } from '../storage/kv/store-errors.ts'
import { claimFolder } from '../storage/lmdb/claim.ts'
import { dataFileName } from '../storage/lmdb/data-file.ts'
import { storeBytes } from '../storage/log/store-copy.ts'
import { replicaFolder } from '../storage/postgres/replica-folder.ts'
import type { Config } from './config/settings.ts'

/**
 * The claim lasts until the returned function is called. Throws {@link StoreUnavailableError} when the directory cannot
 * be used, is in use, is incomplete, or does not fit the settings.
 */
export function claimData(config: Config): () => Promise<void> {
  const { data, store } = config
  prepareDataFolder(data)
  const release = claimFolder(data)
  try {
    checkData(config)
    // Without a shared store, this directory has the current data, even if its data was once moved to a shared store.
    if (store === undefined) rmSync(join(data, movedFile), { force: true })
    return release
  } catch (cause) {
    void release()
    throw cause
  }
}

/**
 * Throws {@link StoreUnavailableError} when the content of the directory is incomplete or does not fit the settings.
 */
export function checkData(config: Config): void {
  rejectEmptied(config.data)
  rejectHalfRestored(config.data)
  rejectForeign(config)
}

/** Throws {@link StoreUnavailableError} when the directory cannot be used. */
export function prepareDataFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700)
    if (!statSync(folder).isDirectory())
      throw new StoreUnavailableError(`the data directory ${folder} is not a directory`)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    if (cause instanceof StoreUnavailableError) throw cause
    throw new StoreUnavailableError(`the data directory ${folder} cannot be used: ${reasonOf(cause)}`)
  }
}

/**
 * Throws {@link StoreUnavailableError} when the data file is empty although a query log shows that a service has used
 * the directory: continuing with an empty database would hide the loss. Without a query log, the empty file may come
 * from a service that was killed at its first start.
 */
function rejectEmptied(folder: string): void {
  const file = join(folder, dataFileName)
  const isEmpty = statSync(file, { throwIfNoEntry: false })?.size === 0
  if (!isEmpty || !existsSync(join(folder, queryLogFolder))) return
  const advice = 'restore a backup, or remove the file to start with an empty database'
  throw new StoreUnavailableError(`${file} is empty, its data is lost: ${advice}`)
}

/** The name of the folder in the data directory that contains an incomplete restore. */
export const incompleteRestore = 'restored.partial'

function rejectHalfRestored(folder: string): void {
  if (!existsSync(join(folder, incompleteRestore)) || existsSync(join(folder, dataFileName))) return
  const advice = `restore again, or remove ${join(folder, incompleteRestore)} to start with an empty database`
  throw new StoreUnavailableError(`a restore into ${folder} was interrupted: ${advice}`)
}

/** The file that contains the address of the shared store to which the data was moved. */
const movedFile = 'moved'

/** `address`: without a password. */
export function writeMovedTo(folder: string, address: string): void {
  writeFileSync(join(folder, movedFile), `${address}\n`, { mode: 0o600, flush: true })
  flushNames(folder)
}

/**
 * Throws {@link StoreUnavailableError} when the settings name another store than the one with the directory's data.
 * Without this check, the service would ignore the existing data, and store later writes in an unexpected place. The
 * setting `acceptData` skips the check.
 */
function rejectForeign({ acceptData, data, store }: Config): void {
  if (acceptData) return
  if (store !== undefined) {
    if (storeBytes(data) > 0 && movedTo(data) === undefined)
      throw new StoreUnavailableError(
        `${data} contains data of its own, which a node with a shared store does not serve: move it there with "terrarium migrate", use another directory, or give --accept-data to ignore the data`,
      )
    return
  }
  const address = movedTo(data)
  if (address !== undefined)
    throw new StoreUnavailableError(
      `the data in ${data} has been moved to ${address}: give --store (TERRARIUM_STORE), or --accept-data to use the old data`,
    )
  if (storeBytes(data) === 0 && existsSync(replicaFolder(data)))
    throw new StoreUnavailableError(
      `${data} belongs to a node over a shared store: give --store (TERRARIUM_STORE), or --accept-data to start with an empty database of its own`,
    )
}

function movedTo(folder: string): string | undefined {
  return readIfPresent(join(folder, movedFile))?.trim()
}

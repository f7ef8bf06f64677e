// Makes and restores backups. A backup is a folder with only the data file of a data directory. It is written under a
// temporary name and renamed at the end, so a folder with the final name is always a complete backup. The process that
// writes a temporary folder claims it; without a claim, the folder is the remains of a killed process.

import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../app/config/settings.ts'
import { checkData, incompleteRestore, prepareDataFolder } from '../app/data-folder.ts'
import { checkHistory, planRestore } from '../backup/catalogue.ts'
import { openTarget } from '../backup/open-target.ts'
import { restoreInto } from '../backup/restore.ts'
import { statusFiles } from '../backup/status-file.ts'
import { systemClock } from '../base/clock.ts'
import { makeFolder } from '../base/folders.ts'
import type { Micros } from '../base/micros.ts'
import { systemRandom } from '../base/random.ts'
import { reasonOf } from '../base/system-reasons.ts'
import { withTaskNote } from '../server/operation/task-note.ts'
import { claimFiles, claimFolder } from '../storage/lmdb/claim.ts'
import { checkDataFile, dataFileName } from '../storage/lmdb/data-file.ts'
import { assertRoom, freeBytes } from '../storage/lmdb/room.ts'
import { openFollower } from '../storage/log/follower.ts'
import { copyStore, flush, storeBytes } from '../storage/log/store-copy.ts'
import { Store } from '../storage/store/store.ts'
import { check } from './actions/check.ts'
import { CommandError } from './command.ts'
import { lowerOwnPriority } from './own-commands.ts'
import { type OnProgress, withProgress } from './progress.ts'
import { copyShared, fillShared, isShared, type SharedConfig } from './shared-store.ts'

interface StoreCopy {
  /** Microseconds of the newest transaction. The copy contains exactly the transactions up to this time. */
  readonly time: number
  readonly bytes: number
}

/**
 * Copies the configured store (a data directory or a shared store) to a new folder. A service may use the store at the
 * same time. Records progress and result in the data directory (task-note.ts).
 */
export async function backUp(config: Config, folder: string): Promise<StoreCopy> {
  lowerOwnPriority()
  if (!isShared(config)) checkData(config)
  const bytes = isShared(config) ? 0 : storeBytes(config.data)
  if (bytes === 0 && !isShared(config)) throw new CommandError(`there is no data in ${config.data}`)
  return withTaskNote(
    config.data,
    'backup',
    report => copyTo(config, folder, bytes, (step, share) => report({ step, share })),
    ({ bytes, time }) => ({ is_good: true, place: folder, bytes, transaction_time: time }),
  )
}

async function copyTo(
  config: Config,
  folder: string,
  bytes: number,
  onShare: OnProgress,
): Promise<StoreCopy> {
  await rejectContent(folder, 'the backup folder')
  await removeIncomplete(dirname(folder))
  const temporary = `${folder}.${systemRandom.hex(temporaryNameBytes)}.partial`
  try {
    makeFolder(temporary, 0o700)
    assertRoom({ rows: 0, bytes: 0 }, freeBytes(temporary))
    const release = claimFolder(temporary)
    try {
      const share = () => storeBytes(temporary) / bytes
      if (isShared(config)) await copyShared(config, temporary, onShare)
      else await withProgress('backup', share, () => copyStore(config.data, temporary), onShare)
      // Fails if another process has written to `folder` since the check by `rejectContent`.
      await rename(temporary, folder)
    } finally {
      await release()
    }
    for (const name of claimFiles) await rm(join(folder, name), { force: true })
    flush(folder)
    flush(dirname(folder))
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true })
    throw explain(cause, `the backup ${folder} cannot be written`)
  }
  return contentOf(folder)
}

/** Random bytes in the name of an incomplete backup. */
const temporaryNameBytes = 4
const temporaryName = /\.[0-9a-f]{8}\.partial$/
const temporaryFiles: readonly string[] = [dataFileName, 'lock.mdb', ...claimFiles]

/** Removes the incomplete backups of killed processes. */
async function removeIncomplete(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    const temporary = join(parent, name)
    if (!temporaryName.test(name) || !(await isLeftOver(temporary))) continue
    await rm(temporary, { recursive: true, force: true }).catch(() => {
      // The files belong to another user.
    })
  }
}

async function isLeftOver(temporary: string): Promise<boolean> {
  const files = await readdir(temporary).catch(() => [])
  // A process that has just created its folder has not written the data file yet.
  const isIncomplete =
    files.some(file => file === dataFileName) && files.every(file => temporaryFiles.includes(file))
  if (!isIncomplete) return false
  try {
    await claimFolder(temporary)()
    return true
  } catch {
    return false
  }
}

/**
 * Copies a shared store to a new data directory. The copy is first written beside `folder`, so that a later call can
 * continue an interrupted copy.
 */
export async function moveBack(config: SharedConfig, folder: string): Promise<StoreCopy> {
  await rejectContent(folder, 'the data directory')
  const temporary = `${folder}.partial`
  try {
    makeFolder(temporary, 0o700)
    await copyShared(config, temporary)
    await rename(temporary, folder)
    flush(dirname(folder))
  } catch (cause) {
    throw explain(cause, `${folder} cannot be written`)
  }
  return contentOf(folder)
}

/** Copies a backup to the configured data directory or shared store, which must be new or empty. */
export async function restore(folder: string, config: Config): Promise<StoreCopy> {
  const { data } = config
  const bytes = storeBytes(folder)
  if (bytes === 0) throw new CommandError(`there is no backup in ${folder}`)
  if (isShared(config)) {
    const { time } = await fillShared(config, folder, bytes)
    await rm(join(folder, 'lock.mdb'), { force: true })
    return { time, bytes }
  }
  await fillDataFolder(config, folder, async temporary => {
    checkDataFile(join(folder, dataFileName))
    const copy = () => copyFile(join(folder, dataFileName), join(temporary, dataFileName))
    await withProgress('restore', () => storeBytes(temporary) / bytes, copy)
  })
  return contentOf(data)
}

/**
 * Restores a continuous backup to the configured data directory, which must be new or empty. `at`: undefined for the
 * newest state.
 */
export async function restoreFrom(from: string, at: Micros | undefined, config: Config): Promise<StoreCopy> {
  if (isShared(config))
    throw new CommandError('a continuous backup is restored to a data directory: leave out --store')
  const target = await openTarget(from)
  const plan = await planRestore(target, at)
  await fillDataFolder(config, from, async temporary => {
    let done = 0
    const restored = () =>
      restoreInto(target, plan, temporary, share => {
        done = share
      })
    await withProgress('restore', () => done, restored)
  })
  return contentOf(config.data)
}

/** Moves the data file that `fill` writes to the configured data directory once it is complete. */
async function fillDataFolder(
  { data }: Config,
  source: string,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  await rejectContent(data, 'the data directory')
  prepareDataFolder(data)
  const release = claimFolder(data)
  const temporary = join(data, incompleteRestore)
  try {
    // Checked again: another restore or a service may have used the directory in the meantime.
    await rejectContent(data, 'the data directory')
    // May be left by a killed restore. While the directory is claimed, no other process writes to it.
    await rm(temporary, { recursive: true, force: true })
    // A separate folder lets `storeBytes` measure the progress.
    await mkdir(temporary, { mode: 0o700 })
    await fill(temporary)
    const file = join(temporary, dataFileName)
    await chmod(file, 0o600)
    flush(file)
    await rename(file, join(data, dataFileName))
    flush(data)
  } catch (cause) {
    throw explain(cause, `${source} cannot be restored`)
  } finally {
    await rm(temporary, { recursive: true, force: true })
    await release()
  }
}

/** Ignored by {@link rejectContent}: the remains of killed processes. */
const remains: readonly string[] = [...claimFiles, incompleteRestore, ...statusFiles]

/** Throws if the folder contains other files than {@link remains}. */
async function rejectContent(folder: string, name: string): Promise<void> {
  try {
    const files = await readdir(folder)
    if (!files.every(file => remains.includes(file))) throw new CommandError(`${name} ${folder} is not empty`)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return
    throw explain(cause, `${name} ${folder} cannot be used`)
  }
}

/** Verifies that a copy can be opened, and reads the time of its newest transaction. */
async function contentOf(folder: string): Promise<StoreCopy> {
  const opened = openFollower({ path: folder })
  const store = new Store(opened, {
    clock: systemClock.now,
    hooks: { evaluateBinding: () => undefined },
  })
  try {
    const { result } = store.read(transaction => transaction.lastCommitTime)
    return { time: result, bytes: storeBytes(folder) }
  } finally {
    await store.close()
    await rm(join(folder, 'lock.mdb'), { force: true })
  }
}

function explain(cause: unknown, what: string): unknown {
  const isSystemError = cause instanceof Error && 'code' in cause
  return isSystemError ? new CommandError(`${what}: ${reasonOf(cause)}`) : cause
}

/**
 * Proves that a continuous backup can be restored: restores it to a temporary folder and checks the result. Without
 * `at`, verifies the newest state, and that no file is missing in the backup's history. Resolves with the exit status.
 */
export async function verify(from: string, at: Micros | undefined, config: Config): Promise<number> {
  const data = await mkdtemp(join(tmpdir(), 'terrarium-verify-'))
  try {
    const temporary = { ...config, data, store: undefined }
    const { bytes, time } = await restoreFrom(from, at, temporary)
    process.stdout.write(`restored ${bytes} bytes as of transaction time ${time}\n`)
    if (at === undefined) await checkHistory(await openTarget(from))
    return await check(temporary)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

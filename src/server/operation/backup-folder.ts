// The folder of the backups that the dashboard starts.

import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { dataFileName } from '../../storage/lmdb/data-file.ts'
import type { BackupEntry, BackupFolder } from './health.ts'

/** Maximum number of listed backups, the newest first. */
const listedMax = 50

export async function listBackups(folder: string): Promise<BackupFolder> {
  const names = await readdir(folder).catch(() => [])
  const whole = names.filter(name => !name.endsWith('.partial')).sort()
  const kept: BackupEntry[] = []
  for (const name of whole.reverse().slice(0, listedMax)) {
    const file = await stat(join(folder, name, dataFileName)).catch(() => undefined)
    if (file) kept.push({ name, bytes: file.size, made: Math.floor(file.mtimeMs) })
  }
  kept.sort((left, right) => right.made - left.made)
  return { folder, free_bytes: (await freeBytesAt(folder)) ?? null, kept }
}

/** Returns the free bytes on the drive of a folder that may not exist yet; undefined when unknown. */
async function freeBytesAt(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    return isMissing && dirname(folder) !== folder ? freeBytesAt(dirname(folder)) : undefined
  }
}

/** Removes what a killed process has written of the backup in `folder`. */
export async function removePartial(folder: string): Promise<void> {
  const parent = dirname(folder)
  const names = await readdir(parent).catch(() => [])
  const partial = names.filter(name => name.startsWith(`${basename(folder)}.`) && name.endsWith('.partial'))
  for (const name of partial) await rm(join(parent, name), { recursive: true, force: true })
}

// Stores the status of the continuous backup in a file of the data directory. The backup process writes the file; all
// processes of the service read it for the health report and the metrics.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, processMark } from '../base/system-process.ts'
import { replaceFile } from '../base/text-file.ts'
import type { BackupStatus } from './backup-status.ts'

interface StatusFile extends BackupStatus {
  readonly pid: number
  /**
   * A mark that distinguishes the process from later processes with the same pid; null if the system has no such mark.
   * The format of the file fixes the name of this key.
   */
  readonly process: string | null
}

const fileName = 'continuous-backup.json'

/** The names of the file and of its temporary version in the data directory. */
export const statusFiles: readonly string[] = [fileName, `${fileName}.new`]

export function writeStatus(folder: string, status: BackupStatus): void {
  const { pid } = process
  const content: StatusFile = { ...status, pid, process: processMark(pid) ?? null }
  try {
    replaceFile(join(folder, fileName), JSON.stringify(content))
  } catch {
    // The backup continues even if its status cannot be written.
  }
}

/** Also returns the pid of the backup process. Returns undefined if the file is missing or damaged. */
export function readStatus(folder: string): (BackupStatus & { readonly pid: number }) | undefined {
  let found: StatusFile
  try {
    found = JSON.parse(readFileSync(join(folder, fileName), 'utf8')) as StatusFile
  } catch {
    return undefined
  }
  const { process: mark, ...status } = found
  if (status.state === 'stopped' || isAlive(status.pid, mark ?? undefined) !== false) return status
  return { ...status, state: 'failing', reason: 'its process has exited' }
}

/** Seconds for which the oldest commit that is not in the target yet has been waiting. */
export function lagSeconds(
  { waiting_since: since }: Pick<BackupStatus, 'waiting_since'>,
  nowMs: number,
): number {
  return since === null ? 0 : Math.max(0, nowMs - since) / 1000
}

// The state of the continuous backup of a data directory, as a file of the directory. The process that writes the backup
// writes the file, and all processes of the service read it for Health and metrics.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, processMark } from '../base/process-mark.ts'
import type { BackupStatus } from './backup-status.ts'

interface StatusFile extends BackupStatus {
  readonly pid: number
  readonly process: string | null
}

const fileName = 'continuous-backup.json'
const draftName = `${fileName}.new`

/** Names of the files in the data directory. */
export const statusFiles: readonly string[] = [fileName, draftName]

/** Reports the state in the data directory `folder`. */
export function writeStatus(folder: string, status: BackupStatus): void {
  const { pid } = process
  const content: StatusFile = { ...status, pid, process: processMark(pid) ?? null }
  const draft = join(folder, draftName)
  try {
    writeFileSync(draft, JSON.stringify(content), { mode: 0o600 })
    renameSync(draft, join(folder, fileName))
  } catch {
    // The backup does not fail because its state cannot be reported.
  }
}

/** The state of the continuous backup of a data directory, and the process that writes it; undefined where there is none. */
export function readStatus(folder: string): (BackupStatus & { readonly pid: number }) | undefined {
  let found: StatusFile
  try {
    found = JSON.parse(readFileSync(join(folder, fileName), 'utf8')) as StatusFile
  } catch {
    return undefined
  }
  const { process: mark, ...status } = found
  if (status.state === 'stopped' || isAlive(status.pid, mark ?? undefined) !== false) return status
  return { ...status, state: 'failing', reason: 'its process has ended' }
}

/** Seconds for which the oldest commit has waited to be written to the target. */
export function lagSeconds(
  { waiting_since: since }: Pick<BackupStatus, 'waiting_since'>,
  nowMs: number,
): number {
  return since === null ? 0 : Math.max(0, nowMs - since) / 1000
}

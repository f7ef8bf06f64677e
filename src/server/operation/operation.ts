// The operator's view of the service in the dashboard: processes, disk, background work, backups and checks. A backup
// or a check runs as a command in a separate process, so that requests do not wait for it.

import type { ChildProcess } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lagSeconds, readStatus } from '../../backup/status-file.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { takeLock } from '../../base/lock-file.ts'
import type { NoticeBoard } from '../../base/notices.ts'
import { wait } from '../../base/timers.ts'
import { storeBytes } from '../../storage/log/store-copy.ts'
import { replicaFolder } from '../../storage/postgres/replica-folder.ts'
import { formatMicros } from '../../values/time.ts'
import { listBackups, removePartial } from './backup-folder.ts'
import { diskSpace } from './disk-watch.ts'
import type {
  BackupFolder,
  ContinuousBackupReport,
  DiskUse,
  PendingWorkReport,
  ReportParts,
  ServiceHealth,
  TaskKind,
} from './health.ts'
import { ProcessReports } from './process-reports.ts'
import { noteEnd, noteStart, readTaskNote } from './task-note.ts'

/** Starts the program with these arguments, on the data directory of the service. */
export type StartCommand = (words: readonly string[]) => ChildProcess

interface OperationOptions {
  readonly version: string
  readonly node: string
  readonly worker: number
  /** Processes that serve this data directory. */
  readonly workers: number
  readonly data: string
  readonly queryLogFolder: string
  /** The folder for new backups. Undefined if the dashboard cannot start backups. */
  readonly backups: string | undefined
  /** The target of the continuous backup. Undefined without a continuous backup. */
  readonly backupTo?: string | undefined
  readonly parts: () => Omit<ReportParts, 'disk'>
  readonly pendingWork: () => PendingWorkReport
  /** Absent when there is only one process. */
  readonly notices?: NoticeBoard | undefined
  readonly startCommand?: StartCommand | undefined
  readonly clock?: Clock
}

/** Thrown when a task cannot be started. The message is shown to the operator. */
export class TaskError extends Error {
  override name = 'TaskError'
  readonly reason: 'conflict' | 'forbidden'

  constructor(reason: TaskError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Milliseconds after which the query log's folder is measured again. */
const logSizeMsMax = 30_000
/** Milliseconds to wait for the list of backups, because a network drive may not respond. */
const folderPatienceMs = 2_000
/** Characters that are kept from the end of a command's standard error. */
const errorOutputMax = 2_000

export class Operation {
  readonly #options: OperationOptions
  readonly #clock: Clock
  readonly #reports: ProcessReports
  readonly #running = new Set<{ readonly child: ChildProcess; readonly ended: Promise<void> }>()
  /** The promise of the running listing of the backup folder, and the result of the last listing. */
  #listing: Promise<void> | undefined
  #listed: BackupFolder | undefined
  #logBytes: number | null = null
  #logSizeAtMs = Number.NEGATIVE_INFINITY

  constructor(options: OperationOptions) {
    const { clock = systemClock, node, notices, parts, worker } = options
    this.#options = options
    this.#clock = clock
    this.#reports = new ProcessReports({
      ...{ clock, node, notices, worker },
      parts: () => ({ ...parts(), disk: this.#disk() }),
    })
  }

  async state(): Promise<Omit<ServiceHealth, 'duration_bounds'>> {
    const { data, node, startCommand, version, pendingWork, workers } = this.#options
    return {
      ...{ version, node, workers },
      processes: this.#reports.all(),
      work: pendingWork(),
      tasks: { backup: readTaskNote(data, 'backup') ?? null, check: readTaskNote(data, 'check') ?? null },
      backups: await this.#backups(),
      continuous_backup: this.#continuousBackup(),
      starts: startCommand !== undefined,
    }
  }

  /** Throws {@link TaskError}. */
  async start(kind: TaskKind): Promise<void> {
    const { data, startCommand } = this.#options
    if (startCommand === undefined)
      throw new TaskError(
        'forbidden',
        'This service is embedded in another program and cannot start commands.',
      )
    if (readTaskNote(data, kind)?.ended === null) throw alreadyRunning(kind)
    const folder = kind === 'backup' ? await this.#newBackupFolder() : undefined
    const child = this.#claimStart(kind, () => {
      const started = startCommand(folder === undefined ? [kind] : [kind, folder])
      noteStart(data, kind, started.pid ?? 0)
      return started
    })
    const ended = this.#ended(child, kind, folder)
    const run = { child, ended }
    this.#running.add(run)
    void ended.then(() => this.#running.delete(run))
  }

  /**
   * Runs `start` if no task of the kind is running, and if no other process of the service is starting one. `start`
   * must write the note of the task. Throws {@link TaskError}.
   */
  #claimStart<T>(kind: TaskKind, start: () => T): T {
    const { data } = this.#options
    const lock = takeLock({ folder: data, name: `${kind}-start` })
    if ('holder' in lock) throw alreadyRunning(kind)
    try {
      if (readTaskNote(data, kind)?.ended === null) throw alreadyRunning(kind)
      return start()
    } finally {
      lock.release()
    }
  }

  /** Stops the tasks that this process started, and removes incomplete backups. */
  async close(): Promise<void> {
    const running = [...this.#running]
    for (const { child } of running) child.kill()
    await Promise.all(running.map(({ ended }) => ended))
  }

  /** Returns the folder for a new backup. Throws {@link TaskError}, for example if the disk has no room for it. */
  async #newBackupFolder(): Promise<string> {
    const { backups, data } = this.#options
    if (backups === undefined) {
      const hint = 'Set a folder for backups with --backups (TERRARIUM_BACKUPS) first.'
      throw new TaskError('forbidden', hint)
    }
    const free = (await this.#backups())?.free_bytes ?? undefined
    const needed = storeBytes(data)
    if (free !== undefined && free < needed) {
      const space = `A backup needs up to ${needed} bytes, but only ${free} bytes are free.`
      throw new TaskError('conflict', space)
    }
    const time = formatMicros(Math.floor(systemClock.now() / 1e6) * 1_000_000)
    return join(backups, time.replaceAll(':', '-'))
  }

  #ended(child: ChildProcess, kind: TaskKind, folder: string | undefined): Promise<void> {
    let errorOutput = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errorOutput = (errorOutput + text).slice(-errorOutputMax)
    })
    return new Promise(resolve => {
      const end = async (how: string) => {
        const failure = errorOutput.trim() === '' ? `The process exited (${how}).` : errorOutput.trim()
        noteEnd(this.#options.data, kind, child.pid ?? 0, failure)
        if (folder !== undefined) await removePartial(folder)
        resolve()
      }
      child.once('close', (code, signal) => void end(signal ?? `exit status ${code}`))
      child.once('error', ({ message }) => void end(message))
    })
  }

  #disk(): DiskUse {
    const { data, queryLogFolder } = this.#options
    const nowMs = this.#clock.elapsedMs()
    if (nowMs - this.#logSizeAtMs > logSizeMsMax) {
      this.#logSizeAtMs = nowMs
      void bytesIn(queryLogFolder).then(bytes => {
        this.#logBytes = bytes
      })
    }
    const { free, total } = diskSpace(data)
    return {
      data_bytes: storeBytes(data) || storeBytes(replicaFolder(data)),
      query_log_bytes: this.#logBytes,
      free_bytes: free,
      total_bytes: total,
    }
  }

  #continuousBackup(): ContinuousBackupReport | null {
    const { backupTo, data } = this.#options
    const status = backupTo === undefined ? undefined : readStatus(data)
    if (status === undefined) return null
    return { ...status, lag_seconds: lagSeconds(status, systemClock.now() / 1000) }
  }

  async #backups(): Promise<BackupFolder | null> {
    const folder = this.#options.backups
    if (folder === undefined) return null
    this.#listing ??= listBackups(folder)
      .then(found => {
        this.#listed = found
      })
      .finally(() => {
        this.#listing = undefined
      })
    await Promise.race([this.#listing, wait(folderPatienceMs)])
    return this.#listed ?? { folder, free_bytes: null, kept: [] }
  }
}

const alreadyRunning = (kind: TaskKind) => new TaskError('conflict', `A ${kind} is already running.`)

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bytesIn(path)
    else bytes += (await stat(path).catch(() => undefined))?.size ?? 0
  }
  return bytes
}

// What the operator sees of the service and does with it from the dashboard: how its processes, its disk and its background
// work stand, backups and checks. Backups and checks are the commands of the same names, each in a process of its own, so
// that no request waits for them.

import type { ChildProcess } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { NoticeBoard } from '../../base/notices.ts'
import { wait } from '../../base/timers.ts'
import { storeBytes } from '../../storage/kv/lmdb-copy.ts'
import { dataFileName } from '../../storage/kv/lmdb-data-file.ts'
import { replicaFolder } from '../../storage/kv/postgres/replica-folder.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import type {
  BackupFolder,
  DiskUse,
  KeptBackup,
  ReportParts,
  ServiceHealth,
  TaskKind,
  WorkLeftReport,
} from './health.ts'
import { ProcessReports } from './process-report.ts'
import { noteEnd, noteStart, readTaskNote } from './task-note.ts'

/** Starts the program with these words, over the data that is served; absent: this service does not start commands. */
export type StartCommand = (words: readonly string[]) => ChildProcess

interface OperationOptions {
  readonly version: string
  readonly node: string
  readonly worker: number
  /** Processes that serve this data directory. */
  readonly workers: number
  readonly data: string
  readonly queryLogFolder: string
  /** Where backups go; absent: none are started here. */
  readonly backups: string | undefined
  readonly parts: () => Omit<ReportParts, 'disk'>
  readonly workLeft: () => WorkLeftReport
  readonly notices?: NoticeBoard | undefined
  readonly startCommand?: StartCommand | undefined
  readonly clock?: Clock
}

/** A task that cannot be started; the message is for the person who asked. */
export class TaskRefused extends Error {
  override name = 'TaskRefused'
  readonly reason: 'conflict' | 'forbidden'

  constructor(reason: TaskRefused['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Backups that are listed. */
const keptMax = 50
/** How old the count of a folder's bytes may be, in milliseconds. */
const countedMs = 30_000
/** How long the folder for backups is waited for, in milliseconds: it may lie on a network that does not respond. */
const folderPatienceMs = 2_000
/** Characters of what a command says on standard error that are kept. */
const lastWordsMax = 2_000

export class Operation {
  readonly #options: OperationOptions
  readonly #clock: Clock
  readonly #reports: ProcessReports
  readonly #running = new Set<{ readonly child: ChildProcess; readonly ended: Promise<void> }>()
  /** The look at the folder for backups that is under way, and what the last one found. */
  #looking: Promise<void> | undefined
  #seen: BackupFolder | undefined
  #logBytes: number | null = null
  #countedMs = Number.NEGATIVE_INFINITY

  constructor(options: OperationOptions) {
    const { clock = systemClock, node, notices, parts, worker } = options
    this.#options = options
    this.#clock = clock
    this.#reports = new ProcessReports({
      ...{ clock, node, notices, worker },
      parts: () => ({ ...parts(), disk: this.#disk() }),
    })
  }

  /** How everything stands now. */
  async state(): Promise<Omit<ServiceHealth, 'duration_bounds'>> {
    const { data, node, startCommand, version, workLeft, workers } = this.#options
    return {
      ...{ version, node, workers },
      processes: this.#reports.all(),
      work: workLeft(),
      tasks: { backup: readTaskNote(data, 'backup') ?? null, check: readTaskNote(data, 'check') ?? null },
      backups: await this.#backups(),
      starts: startCommand !== undefined,
    }
  }

  /** Starts a backup or a check. Throws {@link TaskRefused}. */
  async start(kind: TaskKind): Promise<void> {
    const { data, startCommand } = this.#options
    if (startCommand === undefined)
      throw new TaskRefused('forbidden', 'This service runs within another program and starts no others.')
    if (readTaskNote(data, kind)?.ended === null) throw underWay(kind)
    const folder = kind === 'backup' ? await this.#newBackup() : undefined
    if (readTaskNote(data, kind)?.ended === null) throw underWay(kind)
    const child = startCommand(folder === undefined ? [kind] : [kind, folder])
    noteStart(data, kind, child.pid ?? 0)
    const ended = this.#ended(child, kind, folder)
    const run = { child, ended }
    this.#running.add(run)
    void ended.then(() => this.#running.delete(run))
  }

  /** Ends what was started here; a backup that is not whole is removed. */
  async close(): Promise<void> {
    const running = [...this.#running]
    for (const { child } of running) child.kill()
    await Promise.all(running.map(({ ended }) => ended))
  }

  /** The folder of a new backup. Throws {@link TaskRefused}. */
  async #newBackup(): Promise<string> {
    const { backups, data } = this.#options
    if (backups === undefined) {
      const setting = 'Name a folder for backups with the setting --backups (TERRARIUM_BACKUPS) first.'
      throw new TaskRefused('forbidden', setting)
    }
    const free = (await this.#backups())?.free_bytes ?? undefined
    const needed = storeBytes(data)
    if (free !== undefined && free < needed)
      throw new TaskRefused('conflict', `A backup takes up to ${needed} bytes, and ${free} are free there.`)
    const time = formatTime(timeFromMicros(Math.floor(systemClock.now() / 1e6) * 1_000_000))
    return join(backups, time.replaceAll(':', '-'))
  }

  #ended(child: ChildProcess, kind: TaskKind, folder: string | undefined): Promise<void> {
    let lastWords = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-lastWordsMax)
    })
    return new Promise(resolve => {
      const end = async (how: string) => {
        const failure = lastWords.trim() === '' ? `Its process ended (${how}).` : lastWords.trim()
        noteEnd(this.#options.data, kind, child.pid ?? 0, failure)
        if (folder !== undefined) await removeDrafts(folder)
        resolve()
      }
      child.once('close', (code, signal) => void end(signal ?? `exit status ${code}`))
      child.once('error', ({ message }) => void end(message))
    })
  }

  #disk(): DiskUse {
    const { data, queryLogFolder } = this.#options
    const nowMs = this.#clock.elapsedMs()
    if (nowMs - this.#countedMs > countedMs) {
      this.#countedMs = nowMs
      void bytesIn(queryLogFolder).then(bytes => {
        this.#logBytes = bytes
      })
    }
    const { bavail, blocks, bsize } = statfsSync(data)
    return {
      data_bytes: storeBytes(data) || storeBytes(replicaFolder(data)),
      query_log_bytes: this.#logBytes,
      free_bytes: bavail * bsize,
      total_bytes: blocks * bsize,
    }
  }

  async #backups(): Promise<BackupFolder | null> {
    const folder = this.#options.backups
    if (folder === undefined) return null
    this.#looking ??= lookInto(folder)
      .then(found => {
        this.#seen = found
      })
      .finally(() => {
        this.#looking = undefined
      })
    await Promise.race([this.#looking, wait(folderPatienceMs)])
    return this.#seen ?? { folder, free_bytes: null, kept: [] }
  }
}

const underWay = (kind: TaskKind) => new TaskRefused('conflict', `A ${kind} is under way.`)

async function lookInto(folder: string): Promise<BackupFolder> {
  const names = await readdir(folder).catch(() => [])
  const whole = names.filter(name => !name.endsWith('.partial')).sort()
  const kept: KeptBackup[] = []
  for (const name of whole.reverse().slice(0, keptMax)) {
    const file = await stat(join(folder, name, dataFileName)).catch(() => undefined)
    if (file) kept.push({ name, bytes: file.size, made: Math.floor(file.mtimeMs) })
  }
  kept.sort((left, right) => right.made - left.made)
  return { folder, free_bytes: (await freeBytesAt(folder)) ?? null, kept }
}

/** Free bytes where a folder is or will be made; undefined where it is unknown. */
async function freeBytesAt(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    return isMissing && dirname(folder) !== folder ? freeBytesAt(dirname(folder)) : undefined
  }
}

/** Removes what a backup has left that was ended on its way. */
async function removeDrafts(folder: string): Promise<void> {
  const around = dirname(folder)
  const names = await readdir(around).catch(() => [])
  const drafts = names.filter(name => name.startsWith(`${basename(folder)}.`) && name.endsWith('.partial'))
  for (const name of drafts) await rm(join(around, name), { recursive: true, force: true })
}

/** Bytes of all files in a folder and those in it. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bytesIn(path)
    else bytes += (await stat(path).catch(() => undefined))?.size ?? 0
  }
  return bytes
}

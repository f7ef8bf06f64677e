// Notes of long tasks on a data directory (backup, check): the progress and the result, in a file of the directory. All
// processes can read it, the dashboard displays it, and it survives a restart. While it describes a running task, no
// other task of the same kind can be started over HTTP.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { isAlive, processMark } from '../../base/system-process.ts'
import { reasonOf } from '../../base/system-reasons.ts'
import { replaceFile } from '../../base/text-file.ts'
import { storeBytes } from '../../storage/log/store-copy.ts'
import { replicaFolder } from '../../storage/postgres/replica-folder.ts'
import type { CompletedTask, TaskKind, TaskNote, TaskProgress, TaskResult } from './health.ts'

/** The process mark detects a reused process id. It is absent if it cannot be read. */
interface StoredNote extends TaskNote {
  readonly process?: string | undefined
}

/**
 * Milliseconds without an update after which a task is regarded as killed. Used only if it cannot be checked whether
 * the process of the task runs.
 */
const vanishedMs = 30_000
/** Milliseconds between two writes of progress. */
const writeEveryMs = 500
const findingsMax = 20

const fileOf = (folder: string, kind: TaskKind) => join(folder, `${kind}-note.json`)

const nowMs = () => Math.floor(systemClock.now() / 1000)

/** Returns undefined when there is no readable note of the last task. */
export function readTaskNote(folder: string, kind: TaskKind): TaskNote | undefined {
  const stored = read(folder, kind)
  if (stored === undefined) return undefined
  const { process, ...note } = stored
  // The time of the last update is used only if the state of the process is unknown. A live process may write late when
  // other processes use the CPU.
  const isUnderWay = isAlive(note.pid, process) ?? nowMs() - note.seen < vanishedMs
  if (note.ended !== null || isUnderWay) return note
  return { ...note, ended: note.seen, failure: 'The process exited without a result.' }
}

function read(folder: string, kind: TaskKind): StoredNote | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(folder, kind), 'utf8')) as StoredNote
  } catch {
    // The file does not exist, or this process may not read it.
    return undefined
  }
}

/** Notes the start of a task in a separate process, which then updates the note. */
export function noteStart(folder: string, kind: TaskKind, pid: number): void {
  write(folder, newNote(folder, kind, pid))
}

function newNote(folder: string, kind: TaskKind, pid: number): StoredNote {
  const started = nowMs()
  return {
    ...{ kind, pid, process: processMark(pid), started, seen: started },
    ...{ progress: null, ended: null, result: null, failure: null },
    succeeded: lastCompleted(read(folder, kind)),
  }
}

/**
 * Finds the last task that ended without an error, for the note of a new task. A check that found errors counts, too.
 * `note`: the note of the previous task.
 */
function lastCompleted(note: StoredNote | undefined): CompletedTask | null {
  if (note === undefined) return null
  const { ended, result, succeeded } = note
  // Notes of earlier versions have no field `succeeded`.
  return ended !== null && result !== null ? { ended, result } : (succeeded ?? null)
}

/** Called after the process of a task has exited. If the process did not record the end, records `failure`. */
export function noteEnd(folder: string, kind: TaskKind, pid: number, failure: string): void {
  const note = read(folder, kind)
  if (note?.pid === pid && note.ended === null) write(folder, { ...note, ended: nowMs(), failure })
}

/**
 * Runs `work`, and records its progress and its result in the data directory. `work` must call `report` at least every
 * 30 seconds; more frequent calls are cheap.
 */
export async function withTaskNote<R>(
  folder: string,
  kind: TaskKind,
  work: (report: (progress: TaskProgress) => void) => Promise<R>,
  resultOf: (result: R) => TaskResult,
): Promise<R> {
  const note = newNote(folder, kind, process.pid)
  write(folder, note)
  let writtenMs = systemClock.elapsedMs()
  const report = (progress: TaskProgress) => {
    if (systemClock.elapsedMs() - writtenMs < writeEveryMs) return
    writtenMs = systemClock.elapsedMs()
    write(folder, { ...note, seen: nowMs(), progress })
  }
  const end = (what: Pick<TaskNote, 'result'> | Pick<TaskNote, 'failure'>) =>
    write(folder, { ...note, seen: nowMs(), ended: nowMs(), ...what })
  try {
    const result = await work(report)
    const { findings, ...fields } = resultOf(result)
    end({ result: { ...fields, ...(findings && { findings: findings.slice(0, findingsMax) }) } })
    return result
  } catch (cause) {
    end({ failure: cause instanceof Error && !('code' in cause) ? cause.message : reasonOf(cause) })
    throw cause
  }
}

/** True if the folder has a data file, or a node's replica of the shared store. */
function isDataDirectory(folder: string): boolean {
  return storeBytes(folder) > 0 || existsSync(replicaFolder(folder))
}

/**
 * Writes only to data directories. The service and the backup may run as different users, so the file is readable for
 * all; only the permissions of the directory exclude users.
 */
function write(folder: string, note: StoredNote): void {
  if (!isDataDirectory(folder)) return
  try {
    replaceFile(fileOf(folder, note.kind), JSON.stringify(note), { mode: 0o644 })
  } catch {
    // A task does not fail because its note cannot be written.
  }
}

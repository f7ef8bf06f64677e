// What is told of long tasks on a data directory, a backup or a check: how far it has come and what came of it, in a file of
// the directory. So all processes of the service know, however the task was started, and they know of the last one after a
// restart. A note is only told to people: nothing rests on it.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import { isAlive, processMark } from '../../base/process-mark.ts'
import { reasonOf } from '../../base/system-reasons.ts'
import { storeBytes } from '../../storage/kv/lmdb-copy.ts'
import { replicaFolder } from '../../storage/kv/postgres/replica-folder.ts'
import type { SucceededTask, TaskKind, TaskNote, TaskProgress, TaskResult } from './health.ts'

/** The file also tells the process apart from others that get its number; absent where that is not known. */
interface KeptNote extends TaskNote {
  readonly process?: string | undefined
}

/** Where it is not known whether its process lives: a task that has not been seen for so long has ended without a word, in milliseconds. */
const vanishedMs = 30_000
/** How often progress is written, in milliseconds. */
const tellEveryMs = 500
/** Findings that are kept. */
const findingsMax = 20

const fileOf = (folder: string, kind: TaskKind) => join(folder, `${kind}-note.json`)

const nowMs = () => Math.floor(systemClock.now() / 1000)

/** The last task of a kind on the data directory `folder`; undefined when none is known. */
export function readTaskNote(folder: string, kind: TaskKind): TaskNote | undefined {
  const kept = read(folder, kind)
  if (kept === undefined) return undefined
  const { process, ...note } = kept
  // One that lives may get no time to write for long, beside others that have a higher priority.
  const isUnderWay = isAlive(note.pid, process) ?? nowMs() - note.seen < vanishedMs
  if (note.ended !== null || isUnderWay) return note
  return { ...note, ended: note.seen, failure: 'Its process ended without a result.' }
}

function read(folder: string, kind: TaskKind): KeptNote | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(folder, kind), 'utf8')) as KeptNote
  } catch {
    // There is none, or it was written by a user whose files this process may not read.
    return undefined
  }
}

/** Notes that a task has been started in a process of its own, which goes on with the note. */
export function noteStart(folder: string, kind: TaskKind, pid: number): void {
  write(folder, begun(folder, kind, pid))
}

function begun(folder: string, kind: TaskKind, pid: number): KeptNote {
  const started = nowMs()
  return {
    ...{ kind, pid, process: processMark(pid), started, seen: started },
    ...{ progress: null, ended: null, result: null, failure: null },
    succeeded: lastSuccess(read(folder, kind)),
  }
}

/** A task that fails, or is refused at once, does not hide the result of an earlier one. */
function lastSuccess(note: KeptNote | undefined): SucceededTask | null {
  if (note === undefined) return null
  const { ended, result, succeeded } = note
  // Notes of earlier versions know of no other task.
  return ended !== null && result !== null ? { ended, result } : (succeeded ?? null)
}

/** Ends the note of a task whose process has ended; does nothing when that has said itself what came of it. */
export function noteEnd(folder: string, kind: TaskKind, pid: number, failure: string): void {
  const note = read(folder, kind)
  if (note?.pid === pid && note.ended === null) write(folder, { ...note, ended: nowMs(), failure })
}

/**
 * Runs `work` and notes in the data directory `folder` how far it is and what came of it. `work` calls `tell` as often as it
 * likes, every half minute at least.
 */
export async function noted<R>(
  folder: string,
  kind: TaskKind,
  work: (tell: (progress: TaskProgress) => void) => Promise<R>,
  resultOf: (result: R) => TaskResult,
): Promise<R> {
  const note = begun(folder, kind, process.pid)
  write(folder, note)
  let toldMs = systemClock.elapsedMs()
  const tell = (progress: TaskProgress) => {
    if (systemClock.elapsedMs() - toldMs < tellEveryMs) return
    toldMs = systemClock.elapsedMs()
    write(folder, { ...note, seen: nowMs(), progress })
  }
  const end = (what: Pick<TaskNote, 'result'> | Pick<TaskNote, 'failure'>) =>
    write(folder, { ...note, seen: nowMs(), ended: nowMs(), ...what })
  try {
    const result = await work(tell)
    const { findings, ...told } = resultOf(result)
    end({ result: { ...told, ...(findings && { findings: findings.slice(0, findingsMax) }) } })
    return result
  } catch (cause) {
    end({ failure: cause instanceof Error && !('code' in cause) ? cause.message : reasonOf(cause) })
    throw cause
  }
}

/** Who names another folder than that of the service leaves nothing there. The folder keeps others out; who serves it may be another user than who has made a backup. */
function write(folder: string, note: KeptNote): void {
  if (storeBytes(folder) === 0 && !existsSync(replicaFolder(folder))) return
  const file = fileOf(folder, note.kind)
  try {
    writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o644 })
    renameSync(`${file}.new`, file)
  } catch {
    // A task does not fail because its note cannot be written.
  }
}

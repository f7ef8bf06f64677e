// The folder of a node's local copy. It is disposable: what it holds can be copied again, so nothing in it is flushed. The
// note within says what it is a copy of and whether it can be trusted: after a crash of the machine the pages on disk may
// be of any age, and the system's start in which the note was written tells that.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineStart } from '../../../base/process-mark.ts'
import type { Random } from '../../../base/random.ts'
import type { KeyValueStore } from '../contract.ts'
import { StoreUnavailableError, wordsOf } from '../errors.ts'
import { openLmdb } from '../lmdb.ts'
import { dataFileName, findDamage } from '../lmdb-data-file.ts'
import { type CopyProgress, copyState } from './copy-state.ts'
import { assertFit } from './fitness.ts'
import { readNote } from './replica.ts'
import { disagreement } from './same-record.ts'
import { PostgresSession, type RecordLocation } from './session.ts'
import { openTables } from './tables.ts'

interface PrepareOptions {
  readonly location: RecordLocation
  /** The data directory; the copy lies in the folder `replica` within. */
  readonly folder: string
  readonly node: string
  readonly random: Random
  /** Told why the copy is made anew, when it is. */
  readonly onCopy: (reason: string) => void
  readonly onProgress: (progress: CopyProgress) => void
}

/** Where the copy lies in a data directory. */
export const replicaFolder = (folder: string): string => join(folder, 'replica')

/**
 * Makes sure that the data directory holds a copy that the log can be redone on, copying the state when it does not. One
 * process of a node does this before any opens the copy. Throws `StoreUnavailableError` when the database is away.
 */
export async function prepareReplica(options: PrepareOptions): Promise<void> {
  const { location, folder, node } = options
  await PostgresSession.use(location, node, async session => {
    await assertFit(session, location, node)
    await openTables(session, options.random)
    mkdirSync(folder, { recursive: true })
    const fault = (await damageOf(folder)) ?? (await faultOf(session, folder))
    if (fault === undefined) return
    options.onCopy(fault)
    discardReplica(folder)
    const local = openFolder(folder)
    try {
      await copyState(session, local, node, options.onProgress)
    } finally {
      await local.close()
    }
  })
}

/**
 * There from the moment a copy is prepared until the node has ended in order; holds how many copies have been found damaged one
 * after the other. What else ends a node may be the copy itself: LMDB ends the process at a page that cannot be.
 */
const markOf = (folder: string) => join(folder, 'replica-in-use')
/** So many damaged copies in a row are not theirs to mend. */
const damagesMax = 3

function readMark(folder: string): number | undefined {
  return existsSync(markOf(folder))
    ? Number.parseInt(readFileSync(markOf(folder), 'utf8'), 10) || 0
    : undefined
}

function writeMark(folder: string, damages: number): void {
  writeFileSync(markOf(folder), String(damages), { mode: 0o600 })
}

/** What is wrong with the copy of a node that did not end in order; undefined when nothing is, or it did. */
async function damageOf(folder: string): Promise<string | undefined> {
  const mark = readMark(folder)
  const file = join(replicaFolder(folder), dataFileName)
  const hasCopy = existsSync(file)
  const damage = mark !== undefined && hasCopy ? await findDamage(file) : undefined
  const damages = damage === undefined ? (hasCopy ? 0 : (mark ?? 0)) : (mark ?? 0) + 1
  if (damages > damagesMax)
    throw new StoreUnavailableError(
      `the copy of the store was damaged ${damages} times: look at the disk and the memory of this machine, then remove ${markOf(folder)}`,
    )
  writeMark(folder, damages)
  return damage
}

/** Says that all processes of the node have ended in order: its copy is as they have left it. */
export function settleReplica(folder: string): void {
  rmSync(markOf(folder), { force: true })
}

/** Opens the copy in a data directory. Throws {@link StoreUnavailableError} when there is none. */
export function openReplica(folder: string): KeyValueStore {
  const local = openFolder(folder)
  if (readNote(local)?.isComplete === true) return local
  void local.close()
  throw new StoreUnavailableError(`there is no copy of the store in ${replicaFolder(folder)}`)
}

function openFolder(folder: string): KeyValueStore {
  return openLmdb({ path: replicaFolder(folder), durable: false })
}

/**
 * Opens the copy in a data directory, which a node may serve meanwhile, if it is a copy of that record which the log can be
 * redone on; undefined when there is nothing to compare.
 */
export async function openComparable(
  session: PostgresSession,
  folder: string,
): Promise<KeyValueStore | undefined> {
  return (await faultOf(session, folder)) === undefined ? openReplica(folder) : undefined
}

/** Removes the copy: the next {@link prepareReplica} makes it anew, if not too many have been damaged. */
export function discardReplica(folder: string, isDamaged = false): void {
  if (isDamaged) writeMark(folder, (readMark(folder) ?? 0) + 1)
  rmSync(replicaFolder(folder), { recursive: true, force: true })
}

/** Why the copy cannot be used; undefined when it can. */
async function faultOf(session: PostgresSession, folder: string): Promise<string | undefined> {
  if (!existsSync(replicaFolder(folder))) return 'there is none'
  let local: KeyValueStore
  try {
    local = openFolder(folder)
  } catch (error) {
    return wordsOf(error)
  }
  try {
    const note = readNote(local)
    if (note?.isComplete === false) return 'it is not complete'
    if (note && note.boot !== machineStart()) return 'the machine has been started anew since it was written'
    return await disagreement(session, note)
  } finally {
    await local.close()
  }
}

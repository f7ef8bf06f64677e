// The folder of a node's local copy. It is disposable: what it holds can be copied again, so nothing in it is flushed.
// A file beside it says which store it is a copy of and whether it can be trusted: after a crash of the machine the
// pages on disk may be of any age, and the number of the system's start tells that.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../base/random.ts'
import type { KeyValueStore } from '../contract.ts'
import { openLmdb } from '../lmdb.ts'
import { type CopyProgress, copyState } from './copy-state.ts'
import { readBatch, readHead } from './record.ts'
import { progressOf } from './replica.ts'
import { type RecordLocation, Session } from './session.ts'
import { openTables, readIdentity } from './tables.ts'

/** What the file beside the copy says. */
interface Label {
  readonly storeId: string
  /** The system's start since which the copy has been written to; absent where systems do not tell. */
  readonly boot: string | undefined
  /** False while the state is being copied, and from the moment the copy is known to be worthless. */
  readonly complete: boolean
}

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

const bootFile = '/proc/sys/kernel/random/boot_id'

const dataOf = (folder: string) => join(folder, 'replica')
const labelOf = (folder: string) => join(folder, 'replica.json')

/**
 * Makes sure that the data directory holds a copy that the log can be redone on, copying the state when it does not. One
 * process of a node does this before any opens the copy. Throws `StoreUnavailableError` when the database is away.
 */
export async function prepareReplica(options: PrepareOptions): Promise<void> {
  const { location, folder, node } = options
  const session = await Session.open(location, node)
  try {
    const { storeId } = await openTables(session, options.random)
    mkdirSync(folder, { recursive: true })
    const fault = await faultOf(session, folder, storeId)
    if (fault === undefined) {
      writeLabel(folder, { storeId, boot: currentBoot(), complete: true })
      return
    }
    options.onCopy(fault)
    rmSync(dataOf(folder), { recursive: true, force: true })
    writeLabel(folder, { storeId, boot: currentBoot(), complete: false })
    const local = openReplica(folder)
    try {
      await copyState(session, local, node, storeId, options.onProgress)
    } finally {
      await local.close()
    }
    writeLabel(folder, { storeId, boot: currentBoot(), complete: true })
  } finally {
    session.close()
  }
}

/** Opens the copy in a data directory. */
export function openReplica(folder: string): KeyValueStore {
  return openLmdb({ path: dataOf(folder), durable: false })
}

/**
 * Opens the copy in a data directory, which a node may serve meanwhile, if it is a copy of that record which the log can be
 * redone on; undefined when there is nothing to compare.
 */
export async function openComparable(session: Session, folder: string): Promise<KeyValueStore | undefined> {
  const { storeId } = await readIdentity(session)
  return (await faultOf(session, folder, storeId)) === undefined ? openReplica(folder) : undefined
}

/** Marks the copy as worthless: the next {@link prepareReplica} makes it anew. */
export function discardReplica(folder: string): void {
  const label = readLabel(folder)
  if (label) writeLabel(folder, { ...label, complete: false })
}

/** Why the copy cannot be used; undefined when it can. */
async function faultOf(session: Session, folder: string, storeId: string): Promise<string | undefined> {
  const label = readLabel(folder)
  if (label === undefined || !existsSync(dataOf(folder))) return 'there is none'
  if (label.storeId !== storeId) return 'it is a copy of another store'
  if (!label.complete) return 'it is not complete'
  if (label.boot !== currentBoot()) return 'the machine has been started anew since it was written'
  let local: KeyValueStore
  try {
    local = openReplica(folder)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  try {
    return await recordFault(session, local)
  } finally {
    await local.close()
  }
}

/** Why the log cannot be redone on the copy. */
async function recordFault(session: Session, local: KeyValueStore): Promise<string | undefined> {
  const progress = local.read(progressOf)
  const head = await readHead(session)
  if (progress.seq > head.seq) return 'the record is older than it'
  const batch = progress.batch === '' ? undefined : await readBatch(session, progress.seq)
  if (batch !== undefined && batch !== progress.batch) return 'the record has another past'
  const next = progress.seq < head.seq ? await readBatch(session, progress.seq + 1) : batch
  const lacksRows = next === undefined && progress.seq < head.seq
  return lacksRows ? 'the log no longer holds what it lacks' : undefined
}

function readLabel(folder: string): Label | undefined {
  try {
    const label = JSON.parse(readFileSync(labelOf(folder), 'utf8')) as Partial<Label> | null
    if (typeof label?.storeId !== 'string' || typeof label.complete !== 'boolean') return undefined
    return { storeId: label.storeId, boot: label.boot, complete: label.complete }
  } catch {
    return undefined
  }
}

/** Replaced as a whole, so that a crash leaves the old one or the new one. */
function writeLabel(folder: string, label: Label): void {
  const file = labelOf(folder)
  writeFileSync(`${file}.new`, JSON.stringify(label), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

function currentBoot(): string | undefined {
  try {
    return readFileSync(bootFile, 'utf8').trim()
  } catch {
    return undefined
  }
}

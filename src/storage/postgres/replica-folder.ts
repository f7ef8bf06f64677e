// The folder of a node's replica. The replica is disposable: its content can be copied again, so commits are not
// flushed. A note in the replica identifies the store, and shows whether the replica is valid. After a crash of the
// machine, the pages on disk may be of any age. The boot id in the note then differs from the machine's boot id, so the
// replica is rebuilt. A node that shuts down normally flushes its replica, which is then valid after a restart of the
// machine, and on another machine. Also checks the database before a node starts.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { flushNames, makeFolder } from '../../base/folders.ts'
import type { Random } from '../../base/random.ts'
import { bootId } from '../../base/system-process.ts'
import { readIfPresent } from '../../base/text-file.ts'
import type { KeyValueStore } from '../kv/kv-contract.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import { dataFileName, findDamage } from '../lmdb/data-file.ts'
import { openLmdb } from '../lmdb/lmdb.ts'
import { logMismatch } from './catch-up.ts'
import { type CopyProgress, copyState } from './copy-state.ts'
import { sqlStateOf } from './failures.ts'
import { PostgresSession, type RecordLocation } from './postgres-session.ts'
import { noteIn, noteWrite, readNote } from './replica.ts'
import { openTables } from './tables.ts'

interface PrepareOptions {
  readonly location: RecordLocation
  /** The data directory; the replica is in its folder `replica`. */
  readonly folder: string
  readonly node: string
  readonly random: Random
  /** Called with the reason when the state is copied. */
  readonly onCopy: (reason: string) => void
  readonly onProgress: (progress: CopyProgress) => void
}

/** The folder of the replica in a data directory. */
export const replicaFolder = (folder: string): string => join(folder, 'replica')

/**
 * Ensures that the log can be applied to the replica in the data directory. Otherwise, copies the state of the record
 * (the store's tables in PostgreSQL), or continues an interrupted copy. Only one process of a node may call this
 * function, before any process opens the replica. Throws `StoreUnavailableError` when the database is unavailable.
 */
export async function prepareReplica(options: PrepareOptions): Promise<void> {
  const { location, folder, node } = options
  await PostgresSession.use(location, node, async session => {
    await assertFit(session, location, node)
    await openTables(session, options.random)
    makeFolder(folder)
    const damage = await checkAndMarkInUse(folder)
    const fault = damage === undefined ? await faultOf(session, folder) : { reason: damage }
    if (fault === undefined || fault.isInterruptedCopy) await claimReplica(folder)
    else discardReplica(folder)
    if (fault === undefined) return
    options.onCopy(fault.reason)
    const local = openReplicaStore(folder)
    try {
      await copyState(session, local, node, options.onProgress)
    } finally {
      await local.close()
    }
  })
}

/**
 * A file that exists from the preparation of the replica until the node has shut down normally. If it still exists at
 * the next start, the replica is checked, because LMDB crashes the process at an invalid page. It contains the number
 * of consecutive damaged replicas.
 */
const inUseFileOf = (folder: string) => join(folder, 'replica-in-use')
/** Maximum number of consecutive damaged replicas. If there are more, the cause is probably the machine. */
const damagesMax = 3

/** Undefined if the file {@link inUseFileOf} does not exist. */
function readDamages(folder: string): number | undefined {
  const damages = readIfPresent(inUseFileOf(folder))
  return damages === undefined ? undefined : Number.parseInt(damages, 10) || 0
}

function markInUse(folder: string, damages: number): void {
  writeFileSync(inUseFileOf(folder), String(damages), { mode: 0o600, flush: true })
  flushNames(folder)
}

/**
 * Checks the replica if its node did not shut down normally, then writes the file {@link inUseFileOf}. Returns
 * undefined if there is no damage, or no check. Throws {@link StoreUnavailableError} if too many consecutive replicas
 * were damaged.
 */
async function checkAndMarkInUse(folder: string): Promise<string | undefined> {
  const earlierDamages = readDamages(folder)
  const file = join(replicaFolder(folder), dataFileName)
  const hasReplica = existsSync(file)
  const damage = earlierDamages !== undefined && hasReplica ? await findDamage(file) : undefined
  const damages = damage !== undefined ? (earlierDamages ?? 0) + 1 : hasReplica ? 0 : (earlierDamages ?? 0)
  if (damages > damagesMax)
    throw new StoreUnavailableError(
      `the replica of the store was damaged ${damages} times: check the disk and the memory of this machine, then remove ${inUseFileOf(folder)}`,
    )
  markInUse(folder, damages)
  return damage
}

/** A file of the replica that exists while all of its pages are on the disk and no process of a node uses it. */
const flushedFileOf = (folder: string) => join(replicaFolder(folder), 'flushed')

/** Flushes the replica, and marks it as flushed. Called after all processes of the node have closed it normally. */
export async function markReplicaFlushed(folder: string): Promise<void> {
  const data = join(replicaFolder(folder), dataFileName)
  if (existsSync(data)) {
    await flushFile(data)
    writeFileSync(flushedFileOf(folder), '', { mode: 0o600, flush: true })
    flushNames(replicaFolder(folder))
  }
  rmSync(inUseFileOf(folder), { force: true })
}

async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Prepares a flushed replica for writes: removes the file `flushed`, and stores this machine's boot id in the note. */
async function claimReplica(folder: string): Promise<void> {
  const flushedFile = flushedFileOf(folder)
  if (!existsSync(flushedFile)) return
  rmSync(flushedFile)
  // The file must not reappear after a crash of the machine that follows writes to the replica.
  flushNames(replicaFolder(folder))
  const local = openReplicaStore(folder)
  try {
    await local.transact(view => {
      const note = noteIn(view)
      const boot = bootId()
      const writes = note && note.boot !== boot ? [noteWrite({ ...note, boot })] : []
      return { result: undefined, writes }
    })
  } finally {
    await local.close()
  }
}

/** Throws {@link StoreUnavailableError} when there is no complete replica. */
export function openReplica(folder: string): KeyValueStore {
  const local = openReplicaStore(folder)
  if (readNote(local)?.isComplete === true) return local
  void local.close()
  throw new StoreUnavailableError(`there is no replica of the store in ${replicaFolder(folder)}`)
}

function openReplicaStore(folder: string): KeyValueStore {
  return openLmdb({ path: replicaFolder(folder), durable: false })
}

/**
 * Returns undefined if the log of the record cannot be applied to the replica. A node may use the replica at the same
 * time.
 */
export async function openForComparison(
  session: PostgresSession,
  folder: string,
): Promise<KeyValueStore | undefined> {
  return (await faultOf(session, folder)) === undefined ? openReplica(folder) : undefined
}

/**
 * The next {@link prepareReplica} rebuilds the replica, or fails if too many consecutive replicas were damaged.
 * `isDamaged`: whether this replica is counted as damaged.
 */
export function discardReplica(folder: string, isDamaged = false): void {
  if (isDamaged) markInUse(folder, (readDamages(folder) ?? 0) + 1)
  rmSync(replicaFolder(folder), { recursive: true, force: true })
}

interface ReplicaFault {
  /** Why the replica cannot be used. */
  readonly reason: string
  /** The replica is an interrupted copy that can be continued. */
  readonly isInterruptedCopy?: boolean
}

/** Returns undefined when the replica can be used. */
async function faultOf(session: PostgresSession, folder: string): Promise<ReplicaFault | undefined> {
  if (!existsSync(replicaFolder(folder))) return { reason: 'there is none' }
  let local: KeyValueStore
  try {
    local = openReplicaStore(folder)
  } catch (error) {
    return { reason: causeText(error) }
  }
  try {
    const note = readNote(local)
    if (note && note.boot !== bootId() && !existsSync(flushedFileOf(folder)))
      return { reason: 'the machine has been restarted since it was written' }
    const reason = await logMismatch(session, note)
    if (reason !== undefined) return { reason }
    return note?.isComplete ? undefined : { reason: 'an interrupted copy continues', isInterruptedCopy: true }
  } finally {
    await local.close()
  }
}

/** Maximum number of connections of one process, including the one that counts rows during a copy of the state. */
const sessionsMax = 6
/** Time limit of these checks. Without it, a statement could wait long for a connection of a pooler. */
const patienceMs = 3_000
/** SQLSTATE of a connection that exceeds a limit of the role, the database or the server. */
const tooManyState = '53300'

/**
 * Throws {@link StoreUnavailableError} when the database allows fewer connections than a node needs, or is behind a
 * pooler that changes the session between transactions. `session` is the first of the connections. With an unsuitable
 * database, a node would start but fail from time to time.
 */
async function assertFit(session: PostgresSession, location: RecordLocation, node: string): Promise<void> {
  const own = await backendOf(session)
  const opening = Array.from({ length: sessionsMax - 1 }, () =>
    PostgresSession.open(location, node, patienceMs),
  )
  const opened = await Promise.allSettled(opening)
  const others = opened.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
  try {
    // A pooler sends its clients process ids that differ from the process ids of the server.
    if (own !== session.processId && (await isShared(own, others)))
      throw new StoreUnavailableError(
        'the address of the store leads to a connection pooler in transaction mode: set its pool_mode to session, or use the address of PostgreSQL itself',
      )
    const failed = opened.find(each => each.status === 'rejected')
    if (failed) throw tooFewSessions(failed.reason)
  } finally {
    // The database must never count these connections and those of the node against its limit at the same time.
    await Promise.all(others.map(other => other.end()))
  }
}

/** Returns whether the server process `own`, which serves an idle session, also serves a transaction of `others`. */
async function isShared(own: number, others: readonly PostgresSession[]): Promise<boolean> {
  const begun = others.map(async other => {
    const [, backend] = await Promise.all([other.query('BEGIN'), backendOf(other)])
    return backend
  })
  const backends = await Promise.allSettled(begun)
  return backends.some(each => each.status === 'fulfilled' && each.value === own)
}

async function backendOf(session: PostgresSession): Promise<number> {
  const [row] = await session.query('SELECT pg_backend_pid() AS pid')
  return Number(row?.pid)
}

/** Explains the database's error about too many connections. Returns other errors unchanged. */
function tooFewSessions(cause: unknown): unknown {
  if (!(cause instanceof StoreUnavailableError) || sqlStateOf(cause.cause) !== tooManyState) return cause
  return new StoreUnavailableError(
    `a node needs ${sessionsMax} connections to its database, for each of its processes, and gets fewer: ${cause.message}`,
    { cause },
  )
}

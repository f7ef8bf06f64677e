// Opens the store of a process: the data directory itself, or its replica of a PostgreSQL database that several
// machines share.

import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { systemClock } from '../base/clock.ts'
import type { Micros } from '../base/micros.ts'
import { NoticeBoard, noticesEveryMs } from '../base/notices.ts'
import { systemRandom } from '../base/random.ts'
import { openSnapshotTimes, type Timeline } from '../base/timeline.ts'
import { type Cancel, systemTimers } from '../base/timers.ts'
import type { KeyValueStore } from '../storage/kv/kv-contract.ts'
import { isReplicated } from '../storage/kv/replicated-store.ts'
import { causeText, isDamage, StoreUnavailableError } from '../storage/kv/store-errors.ts'
import { assertIdentity } from '../storage/lmdb/claim.ts'
import { DurableSequence } from '../storage/log/durable-sequence.ts'
import { openFollower } from '../storage/log/follower.ts'
import { openLogged } from '../storage/log/logged-store.ts'
import type { ApplyLag } from '../storage/log/position.ts'
import { logFolder } from '../storage/log/segment-files.ts'
import { openSameStore } from '../storage/postgres/catch-up.ts'
import { Checkpointer, checkpointEveryMs } from '../storage/postgres/checkpoint.ts'
import type { CopyProgress } from '../storage/postgres/copy-state.ts'
import { RecordFiles } from '../storage/postgres/files.ts'
import { RecordLogChunks } from '../storage/postgres/log-chunks.ts'
import { openPostgres, type ReplicaStatus } from '../storage/postgres/postgres.ts'
import { PostgresSession, type RecordLocation } from '../storage/postgres/postgres-session.ts'
import { ReconnectingSession } from '../storage/postgres/reconnecting-session.ts'
import {
  discardReplica,
  markReplicaFlushed,
  openReplica,
  prepareReplica,
} from '../storage/postgres/replica-folder.ts'
import { BackgroundLease, NoticeExchange, Upkeep, type UpkeepTask } from '../storage/postgres/upkeep.ts'
import { workersMax } from '../storage/store/ids.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import type { Config } from './config/settings.ts'
import { ContinuousBackup } from './open-backup.ts'

/** Bounds the time for which a stopping service waits for the database of a shared store. */
export interface StoreWaits {
  /** Makes writes fail soon from now on if the database does not respond. */
  shorten(): void
  /** Aborts waiting operations after a short time. */
  end(): void
}

interface StoreHandle {
  readonly kv: KeyValueStore
  /** Returns the sequence number of the newest durable record in the commit log. Undefined without a log. */
  readonly logSequence?: () => number
  /** The part of the commit log that is not in LMDB; absent without a log. */
  readonly applyLag?: () => ApplyLag
  readonly backup?: ContinuousBackup
  /**
   * Present when several machines share the store. The caller uses these parts instead of those of the local data
   * directory.
   */
  readonly shared?: {
    readonly timeline: Timeline
    /**
     * Preferred worker number, a random part of the ids that this process generates. If another process has reserved
     * it, the next number is used.
     */
    readonly worker: number
    /** Microseconds, by the clock that all machines share. */
    readonly now: () => Micros
    readonly replicaStatus: () => ReplicaStatus
    readonly waits: StoreWaits
    /** Exchanges notices between all processes of all machines. */
    readonly notices: NoticeBoard
    /** True while this process should do the background work of all machines. */
    readonly mayWork: () => boolean
    /** Query logs of all machines. */
    readonly chunks: RecordLogChunks
    /** Exported files that all machines can read. */
    readonly files: RecordFiles
  }
}

interface CommitNotices {
  readonly watch: KeyValueStore['watch']
  close(): Promise<void>
}

/** The part of a process's role that concerns the store. */
export interface StoreRole {
  /** True: the process builds indexes and removes expired versions. One process of a data directory has this role. */
  readonly background: boolean
  /** The file with the shared timeline, when several processes use the data directory. */
  readonly timelineFile?: string
  /** Unique among the processes that write. */
  readonly worker: number
  /**
   * Kills the process after its replica of the store was found invalid and discarded. Without this function, operations
   * fail with StoreUnavailableError.
   */
  readonly onFatal?: () => never
  /**
   * Kills the process when the outcome of a commit is unknown. Without this function, the store commits nothing more.
   */
  readonly onLostFlush?: () => never
  /** The connection of a worker to the committing process. */
  readonly committer?: CommitNotices | undefined
}

/** Names this process in the tables of a shared store. */
export const nodeName = `${hostname()}-${process.pid}-${systemRandom.hex(4)}`

/** Milliseconds after which a stopping service aborts its last requests to the database. */
const endGraceMs = 2_000
/** Milliseconds between two logs of a copy's progress. */
const progressLogMs = 2_000

/**
 * Prepares the data directory of a node with a shared store, and reports the progress: copies the state, unless the
 * directory has a replica that the log can bring up to date. One process of a node calls this function, before any
 * process opens the store.
 */
export async function prepareStore(
  config: Config,
  log: Logger,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  if (config.store === undefined) return
  let loggedMs = systemClock.elapsedMs()
  await prepareReplica({
    location: locationOf(config.store, config),
    folder: config.data,
    node: nodeName,
    random: systemRandom,
    onCopy: reason => log.info({ reason }, 'copying the state of the store'),
    onProgress: progress => {
      onProgress(progress)
      if (systemClock.elapsedMs() - loggedMs < progressLogMs) return
      loggedMs = systemClock.elapsedMs()
      log.info(progress, 'copying the state of the store')
    },
  })
}

/** Called after all processes of this data directory have closed the store cleanly. Affects only replicas. */
export async function markStoreComplete({ data, store }: Config): Promise<void> {
  if (store !== undefined) await markReplicaFlushed(data)
}

function locationOf(url: string, { storeSchema, storeHoldMs }: Config): RecordLocation {
  return { url, schema: storeSchema, holdMs: storeHoldMs }
}

export function withStoreSession<T>(
  { store, storeSchema }: { readonly store: string; readonly storeSchema: string },
  use: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  return PostgresSession.use({ url: store, schema: storeSchema }, nodeName, use)
}

/** Opens a prepared data directory. Processes with `background` also maintain a shared store. */
export async function openConfiguredStore(
  config: Config,
  log: Logger,
  { background, committer, onFatal, onLostFlush, timelineFile, worker }: StoreRole,
): Promise<StoreHandle> {
  if (config.store === undefined && committer) return openWorkerStore(config, committer)
  if (config.store === undefined && !background) return { kv: openFollower({ path: config.data }) }
  if (config.store === undefined) {
    return openLoggedStore(config, log, { isFollowed: timelineFile !== undefined, onLostFlush })
  }
  const ending = new AbortController()
  const snapshotTimes = timelineFile === undefined ? undefined : openSnapshotTimes(timelineFile, worker)
  const location = { ...locationOf(config.store, config), ending: ending.signal }
  const discard = (reason: string, isDamaged = false): never => {
    const message = 'the replica of the store is invalid and will be rebuilt at the next start'
    log.fatal({ reason }, message)
    discardReplica(config.data, isDamaged)
    onFatal?.()
    throw new StoreUnavailableError(message)
  }
  const kv = await openPostgres({
    location,
    local: replicaIn(config.data, discard),
    node: nodeName,
    clock: systemClock,
    ...(snapshotTimes && { usedTimes: snapshotTimes }),
    timers: systemTimers,
    random: systemRandom,
    newestTime: view => lastCommit(view).time,
    readPatienceMs: config.storeStaleReadsMs,
    writePatienceMs: config.storeWriteWaitMs,
    onFault: fault => {
      if (fault === undefined)
        log.info('the database of the store is available again, and the replica is up to date')
      else if (fault.isLocal) log.error({ reason: fault.reason }, 'cannot update the replica of the store')
      else log.error({ reason: fault.reason }, 'the database of the store is unavailable')
    },
    onDiverged: discard,
  })
  const notices = new NoticeBoard()
  const lease = new BackgroundLease(nodeName, systemClock.elapsedMs)
  const open = () => openSameStore(location, nodeName, kv.storeId)
  // Leases and notices need not survive a failover: their owners write them again.
  const openLocal = async () => {
    const session = await open()
    await session.commitLocally()
    return session
  }
  const leaseAndNotices = [...(background ? [lease] : []), new NoticeExchange(notices, nodeName)]
  const upkeeps = [
    upkeepOf(openLocal, leaseAndNotices, noticesEveryMs, log),
    ...(background
      ? [upkeepOf(open, [new Checkpointer(nodeName, config.storeLogMinutes * 60)], checkpointEveryMs, log)]
      : []),
  ]
  const sessions = new ReconnectingSession(open)
  let cancelEnd: Cancel = () => undefined
  const waits = {
    shorten: () => kv.shortenPatience(),
    end: () => {
      cancelEnd()
      cancelEnd = systemTimers.after(endGraceMs, () => ending.abort())
    },
  }
  const close = async () => {
    waits.end()
    await Promise.all(upkeeps.map(each => each.stop()))
    sessions.close()
    await kv.close()
    snapshotTimes?.close()
    cancelEnd()
  }
  const shared = {
    timeline: kv.timeline,
    worker: systemRandom.below(workersMax),
    now: () => kv.now(),
    replicaStatus: () => kv.status,
    waits,
    notices,
    mayWork: () => lease.isHeld,
    chunks: new RecordLogChunks(sessions, nodeName),
    files: new RecordFiles(sessions, systemRandom),
  }
  return { kv: storeOver(kv, { close }), shared }
}

/**
 * Opens the data directory of the committing process, with its continuous backup; `isFollowed`: see {@link openLogged}.
 */
function openLoggedStore(
  { backupDays, backupTo, data, logLevel }: Config,
  log: Logger,
  { isFollowed, onLostFlush }: { readonly isFollowed: boolean } & Pick<StoreRole, 'onLostFlush'>,
): StoreHandle {
  const backup =
    backupTo === undefined
      ? undefined
      : new ContinuousBackup({ data, target: backupTo, retentionDays: backupDays, logLevel, logger: log })
  const kv = openLogged({
    path: data,
    isFollowed,
    ...(backup && { records: backup }),
    onLostFlush: error => {
      log.fatal({ err: error }, 'the outcome of a commit is unknown; nothing more can be committed')
      onLostFlush?.()
    },
  })
  return {
    kv,
    logSequence: () => kv.logSequence,
    applyLag: () => kv.applyLag,
    ...(backup && { backup }),
  }
}

/** Opens the data directory of a worker, which reads LMDB and the log. Another process commits. */
function openWorkerStore({ data }: Config, committer: CommitNotices): StoreHandle {
  const durable = new DurableSequence(join(data, logFolder), 'read')
  const onClose = async () => {
    await committer.close()
    durable.close()
  }
  const logSequence = () => durable.read()
  const kv = openFollower({ path: data, durable: logSequence, watch: committer.watch, onClose })
  return { kv, logSequence, applyLag: () => kv.applyLag }
}

function upkeepOf(
  open: () => Promise<PostgresSession>,
  tasks: readonly UpkeepTask[],
  everyMs: number,
  log: Logger,
): Upkeep {
  const onError = (error: unknown) => log.warn({ err: error }, 'the maintenance of the store failed')
  return new Upkeep({ open, timers: systemTimers, everyMs, tasks, onError })
}

/** Calls `discard` when the replica cannot be opened, or when a later operation finds damage. */
function replicaIn(folder: string, discard: (reason: string, isDamaged?: boolean) => never): KeyValueStore {
  const discardIfDamaged = (cause: unknown): never => {
    if (isDamage(cause)) discard(causeText(cause), true)
    throw cause
  }
  let local: KeyValueStore
  try {
    local = openReplica(folder)
  } catch (cause) {
    return discard(causeText(cause), isDamage(cause))
  }
  return storeOver(local, {
    read: read => {
      try {
        return local.read(read)
      } catch (cause) {
        return discardIfDamaged(cause)
      }
    },
    transact: work => local.transact(work).catch(discardIfDamaged),
  })
}

/**
 * Opens the data directory of a slow-lane process, or the replica in it. `logSequence`: see `durable` of {@link
 * openFollower}. Throws `StoreUnavailableError` when the directory does not have the given identity.
 */
export function openLaneStore(config: Config, identity: string, logSequence: () => number): KeyValueStore {
  const { data, store } = config
  // Opening creates missing files, so the identity is checked before. It is checked again after, because the directory
  // may be replaced between the first check and the opening.
  assertIdentity(data, identity)
  const kv = store === undefined ? openFollower({ path: data, durable: logSequence }) : openReplica(data)
  assertIdentity(data, identity)
  return kv
}

function storeOver(kv: KeyValueStore, replaced: Partial<KeyValueStore>): KeyValueStore {
  return {
    read: read => kv.read(read),
    transact: (work, prepare) => kv.transact(work, prepare),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
    ...(isReplicated(kv) && {
      ready: (...given: Parameters<typeof kv.ready>) => kv.ready(...given),
      watchForeign: (listener: Parameters<typeof kv.watchForeign>[0]) => kv.watchForeign(listener),
    }),
    ...replaced,
  }
}

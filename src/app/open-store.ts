// Opens what a process keeps its data in: the data directory itself, or a local copy of a record that several machines
// share.

import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { systemClock } from '../base/clock.ts'
import { epoch, type Micros } from '../base/micros.ts'
import { NoticeBoard, noticesEveryMs } from '../base/notices.ts'
import { systemRandom } from '../base/random.ts'
import { openSnapshotTimes } from '../base/shared-timeline.ts'
import type { Timeline } from '../base/timeline.ts'
import { type Cancel, systemTimers } from '../base/timers.ts'
import type { KeyValueStore } from '../storage/kv/contract.ts'
import { isDamage, StoreUnavailableError, wordsOf } from '../storage/kv/errors.ts'
import { assertIdentity } from '../storage/kv/folder-identity.ts'
import { openLmdb } from '../storage/kv/lmdb.ts'
import { Checkpointer, checkpointEveryMs } from '../storage/kv/postgres/checkpoint.ts'
import type { CopyProgress } from '../storage/kv/postgres/copy-state.ts'
import { RecordFiles } from '../storage/kv/postgres/files.ts'
import { KeptSession } from '../storage/kv/postgres/kept-session.ts'
import { KeptLease } from '../storage/kv/postgres/lease.ts'
import { RecordLogChunks } from '../storage/kv/postgres/log-chunks.ts'
import { NoticeExchange } from '../storage/kv/postgres/notice-exchange.ts'
import { openPostgres, PostgresStore, type Standing } from '../storage/kv/postgres/postgres.ts'
import {
  discardReplica,
  openReplica,
  prepareReplica,
  settleReplica,
} from '../storage/kv/postgres/replica-folder.ts'
import { openSame } from '../storage/kv/postgres/same-record.ts'
import { PostgresSession, type RecordLocation } from '../storage/kv/postgres/session.ts'
import { Upkeep, type UpkeepTask } from '../storage/kv/postgres/upkeep.ts'
import { storeOver } from '../storage/kv/store-over.ts'
import { workersMax } from '../storage/store/ids.ts'
import { lastCommit } from '../storage/store/last-commit.ts'
import type { Config } from './config/settings.ts'

/** How long the database of a store is waited for. It may swallow whatever it is sent, and a service has to end in time. */
export interface StoreWaits {
  /** From now on writes that find no answer are refused soon. */
  shorten(): void
  /** What still waits is given up after a moment. */
  end(): void
}

/** An open store. */
interface OpenedStore {
  readonly kv: KeyValueStore
  /** Present when several machines share the store: then these are not for the data directory to decide. */
  readonly shared?: {
    readonly timeline: Timeline
    /** The number that ids of this process carry, unless another one has it: drawn. */
    readonly worker: number
    /** The time of day by the clock that all machines share, in microseconds. */
    readonly now: () => Micros
    readonly standing: () => Standing
    readonly waits: StoreWaits
    /** Exchanged with all processes of all machines. */
    readonly notices: NoticeBoard
    /** Whether this process is the one among all that does the background work now. */
    readonly mayWork: () => boolean
    /** The query logs of all machines, and files that all can read. */
    readonly chunks: RecordLogChunks
    readonly files: RecordFiles
  }
}

/** A process among those of a data directory. */
interface StoreRole {
  readonly background: boolean
  /** Where they agree about time, when there are several. */
  readonly timelineFile?: string
  /** Its number. */
  readonly worker: number
  /**
   * Ends the process, whose local copy of the store is invalid and has been discarded. Absent: what was under way throws
   * StoreUnavailableError.
   */
  readonly onFatal?: () => never
}

/** Names this process in the tables of a shared record. */
export const nodeName = `${hostname()}-${process.pid}-${systemRandom.hex(4)}`

/** Milliseconds that a database has to answer what is left to be said when the service ends. */
const endGraceMs = 2_000
/** How often, in milliseconds, the progress of a copy is logged. */
const progressLogMs = 2_000

/**
 * Makes the data directory ready to be opened, telling how far that has come: a node over a shared record copies its
 * state first, unless the folder holds a copy that the log can be redone on. One process of a node does this, before
 * any opens the store.
 */
export async function prepareStore(
  config: Config,
  log: Logger,
  onProgress: (progress: CopyProgress) => void = () => undefined,
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

/** What {@link prepareStore} has begun ends: all processes of this data directory have closed the store in order. */
export function settleStore({ data, store }: Config): void {
  if (store !== undefined) settleReplica(data)
}

function locationOf(url: string, { storeSchema, storeHoldMs }: Config): RecordLocation {
  return { url, schema: storeSchema, holdMs: storeHoldMs }
}

/** Runs `use` on a session with the shared record. */
export function withRecord<T>(
  { store, storeSchema }: { readonly store: string; readonly storeSchema: string },
  use: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  return PostgresSession.use({ url: store, schema: storeSchema }, nodeName, use)
}

/** Opens the store of a prepared data directory; `background` processes also do the upkeep of a shared record. */
export async function openConfiguredStore(
  config: Config,
  log: Logger,
  { background, onFatal, timelineFile, worker }: StoreRole,
): Promise<OpenedStore> {
  if (config.store === undefined) return { kv: openLmdb({ path: config.data }) }
  const ending = new AbortController()
  const given = timelineFile === undefined ? undefined : openSnapshotTimes(timelineFile, worker)
  const location = { ...locationOf(config.store, config), ending: ending.signal }
  const endWorthless = (reason: string, isDamaged = false): never => {
    const message = 'the local copy of the store is worthless and will be made anew at the next start'
    log.fatal({ reason }, message)
    discardReplica(config.data, isDamaged)
    onFatal?.()
    throw new StoreUnavailableError(message)
  }
  const kv = await openPostgres({
    location,
    local: replicaIn(config.data, endWorthless),
    node: nodeName,
    clock: systemClock,
    ...(given && { given }),
    timers: systemTimers,
    random: systemRandom,
    newestTime: view => lastCommit(view).time,
    readPatienceMs: config.storeStaleReadsMs,
    writePatienceMs: config.storeWriteWaitMs,
    onFault: fault => {
      if (fault === undefined) log.info('the database of the store is back, and this node up with it')
      else if (fault.isLocal) log.error({ reason: fault.reason }, 'this node does not keep up with the store')
      else log.error({ reason: fault.reason }, 'the database of the store is away')
    },
    onDiverged: endWorthless,
  })
  const notices = new NoticeBoard()
  const lease = new KeptLease('background', nodeName, systemClock.elapsedMs)
  const open = () => openSame(location, nodeName, kv.storeId)
  const shares = [...(background ? [lease] : []), new NoticeExchange(notices, nodeName)]
  const upkeeps = [
    upkeepOf(open, shares, noticesEveryMs, log),
    ...(background ? [upkeepOf(open, [new Checkpointer(nodeName)], checkpointEveryMs, log)] : []),
  ]
  const sessions = new KeptSession(open)
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
    given?.close()
    cancelEnd()
  }
  const shared = {
    timeline: kv.timeline,
    worker: systemRandom.below(workersMax),
    now: () => kv.now(),
    standing: () => kv.standing,
    waits,
    notices,
    mayWork: () => lease.isHeld,
    chunks: new RecordLogChunks(sessions, nodeName),
    files: new RecordFiles(sessions, systemRandom),
  }
  return { kv: storeOver(kv, { close }), shared }
}

/** Does `tasks` in the background, every so many milliseconds. */
function upkeepOf(
  open: () => Promise<PostgresSession>,
  tasks: readonly UpkeepTask[],
  everyMs: number,
  log: Logger,
): Upkeep {
  const onError = (error: unknown) => log.warn({ err: error }, 'the upkeep of the store failed')
  return new Upkeep({ open, timers: systemTimers, everyMs, tasks, onError })
}

/** The copy in a data directory, which may have gone since it was prepared; `end` is called when it is, or is damaged. */
function replicaIn(folder: string, end: (reason: string, isDamaged?: boolean) => never): KeyValueStore {
  const looked = (cause: unknown): never => {
    if (isDamage(cause)) end(wordsOf(cause), true)
    throw cause
  }
  let local: KeyValueStore
  try {
    local = openReplica(folder)
  } catch (cause) {
    return end(wordsOf(cause), isDamage(cause))
  }
  return storeOver(local, {
    read: read => {
      try {
        return local.read(read)
      } catch (cause) {
        return looked(cause)
      }
    },
    transact: work => local.transact(work).catch(looked),
  })
}

/**
 * Opens what a process of the slow lane reads and commits to: the data directory, or the local copy in it and the record that
 * it is of, which is connected with the first commit. `closed` as a {@link Timeline} has it. Throws `StoreUnavailableError`
 * when the folder is not the one with that identity.
 */
export function openLaneStore(
  config: Config,
  identity: string,
): { readonly kv: KeyValueStore; readonly closed?: () => Micros } {
  const { data, store } = config
  // Before, because opening would make what is not there; and after, when nothing can come in between any more.
  assertIdentity(data, identity)
  const local = store === undefined ? openLmdb({ path: data }) : openReplica(data)
  assertIdentity(data, identity)
  if (store === undefined) return { kv: local }
  // Never started: the copy is kept up by the service, and what is wrong with it is found there.
  const record = new PostgresStore({
    location: locationOf(store, config),
    local,
    node: nodeName,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    newestTime: view => lastCommit(view).time,
    writePatienceMs: config.storeWriteWaitMs,
    onDiverged: () => undefined,
  })
  const kv = storeOver(local, { transact: work => record.transact(work), close: () => record.close() })
  return { kv, closed: () => record.timeline.closed?.() ?? epoch }
}

// Opens a data directory and builds the engine over it: storage, store, credentials, query language.

import { join } from 'node:path'
import type { Logger } from 'pino'
import { Allowances } from '../base/allowance.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { limits } from '../base/limits.ts'
import type { NoticeBoard } from '../base/notices.ts'
import { openPersistentClock } from '../base/persistent-clock.ts'
import { type Random, systemRandom } from '../base/random.ts'
import { leapWarning } from '../base/removal-time.ts'
import { openSharedTimeline } from '../base/shared-timeline.ts'
import { localTimeline, type Timeline } from '../base/timeline.ts'
import { systemTimers, type Timers } from '../base/timers.ts'
import { queryMemory } from '../engine/bounded.ts'
import type { Engine } from '../engine/contract.ts'
import { createEngine } from '../engine/engine.ts'
import { failureLog } from '../engine/failure-log.ts'
import { RateLimits } from '../engine/rate-limits.ts'
import type { ProcessLane } from '../engine/slow-lane/slow-lane.ts'
import { Streams } from '../engine/streams/streams.ts'
import { createAccess } from '../model/auth/access.ts'
import { createAuthentication } from '../model/auth/authentication.ts'
import { evaluateBinding } from '../model/binding.ts'
import { ImportedDocuments } from '../model/schema/imported-documents.ts'
import { readMigration } from '../model/schema/migration-steps.ts'
import type { SessionHost } from '../model/session.ts'
import { controlRows } from '../query-log/control-store.ts'
import type { SharedLog } from '../query-log/shared-log.ts'
import type { KeyValueStore } from '../storage/kv/contract.ts'
import { identityOf } from '../storage/kv/folder-identity.ts'
import type { Standing } from '../storage/kv/postgres/postgres.ts'
import { startBackground } from '../storage/store/background.ts'
import type { ReserveIds } from '../storage/store/ids.ts'
import { Store } from '../storage/store/store.ts'
import { removalTimeOf } from '../storage/store/time-memory.ts'
import { type WorkLeft, workLeft } from '../storage/store/work-left.ts'
import { createTransferService, type TransferService } from '../transfer/service.ts'
import type { Micros } from '../values/value.ts'
import type { Config } from './config/settings.ts'
import { languages } from './languages.ts'
import { type LaneSetup, openSlowLane } from './open-slow-lane.ts'
import { openConfiguredStore, openLaneStore, type StoreWaits } from './open-store.ts'

/** Where time and randomness come from; tests replay a run by handing in their own. */
export interface ProcessEnvironment {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Shared with the other processes of the store, when there are any. */
  readonly timeline?: Timeline | undefined
  /** The machine's own clock, where `clock` is one that never steps back. */
  readonly wallClock?: Clock
  /** By which those processes tell each other what has been used and tried. */
  readonly notices?: NoticeBoard | undefined
  /** Whether this process is the one that does the background work now; absent: it is. */
  readonly mayWork?: () => boolean
}

/** What a process of the slow lane has from the service, in place of what it would do itself. */
interface LaneParts {
  readonly reserveIds: ReserveIds
  readonly onCheck: () => void
  /** Bytes, about, that may be remembered of what earlier queries have read. */
  readonly rememberedBytesMax: number
  /** The newest time that the service has read at. */
  readonly snapshotTime: () => Micros
}

const system: ProcessEnvironment = { clock: systemClock, timers: systemTimers, random: systemRandom }

/** The role of a process among those that have a data directory open. */
export interface ProcessRole {
  /** Differs between the processes that write. */
  readonly worker: number
  /** Builds indexes and removes what is past; one process of a folder does. */
  readonly background: boolean
  /** Where the processes agree about time, when there are several. */
  readonly timelineFile?: string
  /** Has processes beside it for what takes long. */
  readonly slowLane?: boolean
  /** Ends the process, whose local copy of a shared store is invalid and has been discarded. */
  readonly onFatal?: () => never
  /** Exchanged with the other processes of the folder; those of several machines exchange theirs over the store. */
  readonly notices?: NoticeBoard
}

/** A process that opens a data directory only to look at it. */
const observer: ProcessRole = { worker: 0, background: false }

/** An engine over open storage, and the way to close it. */
export interface OpenEngine {
  readonly engine: Engine
  /** Absent: nothing can be imported or exported. */
  readonly transfer?: TransferService
  /** Present where slow queries have processes of their own. Whoever serves has one of them kept ready. */
  readonly slowLane?: Pick<ProcessLane, 'keepReady' | 'standing'> | undefined
  /** What the background has to do yet, whichever process does it. */
  workLeft(): WorkLeft
  /** Whether this process does the background work now. */
  readonly worksInBackground?: () => boolean
  /** By which it tells other processes of the store; absent: there are none. */
  readonly notices?: NoticeBoard | undefined
  /** Present when several machines share the store: how this one's copy stands. */
  readonly standing?: () => Standing
  /** Present then, too: what the query log has of the store. */
  readonly sharedLog?: SharedLog
  /** Present then, too: how long the database of the store is waited for, which is less when the service stops. */
  readonly waits?: StoreWaits
  close(): Promise<void>
}

/** All that is opened of a data directory. */
interface OpenedFolder extends OpenEngine {
  readonly transfer: TransferService
  readonly store: Store
}

/** Opens the data directory of `config`. Without a root secret in it no caller has its rights. Throws when it cannot be used. */
export async function openEngine(
  config: Config,
  log: Logger,
  role: ProcessRole = observer,
): Promise<OpenedFolder> {
  const { kv, shared } = await openConfiguredStore(config, log, role)
  const hasLane = role.slowLane && config.slowLaneProcesses > 0
  const parts = { kv, config, log, laneFolder: hasLane ? identityOf(config.data) : undefined }
  if (shared !== undefined) {
    const { chunks, files, mayWork, notices, now, waits, standing, timeline, worker } = shared
    const environment = { ...system, clock: { ...systemClock, now }, timeline, notices, mayWork }
    const opened = engineOver({ ...parts, environment, role: { ...role, worker } })
    const sharedLog = { kv: controlRows(kv), now, chunks, files, handsOver: role.background, mayWork }
    return { ...opened, waits, standing, sharedLog }
  }
  // Opened after the store: that takes the writer's lock once, so no process of a former slow lane commits any more.
  const { timeline, close: closeTimeline } = timelineOf(config, role)
  const clock = { ...systemClock, now: () => timeline.now() }
  const environment = { ...system, clock, timeline, wallClock: systemClock, notices: role.notices }
  const opened = engineOver({ ...parts, environment, role })
  const close = async () => {
    await opened.close()
    closeTimeline()
  }
  return { ...opened, close }
}

/** Where the time that a process has reached is kept in the data directory. */
export const clockFileOf = ({ data }: Pick<Config, 'data'>): string => join(data, 'clock')

/** A time on disk may be so far ahead after a crash, in microseconds: no longer than a restart takes. */
const clockAheadMicros = 200_000

/** The timeline of a process; those that serve alone keep it over restarts, and observers have no part in it. */
function timelineOf(
  config: Pick<Config, 'data'>,
  { background, timelineFile, worker }: ProcessRole,
): { readonly timeline: Timeline; close(): void } {
  if (timelineFile !== undefined) {
    const timeline = openSharedTimeline(timelineFile, worker)
    return { timeline, close: () => timeline.close() }
  }
  if (!background) return { timeline: localTimeline(systemClock.now), close: () => undefined }
  const kept = openPersistentClock(clockFileOf(config), clockAheadMicros, systemClock.now)
  return { timeline: localTimeline(kept.now), close: () => kept.close() }
}

/**
 * Opens the data directory in a process of the slow lane. It commits what the service has announced, and tells no time:
 * a snapshot is of the time of its newest commit, or of one that the service has read at itself, so that no later commit
 * can have a time up to it.
 */
export function openLaneEngine(
  { config, folder, worker }: LaneSetup,
  log: Logger,
  within: LaneParts,
): OpenedFolder {
  const { closed, kv } = openLaneStore(config, folder)
  const timeline: Timeline = {
    now: within.snapshotTime,
    reach: () => ({ now: within.snapshotTime(), upTo: within.snapshotTime(), isHalted: true }),
    // Only for evaluation: the service announces the commit.
    announce: atLeast => ({ time: atLeast, end: () => {} }),
    ...(closed && { closed }),
  }
  const role = { worker, background: false }
  return engineOver({ kv, config, log, environment: { ...system, timeline }, role, within })
}

/** What an engine is built from. */
interface EngineParts {
  readonly kv: KeyValueStore
  readonly config: Config
  readonly log: Logger
  readonly environment?: ProcessEnvironment
  /** Absent: it only looks. */
  readonly role?: Pick<ProcessRole, 'worker' | 'background' | 'slowLane'>
  /** The identity of the data directory that processes for what takes long open, too; absent: there are none. */
  readonly laneFolder?: string | undefined
  /** Present in such a process. */
  readonly within?: LaneParts
}

/** Builds the engine over an open key-value store, which is closed with it. */
export function engineOver({
  kv,
  config,
  log,
  environment = system,
  role: { worker, background, slowLane: serves = false } = observer,
  laneFolder,
  within,
}: EngineParts): OpenedFolder {
  const { clock, timers, random, timeline, wallClock = clock, notices, mayWork } = environment
  const now = () => clock.now()
  const { computeOpsPerSecond: compute, readOpsPerSecond: read, writeOpsPerSecond: write } = config
  const rateLimits = new RateLimits({ compute, read, write }, clock)
  notices?.join('rates', rateLimits)
  const { identifier, logins } = authenticationOf(config, log, { clock: wallClock, timers, random, notices })
  const host: SessionHost = {
    createAccess,
    languages,
    now: () => clock.elapsedMs() * 1000,
    logins,
    settings: { audiencePrefix: config.audiencePrefix, allowInsecureJwks: config.allowInsecureJwks },
  }
  const memory = queryMemory(config.queryMemoryMb)
  const store = new Store(kv, {
    clock: now,
    memory,
    ...(timeline && { timeline }),
    worker,
    ...(within && { reserveIds: within.reserveIds, rememberedBytesMax: within.rememberedBytesMax }),
    hooks: { evaluateBinding: (...given) => evaluateBinding(host, ...given), readMigration },
  })
  const streams = new Streams({
    store,
    host,
    clock,
    timers,
    random,
    openMax: config.streamsMax,
    onInternalError: error => log.error({ err: error }, 'event streams failed'),
  })
  const lane = laneFolder !== undefined && { config, folder: laneFolder, worker }
  const slowLane = lane ? openSlowLane(lane, store, { clock, timers, log }) : undefined
  const engine = createEngine({
    store,
    memory,
    slowLane,
    ...(within && { neverCommits: true, onCheck: within.onCheck }),
    host,
    languages,
    streams,
    timers,
    rateLimits,
    ...(kv.ready && { secretLooks: secretLooksOf(clock) }),
    identifier,
    onInternalError: failureLog(log, clock),
  })
  const running = background
    ? startBackground(store, timers, error => log.error({ err: error }, 'background work failed'), {
        removalTime: removalTimeOf(store, wallClock, ahead =>
          log.warn(leapWarning('history and expired documents', ahead)),
        ),
        ...(mayWork && { mayWork }),
      })
    : undefined
  return {
    engine,
    transfer: createTransferService(
      store,
      {
        isExpression: lambda => languages['4']?.code.isCode(lambda) === true,
        documents: (...within) => new ImportedDocuments(host, ...within),
      },
      serves ? timers : undefined,
    ),
    store,
    slowLane,
    notices,
    worksInBackground: mayWork ?? (() => background),
    workLeft: () => store.read(workLeft).result,
    close: async () => {
      streams.end()
      await Promise.all([running?.stop(), slowLane?.close()])
      await store.close()
    },
  }
}

/** How credentials are checked; what is refused is told to the log. */
function authenticationOf(
  { allowInsecureJwks, audiencePrefix, passwordCost, rootSecret }: Config,
  log: Logger,
  environment: Pick<ProcessEnvironment, 'clock' | 'timers' | 'random' | 'notices'>,
): ReturnType<typeof createAuthentication> {
  return createAuthentication({
    ...environment,
    ...{ allowInsecureJwks, audiencePrefix, rootSecret },
    passwordHashCost: passwordCost,
    log: reason => log.debug({ reason }, 'refused a credential'),
    onKeySetFailure: (uri, reason) =>
      log.warn({ uri, reason }, 'the signing keys of an access provider cannot be fetched'),
  })
}

/** How often unknown secrets are looked for in the newest state. */
function secretLooksOf(clock: Clock): Allowances<string> {
  const { secretLooksBurst: max, secretLooksPerSecond: perSecond, secretLookersMax } = limits
  return new Allowances({ max, perSecond }, secretLookersMax, () => clock.elapsedMs())
}

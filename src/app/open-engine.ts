// Opens a data directory and builds the engine over it: storage, store, authentication, query languages.

import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { FairTurns } from '../base/admission/fair-turns.ts'
import { RateLimit } from '../base/admission/rate-limit.ts'
import { assert } from '../base/assert.ts'
import { type Clock, openPersistentClock, systemClock } from '../base/clock.ts'
import type { NoticeBoard } from '../base/notices.ts'
import { type Random, systemRandom } from '../base/random.ts'
import { leapWarning } from '../base/removal-time.ts'
import { localTimeline, openSharedTimeline, type Timeline } from '../base/timeline.ts'
import { systemTimers, type Timers } from '../base/timers.ts'
import { createEngine } from '../engine/engine.ts'
import type { Engine } from '../engine/engine-contract.ts'
import { OperationLimits } from '../engine/operation-limits.ts'
import { queryMemory } from '../engine/query-memory.ts'
import { failureLog } from '../engine/responses.ts'
import type { ProcessLane } from '../engine/slow-lane/process-pool.ts'
import { Streams } from '../engine/streams/streams.ts'
import { createAccess } from '../model/auth/access.ts'
import { createAuthentication } from '../model/auth/authentication.ts'
import { evaluateBinding } from '../model/binding.ts'
import { ImportedDocuments } from '../model/schema/imported-documents.ts'
import { readMigration } from '../model/schema/migration-effects.ts'
import type { SessionHost } from '../model/session.ts'
import { controlRows, type SharedLog } from '../query-log/shared-log.ts'
import type { KeyValueStore } from '../storage/kv/kv-contract.ts'
import { isReplicated, waitUntilCurrent } from '../storage/kv/replicated-store.ts'
import { identityOf } from '../storage/lmdb/claim.ts'
import type { ApplyLag } from '../storage/log/position.ts'
import type { ReplicaStatus } from '../storage/postgres/postgres.ts'
import { removalTimeOf, startBackground } from '../storage/store/background.ts'
import type { Commits } from '../storage/store/commits.ts'
import { reserveIdRange } from '../storage/store/id-reservation.ts'
import type { ReserveIds } from '../storage/store/ids.ts'
import { type PendingWork, pendingWork } from '../storage/store/pending-work.ts'
import { Store } from '../storage/store/store.ts'
import { createTransferService, type TransferService } from '../transfer/service.ts'
import type { Micros } from '../values/value.ts'
import type { Config } from './config/settings.ts'
import { CommitterClient } from './forwarding.ts'
import { languages } from './languages.ts'
import { type LaneSetup, openSlowLane } from './open-slow-lane.ts'
import { openConfiguredStore, openLaneStore, type StoreRole, type StoreWaits } from './open-store.ts'

export const openEngineLimits = {
  /** Maximum number of unknown secrets that one address may look up at once in a shared store; own limit. */
  unknownSecretsBurst: 50,
  /** Maximum number of unknown secrets that one address may look up per second in a shared store; own limit. */
  unknownSecretsPerSecond: 5,
  /** Maximum number of addresses whose lookups of unknown secrets are counted; own limit. */
  unknownSecretAddressesMax: 10_000,
} as const

/** Tests pass their own sources to replay a run. */
export interface ProcessEnvironment {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  /** Orders commit times and snapshot times across all processes of the store. */
  readonly timeline?: Timeline | undefined
  /** The clock of the machine, which may step back. The default is `clock`. */
  readonly wallClock?: Clock
  /** Exchanges counts of operations and failed logins. */
  readonly notices?: NoticeBoard | undefined
  /** Returns whether the process may do background work. By default, the process always does this work. */
  readonly mayWork?: () => boolean
}

/** Hooks and limits of a slow-lane process. Most hooks use the connection to the service. */
interface LaneHooks {
  readonly reserveIds: ReserveIds
  readonly onCheck: () => void
  /** Approximate bytes of the cache with the reads of earlier queries. */
  readonly rememberedBytesMax: number
  /** Newest time that the service has used for a snapshot. */
  readonly snapshotTime: () => Micros
  /** Reads see the commit log exactly up to the record with this sequence number. */
  readonly logSequence: () => number
}

const system: ProcessEnvironment = { clock: systemClock, timers: systemTimers, random: systemRandom }

/** The role among the processes that have a data directory open. */
export interface ProcessRole extends Omit<StoreRole, 'committer'> {
  /**
   * True for the processes of the command `serve`: they start slow-lane processes for long queries, and databases and
   * imports take turns.
   */
  readonly isService?: boolean
  /** The socket to the process that owns the commit log, in a worker of a data directory. */
  readonly committer?: Duplex
  /**
   * Exchanges notices between the processes of a data directory. Machines with a shared store exchange notices through
   * the store instead.
   */
  readonly notices?: NoticeBoard
}

/** A process that only reads the data directory. */
const observer: ProcessRole = { worker: 0, background: false }

/** Closing the engine also closes the storage. */
export interface OpenEngine {
  readonly engine: Engine
  /** Undefined if the engine does not support imports and exports. */
  readonly transfer?: TransferService
  /**
   * Present when long queries run in slow-lane processes. A process that serves requests keeps a slow-lane process
   * ready.
   */
  readonly slowLane?: Pick<ProcessLane, 'keepReady' | 'load'> | undefined
  /** Returns the pending work of all processes. */
  pendingWork(): PendingWork
  /** True while this process does the background work. */
  readonly worksInBackground?: () => boolean
  /** Undefined if there are no other processes. */
  readonly notices?: NoticeBoard | undefined
  readonly applyLag?: () => ApplyLag
  readonly replicaStatus?: () => ReplicaStatus
  readonly sharedLog?: SharedLog
  readonly waits?: StoreWaits
  close(): Promise<void>
}

interface OpenDirectory extends OpenEngine {
  readonly transfer: TransferService
  readonly store: Store
}

/** Without a root secret in `config`, no caller has its rights. Throws when the directory cannot be used. */
export async function openEngine(
  config: Config,
  log: Logger,
  role: ProcessRole = observer,
): Promise<OpenDirectory> {
  const committer = role.committer && new CommitterClient(role.committer)
  const handle = await openConfiguredStore(config, log, { ...role, committer })
  const { applyLag, backup, kv, logSequence, shared } = handle
  const hasLane = role.isService && config.slowLaneProcesses > 0
  const laneFolder = hasLane ? identityOf(config.data) : undefined
  const parts = { kv, committer, config, log, laneFolder, logSequence }
  if (shared !== undefined) {
    const { chunks, files, mayWork, notices, now, waits, replicaStatus, timeline, worker } = shared
    const environment = { ...system, clock: { ...systemClock, now }, timeline, notices, mayWork }
    const opened = engineOver({ ...parts, environment, role: { ...role, worker } })
    const rows = { kv: controlRows(kv), waitUntilCurrent: () => waitUntilCurrent(kv) }
    const sharedLog = { ...rows, now, chunks, files, uploads: role.background, mayWork }
    return { ...opened, waits, replicaStatus, sharedLog }
  }
  const { timeline, close: closeTimeline } = timelineOf(config, role)
  backup?.followCommits(() => timeline.reach().upTo)
  const clock = { ...systemClock, now: () => timeline.now() }
  const environment = { ...system, clock, timeline, wallClock: systemClock, notices: role.notices }
  const opened = engineOver({ ...parts, environment, role })
  const close = async () => {
    await opened.close()
    closeTimeline()
  }
  return { ...opened, ...(applyLag && { applyLag }), close }
}

/** The file with the newest time of the service's clock. */
export const clockFileOf = ({ data }: Pick<Config, 'data'>): string => join(data, 'clock')

/**
 * Maximum number of microseconds by which the stored time is ahead of the clock at a crash. A restart takes longer, so
 * the clock has passed the stored time when the service starts again.
 */
const clockAheadMicros = 200_000

/**
 * A process that serves alone stores its time in a file for the next start. A process that only reads stores no time.
 */
function timelineOf(
  config: Pick<Config, 'data'>,
  { background, timelineFile, worker }: ProcessRole,
): { readonly timeline: Timeline; close(): void } {
  if (timelineFile !== undefined) {
    const timeline = openSharedTimeline(timelineFile, worker)
    return { timeline, close: () => timeline.close() }
  }
  if (!background) return { timeline: localTimeline(systemClock.now), close: () => undefined }
  const persistent = openPersistentClock(clockFileOf(config), clockAheadMicros, systemClock.now)
  return { timeline: localTimeline(persistent.now), close: () => persistent.close() }
}

/**
 * Opens the data directory in a slow-lane process, which commits nothing and has no clock of its own. Snapshots get the
 * time of their newest commit, or a time that the service has already used for a snapshot, so every later commit has a
 * later time.
 */
export function openLaneEngine(
  { config, folder, worker }: LaneSetup,
  log: Logger,
  laneHooks: LaneHooks,
): OpenDirectory {
  const kv = openLaneStore(config, folder, laneHooks.logSequence)
  const timeline: Timeline = {
    now: laneHooks.snapshotTime,
    reach: () => ({ now: laneHooks.snapshotTime(), upTo: laneHooks.snapshotTime(), isHalted: true }),
    // Announces nothing, because the service announces the commit.
    announce: atLeast => ({ time: atLeast, end: () => {} }),
  }
  const role = { worker, background: false }
  return engineOver({ kv, config, log, environment: { ...system, timeline }, role, laneHooks })
}

interface EngineParts {
  readonly kv: KeyValueStore
  readonly config: Config
  readonly log: Logger
  readonly environment?: ProcessEnvironment
  /** Undefined if the process only reads. */
  readonly role?: Pick<ProcessRole, 'worker' | 'background' | 'isService'>
  /**
   * Slow-lane processes check the identity of their data directory. Undefined if this process starts no slow-lane
   * processes.
   */
  readonly laneFolder?: string | undefined
  readonly logSequence?: (() => number) | undefined
  /** The client of the process that commits. Undefined if this process commits itself. */
  readonly committer?: CommitterClient | undefined
  readonly laneHooks?: LaneHooks
}

/** Closing the engine also closes the store. */
export function engineOver({
  kv,
  config,
  log,
  environment = system,
  role: { worker, background, isService = false } = observer,
  laneFolder,
  logSequence,
  committer,
  laneHooks,
}: EngineParts): OpenDirectory {
  const { clock, timers, random, timeline, wallClock = clock, notices, mayWork } = environment
  const now = () => clock.now()
  const { computeOpsPerSecond: compute, readOpsPerSecond: read, writeOpsPerSecond: write } = config
  const rateLimits = new OperationLimits({ compute, read, write }, clock)
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
  const reserveIds: ReserveIds = held =>
    committer ? committer.reserveIds(worker, held) : reserveIdRange(store, worker, held)
  const store: Store = new Store(kv, {
    clock: now,
    memory,
    ...(timeline && { timeline }),
    worker,
    ...(committer && { commits: commitsOf(committer), reserveIds }),
    ...(laneHooks && {
      reserveIds: laneHooks.reserveIds,
      rememberedBytesMax: laneHooks.rememberedBytesMax,
    }),
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
  const slowLane = lane ? openSlowLane(lane, { clock, timers, log, logSequence, reserveIds }) : undefined
  const engine = createEngine({
    store,
    memory,
    slowLane,
    ...(isService && { turns: new FairTurns(clock) }),
    forward: committer?.query,
    ...(laneHooks && { neverCommits: true, onCheck: laneHooks.onCheck }),
    host,
    languages,
    streams,
    timers,
    rateLimits,
    ...(isReplicated(kv) && { unknownSecrets: unknownSecretsLimit(clock) }),
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
  const transfer = transferOf(store, host, isService ? timers : undefined)
  return {
    engine,
    transfer: committer ? { ...transfer, write: committer.write } : transfer,
    store,
    slowLane,
    notices,
    worksInBackground: mayWork ?? (() => background),
    pendingWork: () => store.read(pendingWork).result,
    close: async () => {
      streams.end()
      await Promise.all([running?.stop(), slowLane?.close()])
      await store.close()
    },
  }
}

/** Imports yield to other work if `timers` is defined. */
function transferOf(store: Store, host: SessionHost, timers: Timers | undefined): TransferService {
  const rules: Parameters<typeof createTransferService>[1] = {
    isExpression: lambda => languages['4']?.code.isValid(lambda) === true,
    documents: (...parameters) => new ImportedDocuments(host, ...parameters),
  }
  return createTransferService(store, rules, timers)
}

/** The engine of a worker forwards writing queries, so `commit` is never called. */
function commitsOf(committer: CommitterClient): Commits {
  return {
    commit: () => {
      assert(false, 'a worker forwards writing queries')
    },
    passTime: () => committer.passTime(),
  }
}

function authenticationOf(
  { allowInsecureJwks, audiencePrefix, passwordCost, rootSecret }: Config,
  log: Logger,
  environment: Pick<ProcessEnvironment, 'clock' | 'timers' | 'random' | 'notices'>,
): ReturnType<typeof createAuthentication> {
  return createAuthentication({
    ...environment,
    ...{ allowInsecureJwks, audiencePrefix, rootSecret },
    passwordHashCost: passwordCost,
    log: reason => log.debug({ reason }, 'rejected a credential'),
    onKeySetFailure: (uri, reason) =>
      log.warn({ uri, reason }, 'cannot fetch the signing keys of an access provider'),
  })
}

/** Bounds how often one address can make the service look up unknown secrets in the newest state. */
function unknownSecretsLimit(clock: Clock): RateLimit<string> {
  const {
    unknownSecretsBurst: max,
    unknownSecretsPerSecond: perSecond,
    unknownSecretAddressesMax,
  } = openEngineLimits
  return new RateLimit({ max, perSecond }, unknownSecretAddressesMax, () => clock.elapsedMs())
}

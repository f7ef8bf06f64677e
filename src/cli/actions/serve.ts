// Runs the service until a signal stops it. Writes one line to standard output when the service is ready. Standard
// error gets log lines and, if it is a terminal, the progress of copying a shared store.

import cluster from 'node:cluster'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { isShortSecret } from '../../app/config/faults.ts'
import type { Config } from '../../app/config/settings.ts'
import { claimData } from '../../app/data-folder.ts'
import { serveWorker } from '../../app/forwarding.ts'
import { clockFileOf, type OpenEngine, openEngine, type ProcessRole } from '../../app/open-engine.ts'
import { markStoreComplete, prepareStore, withStoreSession } from '../../app/open-store.ts'
import { createServer, reportSupervisor, type Server, tlsOf, urlOf } from '../../app/server.ts'
import { openPersistentClock, systemClock } from '../../base/clock.ts'
import { NoticeBoard } from '../../base/notices.ts'
import { systemRandom } from '../../base/random.ts'
import { RequestError } from '../../base/request-errors.ts'
import { descriptorsMax, descriptorsMin } from '../../base/system-process.ts'
import { reasonOf } from '../../base/system-reasons.ts'
import { maintainSharedTimeline } from '../../base/timeline.ts'
import { systemTimers, wait } from '../../base/timers.ts'
import { nativeBcrypt } from '../../model/auth/bcrypt.ts'
import type { Listener } from '../../server/http/listener.ts'
import { createStartingService } from '../../server/http/starting.ts'
import { diskSpace, watchDisk } from '../../server/operation/disk-watch.ts'
import { openServiceLog } from '../../server/service-log.ts'
import { assertIdentity, identityOf, joinClaim } from '../../storage/lmdb/claim.ts'
import { type CopyProgress, copiedShare } from '../../storage/postgres/copy-state.ts'
import { claimRootHash, readRootHash } from '../../storage/postgres/tables.ts'
import { CommandError } from '../command.ts'
import { divergedExitCode, exitDiverged, exitLostFlush, killSelf } from '../fatal.ts'
import { metricsOfWorkers, openMetrics, shareMetrics } from '../metrics.ts'
import { startOwnCommand } from '../own-commands.ts'
import { withProgress } from '../progress.ts'
import { loadRootSecret, removeAddress, writeAddress } from '../service-files.ts'
import {
  claimedIdentity,
  committerSocket,
  endWithSupervisor,
  exchangeNotices,
  Supervisor,
  takeConnections,
  workerNumber,
} from '../workers.ts'

/** Opens a data directory's storage, and an engine over it. */
type Open = (config: Config, log: Logger, role: ProcessRole) => Promise<OpenEngine>

/**
 * Serves until SIGTERM or SIGINT, or until the parent process closes its channel; resolves with the exit status. Tests
 * pass another `open`.
 */
export async function serve(config: Config, open: Open = openEngine): Promise<number> {
  const log = openServiceLog(config.logLevel)
  if (cluster.isWorker) return runWorker(config, open, log.child({ worker: workerNumber() }))
  rejectFewDescriptors()
  const release = claimData(config)
  const watch = new DirectoryWatch(config, log, killSelf)
  const stopDiskWatch = watchDisk(() => diskSpace(config.data), log, systemTimers)
  try {
    if (isShortSecret(config.rootSecret))
      log.warn('the root secret is easily guessed: every program on this machine can get all rights')
    const node =
      config.store === undefined
        ? undefined
        : await withReadErrors(config, () => new StartingNode(config, log))
    const status = await (config.workers === 1
      ? runSingleProcess(config, node, open, log, watch)
      : supervise(config, node, log, watch))
    if (status === 0)
      await markStoreComplete(config).catch(error =>
        log.warn({ reason: reasonOf(error) }, 'cannot flush the replica: the next start verifies it'),
      )
    return status
  } finally {
    watch.stop()
    stopDiskWatch()
    removeAddress(config.data)
    await release()
  }
}

/** Throws {@link CommandError} if the limit of open files is too low for the service's own files. */
function rejectFewDescriptors(): void {
  const max = descriptorsMax()
  if (max >= descriptorsMin) return
  const advice = `it needs ${descriptorsMin} or more (ulimit -n)`
  throw new CommandError(`this process may have ${max} files and connections open at a time, and ${advice}`)
}

const silent = openServiceLog('silent')

/** True if this process was started with a channel to its parent, even if the channel is closed by now. */
const hasParent = process.connected === true

async function runSingleProcess(
  config: Config,
  node: StartingNode | undefined,
  open: Open,
  log: Logger,
  watch: DirectoryWatch,
): Promise<number> {
  let server: Server | undefined
  const service = { ...config, port: await startEarly(config, node, log) }
  const metrics = await openMetrics(config, log, async () => (await server?.metrics?.metrics()) ?? '')
  try {
    await node?.prepare()
    const rootSecret = await rootSecretOf(config, log)
    const role = {
      worker: 0,
      background: true,
      isService: true,
      onFatal: exitDiverged,
      onLostFlush: exitLostFlush,
    }
    const opened = await open({ ...config, rootSecret }, log, role)
    watch.complete()
    const stopped = stopSignal()
    server = await newServer(service, opened, log, 0)
    await node?.listener.close(0)
    const { listen, listenAlso } = server
    const url = await withListenErrors(service, listen)
    await openGraphqlPort(config, log, listenAlso)
    announce(service, url)
    await stopAfterSignal(config, server, log, stopped)
    return 0
  } finally {
    await metrics?.close()
  }
}

/** Accepts connections before the node can serve requests. Resolves with the port. */
async function startEarly(config: Config, node: StartingNode | undefined, log: Logger): Promise<number> {
  if (node === undefined) return config.port
  const port = await withListenErrors(config, () => node.listener.listen(config))
  logEarlyStart(config, port, log)
  return port
}

function logEarlyStart(config: Config, port: number, log: Logger): void {
  log.info(`the node is starting; ${urlOf(config, port)}/ping shows its progress`)
}

async function runWorker(config: Config, open: Open, log: Logger): Promise<number> {
  endWithSupervisor()
  assertIdentity(config.data, claimedIdentity())
  const release = joinClaim(config.data)
  const worker = workerNumber()
  // The supervisor has already generated the secret and logged its location.
  const rootSecret = await rootSecretOf(config, silent)
  const notices = new NoticeBoard()
  const role = {
    worker,
    background: worker === 0 && config.store !== undefined,
    timelineFile: timelineFileOf(config),
    isService: true,
    notices,
    onFatal: exitDiverged,
    ...(config.store === undefined && { committer: committerSocket() }),
  }
  const opened = await open({ ...config, rootSecret }, log, role)
  assertIdentity(config.data, claimedIdentity())
  const stopped = stopSignal()
  const server = await newServer(config, opened, log, worker)
  if (server.metrics) await shareMetrics(server.metrics)
  const stopNotices = exchangeNotices(notices, systemTimers)
  const stopAccepting = takeConnections(server.receive())
  await stopAfterSignal(config, server, log, stopped, stopAccepting)
  stopNotices()
  await release()
  return 0
}

async function supervise(
  config: Config,
  node: StartingNode | undefined,
  log: Logger,
  watch: DirectoryWatch,
): Promise<number> {
  let supervisorMetrics: Awaited<ReturnType<typeof reportSupervisor>>
  const metrics = await openMetrics(
    config,
    log,
    metricsOfWorkers(() => supervisorMetrics),
  )
  const clock = openPersistentClock(clockFileOf(config), clockAheadMicros, systemClock.now)
  const timelineFile = timelineFileOf(config)
  // A file coordinates the commit times of all processes. Without a shared store, this process commits for the workers,
  // so it also has a number in the timeline, after the numbers of the workers.
  const stopTimeline = maintainSharedTimeline(timelineFile, config.workers + 1, clock.now, systemTimers)
  const notices = new NoticeBoard()
  const forwarded = { operations: 0, in_flight: 0 }
  let committer: Awaited<ReturnType<typeof openEngine>> | undefined
  try {
    if (config.store === undefined) {
      const rootSecret = await rootSecretOf(config, log)
      committer = await openEngine({ ...config, rootSecret }, log, {
        worker: config.workers,
        background: true,
        timelineFile,
        isService: true,
        notices,
        onLostFlush: exitLostFlush,
      })
      supervisorMetrics = await reportSupervisor(config, committer, forwarded)
      watch.complete()
    }
    const supervisor = new Supervisor({
      count: config.workers,
      stopNoticeMs: config.shutdownNoticeMs,
      graceMs: config.shutdownGraceMs,
      identity: () => watch.identity,
      log,
      timers: systemTimers,
      clock: systemClock,
      ...(committer && { commitFor: serveWorker.bind(undefined, committer, forwarded), notices }),
      ...(node && {
        rebuild: { divergedStatus: divergedExitCode, prepare: () => node.prepare() },
        handleEarly: node.listener.receive(),
      }),
    })
    const port = await withListenErrors(config, () => supervisor.listen(config))
    if (node) logEarlyStart(config, port, log)
    try {
      await node?.prepare()
      // Generated before the workers start, so that all of them read the same secret.
      await rootSecretOf(config, log)
      const { host } = config
      await openGraphqlPort(config, log, async also =>
        urlOf(config, await supervisor.listenAlso({ host, port: also })),
      )
    } catch (cause) {
      await supervisor.stop()
      throw cause
    }
    const stopped = stopSignal()
    // A worker that could not start has logged the reason.
    if (!(await supervisor.start())) return 1
    committer?.slowLane?.keepReady()
    watch.complete()
    announce(config, urlOf(config, port))
    const signal = await stopped
    log.info({ signal }, 'stopping')
    await supervisor.stop()
    log.info('stopped')
    return 0
  } finally {
    await metrics?.close()
    await committer?.close()
    stopTimeline()
    clock.close()
  }
}

/**
 * Microseconds by which the stored time is ahead of the clock. Must exceed half a second: the supervisor reads the
 * clock this often, and between its readings the workers extrapolate the time.
 */
const clockAheadMicros = 600_000

const timelineFileOf = (config: Config) => join(config.data, 'timeline')

function announce(config: Config, url: string): void {
  writeAddress(config.data, url)
  process.stdout.write(`Terrarium is ready on ${url}\n`)
}

async function stopAfterSignal(
  { shutdownNoticeMs }: Config,
  server: Server,
  log: Logger,
  stopped: Promise<NodeJS.Signals>,
  stopAccepting: () => void = () => undefined,
): Promise<void> {
  const signal = await stopped
  log.info({ signal }, 'stopping')
  server.giveNotice()
  if (shutdownNoticeMs > 0) await wait(shutdownNoticeMs, systemTimers)
  stopAccepting()
  await server.close()
  log.info('stopped')
}

/**
 * Resolves with the first signal to stop, or when the channel to the parent closes. A second signal kills the process.
 * So does a signal before this call: while a store opens, the event loop is blocked, and no listener can run.
 */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    const onSignal = (signal: NodeJS.Signals) => {
      process.removeListener('SIGTERM', onSignal)
      process.removeListener('SIGINT', onSignal)
      resolve(signal)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    // In a worker, `endWithSupervisor` handles a closed channel.
    if (!hasParent || cluster.isWorker) return
    if (process.connected) process.once('disconnect', () => onSignal('SIGTERM'))
    else onSignal('SIGTERM')
  })
}

function newServer(config: Config, engine: OpenEngine, log: Logger, worker: number): Promise<Server> {
  const startCommand = (words: readonly string[]) => startOwnCommand(config, words)
  return withReadErrors(config, () => createServer(config, engine, log, { worker, startCommand }))
}

/** Converts failures to read the files of the certificate or the shared store to one-line errors. */
async function withReadErrors<T>(config: Config, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (cause) {
    if (cause instanceof RequestError) throw new CommandError(cause.description)
    const { code, path, syscall } = cause as NodeJS.ErrnoException
    if (syscall === 'open') throw new CommandError(`cannot read ${path}: ${reasonOf(cause)}`)
    if (code?.startsWith('ERR_OSSL')) {
      throw new CommandError(`${config.tlsCert} and ${config.tlsKey} are no usable certificate and key`)
    }
    throw cause
  }
}

async function openGraphqlPort(
  config: Config,
  log: Logger,
  listenAlso: (port: number) => Promise<string>,
): Promise<void> {
  const { graphqlPort: port } = config
  if (port === undefined) return
  const url = await withListenErrors({ ...config, port }, () => listenAlso(port))
  log.info({ url }, `GraphQL is also at ${url}/graphql`)
}

/** Converts failures to listen to one-line errors. */
async function withListenErrors<T>(config: Config, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (cause) {
    const address = `${config.host}:${config.port}`
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new CommandError(`${address} is already in use`)
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new CommandError(`cannot serve on ${address}: ${reasonOf(cause)}`)
    }
    throw cause
  }
}

/** Milliseconds between two checks of the data directory's path. */
const watchMs = 1000

/**
 * Checks, while the service runs, that the path of the data directory still leads to the same directory. Otherwise the
 * next process would open the other directory and lose later commits of this process.
 */
class DirectoryWatch {
  readonly #data: string
  readonly #log: Logger
  readonly #onFatal: () => void
  #identity: string
  readonly stop: () => void

  /** Requires that the process has claimed the directory. `onFatal` kills the process and all its child processes. */
  constructor({ data }: Pick<Config, 'data'>, log: Logger, onFatal: () => void) {
    this.#data = data
    this.#log = log
    this.#onFatal = onFatal
    this.#identity = identityOf(data)
    this.stop = systemTimers.every(watchMs, () => this.#check())
  }

  get identity(): string {
    return this.#identity
  }

  /** Called after the store was opened, so that the identity of the directory includes all files of the store. */
  complete(): void {
    const identity = identityOf(this.#data)
    this.#check()
    this.#identity = identity
  }

  #check(): void {
    try {
      assertIdentity(this.#data, this.#identity)
    } catch (cause) {
      this.#log.fatal((cause as Error).message)
      this.#onFatal()
    }
  }
}

/**
 * A node of a shared store that still copies the state or applies the newest part of the log, which can take long.
 * Meanwhile, it responds with 503 and its progress, which the log and a terminal also show.
 */
class StartingNode {
  readonly #config: Config
  readonly #log: Logger
  /** Responds with 503 until it is closed. */
  readonly listener: Listener
  /** Undefined while nothing is copied. */
  #copied: CopyProgress | undefined

  /** Throws when the files of the certificate cannot be read. */
  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
    this.listener = createStartingService(() => this.#progress(), tlsOf(config))
  }

  /** Throws `StoreUnavailableError`. */
  async prepare(): Promise<void> {
    this.#copied = undefined
    await withProgress(
      'copy of the store',
      () => (this.#copied && copiedShare(this.#copied)) ?? 0,
      () =>
        prepareStore(this.#config, this.#log, progress => {
          this.#copied = progress
        }),
    )
    this.#copied = undefined
  }

  #progress(): string {
    if (this.#copied === undefined) return 'the node is catching up with the store'
    const share = copiedShare(this.#copied)
    const done = share === undefined ? `${this.#copied.keys} rows` : `${Math.floor(share * 100)} %`
    return `the node is copying the store, ${done} so far`
  }
}

/** bcrypt cost of the shared hash, low because the secret is random. */
const hashCost = 10

/**
 * Returns the configured root secret, or one that the first start generates and stores in a file of the data directory.
 * If nodes share a store, the first node that starts stores the bcrypt hash of its secret there, and this function
 * returns the hash, so that all nodes accept the same secret. Requires a prepared store.
 */
export async function rootSecretOf(
  config: Pick<Config, 'data' | 'rootSecret' | 'store' | 'storeSchema'>,
  log: Logger,
): Promise<string> {
  if (config.rootSecret !== undefined) return config.rootSecret
  const { store, storeSchema } = config
  if (store === undefined) return secretOfFolder(config.data, log)
  return withStoreSession({ store, storeSchema }, async session => {
    const shared = await readRootHash(session)
    if (shared !== undefined) return shared
    const generated = loadRootSecret(config.data, systemRandom)
    const hash = await nativeBcrypt.hash(Buffer.from(generated.secret), hashCost)
    const claimed = await claimRootHash(session, hash)
    if (claimed === hash) {
      log.info({ file: generated.file }, `generated a root secret for all nodes: it is in ${generated.file}`)
      // Another node was faster, so no node accepts this secret.
    } else if (generated.created) rmSync(generated.file)
    return claimed
  })
}

function secretOfFolder(folder: string, log: Logger): string {
  const { secret, file, created } = loadRootSecret(folder, systemRandom)
  log.info({ file }, created ? `generated a root secret: it is in ${file}` : `the root secret is in ${file}`)
  return secret
}

// Runs the service until it is told to stop. Standard output gets one line, when it serves; everything else is log lines
// on standard error.

import cluster from 'node:cluster'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { isShortSecret } from '../../app/config/faults.ts'
import type { Config } from '../../app/config/settings.ts'
import { claimData } from '../../app/data-folder.ts'
import { clockFileOf, type OpenEngine, openEngine, type ProcessRole } from '../../app/open-engine.ts'
import { settleStore } from '../../app/open-store.ts'
import { createServer, type Server, urlOf } from '../../app/server.ts'
import { systemClock } from '../../base/clock.ts'
import { descriptorsMax, descriptorsMin } from '../../base/descriptors.ts'
import { RequestError } from '../../base/errors.ts'
import { NoticeBoard } from '../../base/notices.ts'
import { openPersistentClock } from '../../base/persistent-clock.ts'
import { keepSharedTimeline } from '../../base/shared-timeline.ts'
import { reasonOf } from '../../base/system-reasons.ts'
import { systemTimers, wait } from '../../base/timers.ts'
import { openServiceLog } from '../../server/service-log.ts'
import { assertIdentity } from '../../storage/kv/folder-identity.ts'
import { joinClaim } from '../../storage/kv/lmdb-claim.ts'
import { StartError } from '../command.ts'
import { divergedExitCode, exitDiverged, killSelf } from '../fatal.ts'
import { HeldFolder } from '../held-folder.ts'
import { metricsOfWorkers, openMetrics, shareMetrics } from '../metrics.ts'
import { startOwnCommand } from '../own-commands.ts'
import { rootSecretOf } from '../root-secret.ts'
import { forgetAddress, noteAddress } from '../service-address.ts'
import { StartingNode } from '../starting-node.ts'
import {
  endWithSupervisor,
  exchangeNotices,
  Supervisor,
  takeConnections,
  workerFolder,
  workerNumber,
} from '../workers.ts'

/** Opens the storage of a data directory and the engine over it. */
type Open = (config: Config, log: Logger, role: ProcessRole) => Promise<OpenEngine>

/** Serves until SIGTERM or SIGINT; resolves with the exit status. Tests open another engine than that of the folder. */
export async function serve(config: Config, open: Open = openEngine): Promise<number> {
  const log = openServiceLog(config.logLevel)
  if (cluster.isWorker) return runWorker(config, open, log.child({ worker: workerNumber() }))
  refuseFewDescriptors()
  const release = claimData(config)
  const held = new HeldFolder(config, log, killSelf)
  try {
    if (isShortSecret(config.rootSecret))
      log.warn('the root secret is easily guessed: every program of this machine can have all rights')
    const node =
      config.store === undefined ? undefined : await readable(config, () => new StartingNode(config, log))
    const status = await (config.workers === 1
      ? runAlone(config, node, open, log, held)
      : supervise(config, node, log, held))
    if (status === 0) settleStore(config)
    return status
  } finally {
    held.letGo()
    forgetAddress(config.data)
    await release()
  }
}

/** Throws {@link StartError} where the service could not even open its own files. */
function refuseFewDescriptors(): void {
  const max = descriptorsMax()
  if (max >= descriptorsMin) return
  const advice = `it needs ${descriptorsMin} or more (ulimit -n)`
  throw new StartError(`this process may have ${max} files and connections open at a time, and ${advice}`)
}

const silent = openServiceLog('silent')

type Stopped = Promise<NodeJS.Signals>

/** Whether this process was started with a channel to another one, which may be gone by now. */
const hasParent = process.connected === true

async function runAlone(
  config: Config,
  node: StartingNode | undefined,
  open: Open,
  log: Logger,
  held: HeldFolder,
): Promise<number> {
  let server: Server | undefined
  const service = { ...config, port: await startEarly(config, node, log) }
  const metrics = await openMetrics(config, log, async () => (await server?.metrics?.metrics()) ?? '')
  try {
    await node?.prepare()
    const rootSecret = await rootSecretOf(config, log)
    const role = { worker: 0, background: true, slowLane: true, onFatal: exitDiverged }
    const opened = await open({ ...config, rootSecret }, log, role)
    held.complete()
    const stopped = signalled()
    server = await created(service, opened, log, 0)
    await node?.listener.close(0)
    announce(service, await listening(service, server.listen))
    await stopping(config, server, log, stopped)
    return 0
  } finally {
    await metrics?.close()
  }
}

/** Has a node accept connections although it cannot serve yet; resolves with its port. */
async function startEarly(config: Config, node: StartingNode | undefined, log: Logger): Promise<number> {
  if (node === undefined) return config.port
  const port = await listening(config, () => node.listener.listen(config))
  noteEarly(config, port, log)
  return port
}

function noteEarly(config: Config, port: number, log: Logger): void {
  log.info(`the node is starting; ${urlOf(config, port)}/ping tells how far it has come`)
}

/** One of several processes: serves connections that the supervisor hands over. */
async function runWorker(config: Config, open: Open, log: Logger): Promise<number> {
  endWithSupervisor()
  assertIdentity(config.data, workerFolder())
  const release = joinClaim(config.data)
  const worker = workerNumber()
  // The supervisor has made it, and said where it is.
  const rootSecret = await rootSecretOf(config, silent)
  const notices = new NoticeBoard()
  const role = {
    worker,
    background: worker === 0,
    timelineFile: timelineFileOf(config),
    slowLane: true,
    notices,
    onFatal: exitDiverged,
  }
  const opened = await open({ ...config, rootSecret }, log, role)
  assertIdentity(config.data, workerFolder())
  const stopped = signalled()
  const server = await created(config, opened, log, worker)
  if (server.metrics) await shareMetrics(server.metrics)
  const stopNotices = exchangeNotices(notices, systemTimers)
  const stopAccepting = takeConnections(server.receive())
  await stopping(config, server, log, stopped, stopAccepting)
  stopNotices()
  await release()
  return 0
}

async function supervise(
  config: Config,
  node: StartingNode | undefined,
  log: Logger,
  held: HeldFolder,
): Promise<number> {
  const metrics = await openMetrics(config, log, metricsOfWorkers())
  const clock = openPersistentClock(clockFileOf(config), clockAheadMicros, systemClock.now)
  const stopTimeline = keepSharedTimeline(timelineFileOf(config), config.workers, clock.now, systemTimers)
  try {
    const supervisor = new Supervisor({
      count: config.workers,
      noticeMs: config.shutdownNoticeMs,
      graceMs: config.shutdownGraceMs,
      folder: () => held.identity,
      log,
      timers: systemTimers,
      clock: systemClock,
      ...(node && {
        renew: { worthlessStatus: divergedExitCode, prepare: () => node.prepare() },
        takeEarly: node.listener.receive(),
      }),
    })
    const port = await listening(config, () => supervisor.listen(config))
    if (node) noteEarly(config, port, log)
    try {
      await node?.prepare()
      // Workers find it made.
      await rootSecretOf(config, log)
    } catch (cause) {
      await supervisor.stop()
      throw cause
    }
    const stopped = signalled()
    // A worker that could not start has said why.
    if (!(await supervisor.start())) return 1
    held.complete()
    announce(config, urlOf(config, port))
    const signal = await stopped
    log.info({ signal }, 'stopping')
    await supervisor.stop()
    log.info('stopped')
    return 0
  } finally {
    await metrics?.close()
    stopTimeline()
    clock.close()
  }
}

/** Workers extrapolate between two looks of the supervisor at the clock, which is every half second; microseconds. */
const clockAheadMicros = 600_000

const timelineFileOf = (config: Config) => join(config.data, 'timeline')

function announce(config: Config, url: string): void {
  noteAddress(config.data, url)
  process.stdout.write(`Terrarium is ready on ${url}\n`)
}

async function stopping(
  { shutdownNoticeMs }: Config,
  server: Server,
  log: Logger,
  stopped: Stopped,
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
 * Resolves with the first signal that asks to stop; a second one ends the process at once, and so does any before this
 * is called: while a store is opened no listener would be heard. A process that was started with a channel to another one stops
 * when that ends.
 */
function signalled(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    const hear = (signal: NodeJS.Signals) => {
      process.removeListener('SIGTERM', hear)
      process.removeListener('SIGINT', hear)
      resolve(signal)
    }
    process.on('SIGTERM', hear)
    process.on('SIGINT', hear)
    if (!hasParent || cluster.isWorker) return
    if (process.connected) process.once('disconnect', () => hear('SIGTERM'))
    else hear('SIGTERM')
  })
}

function created(config: Config, engine: OpenEngine, log: Logger, worker: number): Promise<Server> {
  const startCommand = (words: readonly string[]) => startOwnCommand(config, words)
  return readable(config, () => createServer(config, engine, log, { worker, startCommand }))
}

/** Runs what reads the configured files, and the store; says in one line what is wrong with them. */
async function readable<T>(config: Config, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (cause) {
    if (cause instanceof RequestError) throw new StartError(cause.description)
    const { code, path, syscall } = cause as NodeJS.ErrnoException
    if (syscall === 'open') throw new StartError(`cannot read ${path}: ${reasonOf(cause)}`)
    if (code?.startsWith('ERR_OSSL')) {
      throw new StartError(`${config.tlsCert} and ${config.tlsKey} are no usable certificate and key`)
    }
    throw cause
  }
}

/** Runs `listen`, which listens on the configured address; says in one line what keeps it from that. */
async function listening<T>(config: Config, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (cause) {
    const address = `${config.host}:${config.port}`
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new StartError(`${address} is already in use`)
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new StartError(`cannot serve on ${address}: ${reasonOf(cause)}`)
    }
    throw cause
  }
}

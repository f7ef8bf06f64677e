// Builds the HTTP service of a process over an open engine, and shuts it down together with the store.

import { readFileSync } from 'node:fs'
import { isIPv6, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { lagSeconds, readStatus } from '../backup/status-file.ts'
import { systemClock } from '../base/clock.ts'
import { home, version } from '../base/program-files.ts'
import { systemRandom } from '../base/random.ts'
import { systemTimers } from '../base/timers.ts'
import type { QueryLog } from '../query-log/query-log.ts'
import { queryLogFolder } from '../query-log/segment-files.ts'
import { createApplication } from '../server/http/application.ts'
import { type DashboardFiles, openDashboard } from '../server/http/dashboard-files.ts'
import type { ListenerOptions } from '../server/http/listener.ts'
import { RequestMeter, statusMax } from '../server/http/request-meter.ts'
import type { BackupFigures } from '../server/metrics/registry.ts'
import { diskSpace } from '../server/operation/disk-watch.ts'
import type {
  CommitLogReport,
  ForwardedReport,
  LaneReport,
  PendingWorkReport,
  ReplicaState,
  RequestCounts,
} from '../server/operation/health.ts'
import { Operation, type StartCommand } from '../server/operation/operation.ts'
import type { Config } from './config/settings.ts'
import type { OpenEngine } from './open-engine.ts'
import { openQueryLog } from './open-query-log.ts'

/** The folder has the same path in the repository and in the package. */
const dashboardFolder = fileURLToPath(new URL('dashboard/dist', home))

export interface Server {
  /** Resolves with the address, see {@link urlOf}. Closes the server on failure. */
  listen(): Promise<string>
  /** Accepts connections on a further port; otherwise like `listen`. */
  listenAlso(port: number): Promise<string>
  /** Replaces `listen` if another process accepts the connections. Returns a function that serves one connection. */
  receive(): (connection: Socket) => void
  /** The metrics of this process. Undefined if metrics are off. */
  readonly metrics?: Registry
  /** Makes `/ping` fail from now on, so that load balancers switch to other services. */
  giveNotice(): void
  /** Finishes the requests in flight, then closes everything including the store. */
  close(): Promise<void>
}

/** Identifies a node in its metrics and health report. */
function nodeLabel({ port }: Config): string {
  return `${hostname()}:${port}`
}

/** Returns a URL without a slash at the end. */
export function urlOf({ host, tlsCert }: Config, port: number): string {
  return `${tlsCert === undefined ? 'http' : 'https'}://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** Throws when the configured files cannot be read. */
export function tlsOf({ tlsCert, tlsKey }: Config): Pick<ListenerOptions, 'tls'> {
  if (tlsCert === undefined || tlsKey === undefined) return {}
  return { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } }
}

interface ProcessContext {
  readonly worker: number
  /** Runs commands on the same data. Undefined if the process does not start commands. */
  readonly startCommand?: StartCommand
}

/** Closing the server closes `opened`, and so does a failed creation. */
export async function createServer(
  config: Config,
  opened: OpenEngine,
  log: Logger,
  context: ProcessContext = { worker: 0 },
): Promise<Server> {
  let queryLog: QueryLog | undefined
  try {
    const meter = new RequestMeter()
    const onLoss = (records: number) => {
      meter.lostRecords += records
    }
    queryLog = await openQueryLog(config, log, onLoss, opened.sharedLog)
    const metrics = config.metricsPort === undefined ? undefined : await openMetrics(config, opened, meter)
    const operation = operationOf(config, opened, meter, context)
    const isFirst = context.worker === 0
    const dashboard = config.dashboard ? openDashboard(dashboardFolder, isFirst ? log : undefined) : undefined
    return assemble({ config, dashboard, opened, queryLog, log, meter, metrics, operation })
  } catch (cause) {
    await queryLog?.close()
    await opened.close()
    throw cause
  }
}

/** Called only if metrics are on, because loading the metrics library takes time. */
async function openMetrics(
  config: Config,
  { applyLag, replicaStatus }: OpenEngine,
  meter: RequestMeter,
): Promise<Registry> {
  const { createRegistry } = await import('../server/metrics/registry.ts')
  const node = replicaStatus && { name: nodeLabel(config), status: replicaStatus }
  const backup = config.backupTo === undefined ? undefined : () => backupFigures(config.data)
  return createRegistry(meter, {
    ...(node && { node }),
    ...(applyLag && { applyLag }),
    ...(backup && { backup }),
    diskFree: () => diskSpace(config.data).free,
  })
}

/** Until the backup process has reported, the numbers are 0 and the times null. */
function backupFigures(data: string): BackupFigures {
  const status = readStatus(data)
  const seconds = (micros: number | null) => (micros === null ? null : micros / 1e6)
  return {
    isFailing: status?.state === 'failing',
    lastSuccess: status?.last_success ? status.last_success / 1000 : null,
    lagSeconds: status ? lagSeconds(status, systemClock.now() / 1000) : 0,
    waitingBytes: status?.waiting_bytes ?? 0,
    droppedBytes: status?.dropped_bytes ?? 0,
    oldestRestorable: seconds(status?.oldest_restorable ?? null),
    newestRestorable: seconds(status?.newest_restorable ?? null),
  }
}

/** Returns undefined if the replica can be updated, or if the shared database is the cause. */
function ownFaultOf({ replicaStatus }: OpenEngine): string | undefined {
  const fault = replicaStatus?.().fault
  // The reason may contain paths, so only the log contains it.
  return fault?.isLocal
    ? 'This node cannot update its replica of the store; its log has the reason'
    : undefined
}

/**
 * Adds the supervisor's report to the health report of the service. Returns the supervisor's metrics if metrics are on.
 * `forwarded`: operations that workers have forwarded to the supervisor.
 */
export async function reportSupervisor(
  config: Config,
  opened: OpenEngine,
  forwarded: ForwardedReport,
): Promise<Registry | undefined> {
  operationOf(config, opened, new RequestMeter(), { worker: config.workers }, forwarded)
  if (config.metricsPort === undefined) return undefined
  const { createSupervisorRegistry } = await import('../server/metrics/registry.ts')
  return createSupervisorRegistry(() => ({ forwarded, slowLane: laneReportOf(opened) }))
}

function operationOf(
  config: Config,
  opened: OpenEngine,
  meter: RequestMeter,
  { startCommand, worker }: ProcessContext,
  forwarded?: ForwardedReport,
): Operation {
  return new Operation({
    ...{ version, worker, startCommand, workers: config.workers, notices: opened.notices },
    ...{ data: config.data, backups: config.backups, backupTo: config.backupTo },
    node: nodeLabel(config),
    queryLogFolder: join(config.data, queryLogFolder),
    pendingWork: () => workOf(opened),
    parts: () => ({
      counts: countsOf(meter),
      slow_lane: laneReportOf(opened),
      standing: replicaStateOf(opened),
      commit_log: logReportOf(opened),
      works_in_background: opened.worksInBackground?.() ?? true,
      forwarded: forwarded ?? null,
    }),
  })
}

function workOf(opened: OpenEngine): PendingWorkReport {
  const { builds, buildsCount, removals } = opened.pendingWork()
  return {
    builds: builds.map(({ failure, ...build }) => ({ ...build, failure: failure ?? null })),
    builds_count: buildsCount,
    removals,
  }
}

function countsOf(meter: RequestMeter): RequestCounts {
  return {
    requests: meter.responses(0, statusMax),
    client_errors: meter.responses(400, 499),
    server_errors: meter.responses(500, statusMax),
    refused: meter.responses(429, 429),
    in_flight: meter.inFlight(),
    durations: [...meter.durations],
    reads: meter.reads,
    writes: meter.writes,
    retries: meter.retries,
    slow_queries: meter.slowQueries,
    streams: meter.openStreams,
    lost_records: meter.lostRecords,
  }
}

function laneReportOf({ slowLane }: OpenEngine): LaneReport | null {
  if (slowLane === undefined) return null
  const { processes, processesMax, running, waiting } = slowLane.load
  return { processes, processes_max: processesMax, running, waiting }
}

function logReportOf({ applyLag }: OpenEngine): CommitLogReport | null {
  if (applyLag === undefined) return null
  const { bytes, lagMs } = applyLag()
  return { bytes, lag_ms: Math.round(lagMs) }
}

function replicaStateOf({ replicaStatus }: OpenEngine): ReplicaState | null {
  if (replicaStatus === undefined) return null
  const { behind, fault, lagMs, seq } = replicaStatus()
  return { head: seq, behind, lag_ms: Math.round(lagMs), fault: fault?.reason ?? null }
}

interface Parts {
  readonly config: Config
  readonly opened: OpenEngine
  readonly queryLog: QueryLog
  readonly log: Logger
  readonly meter: RequestMeter
  readonly metrics: Registry | undefined
  readonly operation: Operation
  readonly dashboard: DashboardFiles | undefined
}

function assemble({ config, dashboard, opened, queryLog, log, meter, metrics, operation }: Parts): Server {
  const notice = new AbortController()
  const stopping = new AbortController()
  const services = {
    engine: opened.engine,
    ...(opened.transfer && { transfer: opened.transfer }),
    log,
    clock: systemClock,
    random: systemRandom,
    timers: systemTimers,
    notice: notice.signal,
    ...(opened.replicaStatus && { ownFault: () => ownFaultOf(opened) }),
    stopping: stopping.signal,
    queryLog,
    meter,
    operation,
    recordsQueries: config.queryLog,
    ...(dashboard && { dashboard }),
    ...(config.publicUrl !== undefined && { publicUrl: config.publicUrl.replace(/\/+$/, '') }),
  }
  const application = createApplication(services, {
    build: `${version}-terrarium`,
    host: hostname(),
    pendingRequestsMax: config.pendingRequestsMax,
    listener: {
      trustedProxies: config.trustedProxies,
      idleMs: config.keepAliveSeconds * 1000,
      ...tlsOf(config),
    },
  })
  const close = async () => {
    stopping.abort()
    opened.waits?.shorten()
    await Promise.all([application.close(config.shutdownGraceMs), operation.close()])
    opened.waits?.end()
    await queryLog.close()
    await opened.close()
  }
  const listening = async (start: () => Promise<number>) => {
    const port = await start().catch(async cause => {
      await close()
      throw cause
    })
    return urlOf(config, port)
  }
  return {
    listen: async () => {
      const url = await listening(() => application.listen(config))
      opened.slowLane?.keepReady()
      return url
    },
    listenAlso: port => listening(() => application.listenAlso({ host: config.host, port })),
    receive: () => {
      opened.slowLane?.keepReady()
      return application.receive()
    },
    ...(metrics && { metrics }),
    giveNotice: () => notice.abort(),
    close,
  }
}

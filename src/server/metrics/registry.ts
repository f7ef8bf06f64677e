// Prometheus metrics of a process that serves requests, and of the supervisor, which evaluates all writes of the
// workers. Each metric reads a plain counter when a collector requests the metrics.

import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { durationBounds, type RequestMeter } from '../http/request-meter.ts'

/** Registers a metric whose value `value` returns. */
type AddMetric = (name: string, help: string, value: () => number) => void

/**
 * `prefix`: the beginning of the gauges' names. `aggregator`: `max` if all workers report the same object, so that the
 * maximum of their values is used instead of the sum.
 */
function gaugesOf(registry: Registry, prefix: string, aggregator: 'sum' | 'max' = 'sum'): AddMetric {
  return (name, help, value) => {
    const collect = function (this: Gauge) {
      this.set(value())
    }
    new Gauge({ name: `${prefix}${name}`, help, registers: [registry], aggregator, collect })
  }
}

/** Like {@link gaugesOf}, for counters. */
function countersOf(registry: Registry, prefix: string): AddMetric {
  return (name, help, value) => {
    const collect = function (this: Counter) {
      this.reset()
      this.inc(value())
    }
    new Counter({ name: `${prefix}${name}`, help, registers: [registry], collect })
  }
}

/** A node: one of several machines that share a store. */
interface MeasuredNode {
  readonly name: string
  /** Current state of the node's replica. */
  readonly status: () => {
    readonly fault: { readonly isLocal: boolean } | undefined
    readonly lagMs: number
    readonly behind: number
  }
}

/** Times are seconds since the Unix epoch; null if there is no such time yet. */
export interface BackupFigures {
  readonly isFailing: boolean
  readonly lastSuccess: number | null
  readonly lagSeconds: number
  readonly waitingBytes: number
  readonly droppedBytes: number
  readonly oldestRestorable: number | null
  readonly newestRestorable: number | null
}

interface MeasuredStore {
  readonly node?: MeasuredNode
  /** The part of the commit log that is not in LMDB yet; absent without a log. */
  readonly applyLag?: () => { readonly bytes: number; readonly lagMs: number }
  /** Absent without a continuous backup. */
  readonly backup?: () => BackupFigures
  readonly diskFree?: () => number
}

export function createRegistry(
  meter: RequestMeter,
  { applyLag, backup, diskFree, node }: MeasuredStore,
): Registry {
  const registry = new Registry()
  if (node) addNodeMetrics(registry, node)
  if (applyLag) addCommitLogMetrics(registry, applyLag)
  if (backup) addBackupMetrics(registry, backup)
  if (diskFree)
    gaugesOf(registry, 'terrarium_disk_', 'max')(
      'free_bytes',
      'Free bytes of the disk that contains the data directory.',
      diskFree,
    )
  const counter = countersOf(registry, 'terrarium_')
  const gauge = gaugesOf(registry, 'terrarium_')
  addLabelled(registry, 'requests_total', 'Requests answered, by HTTP status.', 'status', () =>
    Object.fromEntries([...meter.statuses.entries()].filter(([, count]) => count > 0)),
  )
  registry.registerMetric(durationHistogram(meter))
  gauge('requests_in_flight', 'Requests in flight.', () => meter.inFlight())
  counter('request_bytes_total', 'Bytes of request bodies.', () => meter.bytesIn)
  counter('response_bytes_total', 'Bytes of response bodies, without those of streams.', () => meter.bytesOut)
  addLabelled(registry, 'transactions_total', 'Transactions of queries, by kind.', 'kind', () => ({
    read: meter.reads,
    write: meter.writes,
  }))
  counter(
    'transaction_retries_total',
    'Evaluations repeated because of a conflict with another transaction.',
    () => meter.retries,
  )
  counter('slow_lane_queries_total', 'Queries evaluated in the slow lane.', () => meter.slowQueries)
  counter('slow_lane_commits_total', 'Queries of the slow lane that wrote.', () => meter.slowCommits)
  addLabelled(
    registry,
    'ops_total',
    'Operations as the metrics headers count them.',
    'kind',
    () => meter.costs,
  )
  addLabelled(registry, 'storage_bytes_total', 'Bytes that queries read and wrote.', 'direction', () => ({
    read: meter.storageBytesRead,
    written: meter.storageBytesWritten,
  }))
  gauge('streams_open', 'Event streams that are open.', () => meter.openStreams)
  counter(
    'query_log_lost_total',
    'Records of the query log that could not be written.',
    () => meter.lostRecords,
  )
  collectDefaultMetrics({ register: registry })
  return registry
}

function addNodeMetrics(registry: Registry, { name, status }: MeasuredNode): void {
  registry.setDefaultLabels({ node: name })
  const gauge = gaugesOf(registry, 'terrarium_store_', 'max')
  gauge('lag_seconds', "Maximum age of this node's reads.", () => status().lagMs / 1000)
  gauge(
    'batches_behind',
    'Batches by which the shared record was ahead of the replica at the last poll.',
    () => status().behind,
  )
  gauge(
    'away',
    '1 while the database of the store cannot be reached, or its commits wait for a synchronous standby.',
    () => (status().fault?.isLocal === false ? 1 : 0),
  )
}

function addCommitLogMetrics(registry: Registry, applyLag: NonNullable<MeasuredStore['applyLag']>): void {
  const gauge = gaugesOf(registry, 'terrarium_commit_log_', 'max')
  gauge('bytes', 'Bytes of the commit log that the data file does not have yet.', () => applyLag().bytes)
  gauge(
    'lag_seconds',
    'How long the data file has been behind the commit log.',
    () => applyLag().lagMs / 1000,
  )
}

function addBackupMetrics(registry: Registry, figures: () => BackupFigures): void {
  const gauge = gaugesOf(registry, 'terrarium_backup_', 'max')
  gauge('failing', '1 while the continuous backup cannot be written.', () => (figures().isFailing ? 1 : 0))
  gauge(
    'last_success_timestamp_seconds',
    'Time at which the continuous backup last contained all commits; 0: never since the start.',
    () => figures().lastSuccess ?? 0,
  )
  gauge(
    'lag_seconds',
    'How long the oldest commit has waited for the continuous backup.',
    () => figures().lagSeconds,
  )
  gauge('waiting_bytes', 'Bytes that wait for the continuous backup.', () => figures().waitingBytes)
  gauge(
    'dropped_bytes',
    'Bytes of commits that the continuous backup has left out since its start.',
    () => figures().droppedBytes,
  )
  gauge(
    'oldest_restorable_timestamp_seconds',
    'The first time that can be restored; 0: none.',
    () => figures().oldestRestorable ?? 0,
  )
  gauge(
    'newest_restorable_timestamp_seconds',
    'The last time that can be restored; 0: none.',
    () => figures().newestRestorable ?? 0,
  )
}

function addLabelled<Name extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  values: () => Readonly<Record<Name, number>>,
): void {
  new Counter({
    name: `terrarium_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [kind, value] of Object.entries<number>(values())) this.inc({ [label]: kind }, value)
    },
  })
}

/**
 * Computed only when a collector requests the metrics. A `Histogram` of prom-client would have to be updated at every
 * request.
 */
function durationHistogram(meter: RequestMeter): Metric {
  const name = 'terrarium_request_duration_seconds'
  const values = () => {
    let sum = 0
    const buckets = Array.from(meter.durations, (count, at) => {
      sum += count
      return { labels: { le: durationBounds[at] ?? '+Inf' }, value: sum, metricName: `${name}_bucket` }
    })
    return [
      ...buckets,
      { labels: {}, value: meter.durationSeconds, metricName: `${name}_sum` },
      { labels: {}, value: sum, metricName: `${name}_count` },
    ]
  }
  const help = 'Time from the first byte of a request to its response.'
  const histogram = {
    name,
    get: () => ({ name, help, type: 'histogram', values: values(), aggregator: 'sum' }),
  }
  // A registry uses only these members of a metric.
  return histogram as unknown as Metric
}

interface SupervisorFigures {
  /** `operations`: forwarded by workers. `in_flight`: those without a result yet. */
  readonly forwarded: { readonly operations: number; readonly in_flight: number }
  /** Null without a slow lane. */
  readonly slowLane: { readonly processes: number; readonly running: number; readonly waiting: number } | null
}

/** Keeps the supervisor out of sums over the metrics of the workers. */
const supervisorPrefix = 'terrarium_supervisor_'

export function createSupervisorRegistry(figures: () => SupervisorFigures): Registry {
  const registry = new Registry()
  const counter = countersOf(registry, supervisorPrefix)
  const gauge = gaugesOf(registry, supervisorPrefix)
  counter('operations_total', 'Operations that workers have forwarded.', () => figures().forwarded.operations)
  gauge('operations_in_flight', 'Forwarded operations without a result.', () => figures().forwarded.in_flight)
  gauge('slow_lane_processes', 'Processes of the slow lane.', () => figures().slowLane?.processes ?? 0)
  gauge('slow_lane_running', 'Queries that the slow lane evaluates.', () => figures().slowLane?.running ?? 0)
  gauge('slow_lane_waiting', 'Queries that wait for the slow lane.', () => figures().slowLane?.waiting ?? 0)
  collectDefaultMetrics({ register: registry, prefix: supervisorPrefix })
  return registry
}

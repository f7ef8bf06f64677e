// The metrics for Prometheus. Each metric reads a plain counter when a collector requests the metrics.

import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { durationBounds, type RequestMeter } from '../http/request-meter.ts'
import { type BackupFigures, measureBackup } from './backup-metrics.ts'

/** A node: one of several machines that share a store. */
interface NodeLabel {
  /** The label `node` of all metrics of the node. */
  readonly name: string
  /** The current state of the node's replica. */
  readonly standing: () => {
    readonly fault: { readonly isLocal: boolean } | undefined
    readonly lagMs: number
    readonly behind: number
  }
}

/** Measurements of the store of a process. */
interface MeasuredStore {
  readonly node?: NodeLabel
  /** The part of the commit log that is not in LMDB yet; absent without a log. */
  readonly applyLag?: () => { readonly bytes: number; readonly lagMs: number }
  /** The state of the continuous backup; absent without a continuous backup. */
  readonly backup?: () => BackupFigures
}

/** The metrics of one process. */
export function createRegistry(
  meter: RequestMeter,
  { applyLag, backup, node }: MeasuredStore = {},
): Registry {
  const registry = new Registry()
  if (node) measureNode(registry, node)
  if (applyLag) measureLog(registry, applyLag)
  if (backup) measureBackup(registry, backup)
  const counter = (name: string, help: string, value: () => number) => {
    new Counter({
      name: `terrarium_${name}`,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(value())
      },
    })
  }
  const gauge = (name: string, help: string, value: () => number) => {
    const collect = function (this: Gauge) {
      this.set(value())
    }
    new Gauge({ name: `terrarium_${name}`, help, registers: [registry], collect })
  }
  new Counter({
    name: 'terrarium_requests_total',
    help: 'Requests answered, by HTTP status.',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [status, count] of meter.statuses.entries()) if (count > 0) this.inc({ status }, count)
    },
  })
  registry.registerMetric(durationHistogram(meter))
  gauge('requests_in_flight', 'Requests in flight.', () => meter.inFlight())
  counter('request_bytes_total', 'Bytes of request bodies.', () => meter.bytesIn)
  counter('response_bytes_total', 'Bytes of response bodies, without those of streams.', () => meter.bytesOut)
  labelled(registry, 'transactions_total', 'Transactions of queries, by kind.', 'kind', () => ({
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
  labelled(registry, 'ops_total', 'Operations as the metrics headers count them.', 'kind', () => meter.costs)
  labelled(registry, 'storage_bytes_total', 'Bytes that queries read and wrote.', 'direction', () => ({
    read: meter.storageBytesRead,
    written: meter.storageBytesWritten,
  }))
  gauge('streams_open', 'Event streams that are open.', () => meter.streams)
  counter(
    'query_log_lost_total',
    'Records of the query log that could not be written.',
    () => meter.lostRecords,
  )
  collectDefaultMetrics({ register: registry })
  return registry
}

function measureNode(registry: Registry, { name, standing }: NodeLabel): void {
  registry.setDefaultLabels({ node: name })
  const gauge = (metric: string, help: string, value: () => number) => {
    const collect = function (this: Gauge) {
      this.set(value())
    }
    // Several workers share a replica: the worst value is reported.
    new Gauge({ name: `terrarium_store_${metric}`, help, registers: [registry], aggregator: 'max', collect })
  }
  gauge('lag_seconds', "Maximum age of this node's reads.", () => standing().lagMs / 1000)
  gauge(
    'batches_behind',
    'Batches by which the shared record was ahead of the replica at the last poll.',
    () => standing().behind,
  )
  gauge('away', '1 while the database of the store cannot be reached.', () =>
    standing().fault?.isLocal === false ? 1 : 0,
  )
}

function measureLog(registry: Registry, applyLag: NonNullable<MeasuredStore['applyLag']>): void {
  const gauge = (metric: string, help: string, value: () => number) => {
    const collect = function (this: Gauge) {
      this.set(value())
    }
    // All workers report the same log, so the maximum is used instead of the sum.
    new Gauge({
      name: `terrarium_commit_log_${metric}`,
      help,
      registers: [registry],
      aggregator: 'max',
      collect,
    })
  }
  gauge('bytes', 'Bytes of the commit log that the data file does not have yet.', () => applyLag().bytes)
  gauge(
    'lag_seconds',
    'How long the data file has been behind the commit log.',
    () => applyLag().lagMs / 1000,
  )
}

function labelled<Name extends string>(
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
 * Computes the histogram only when a collector requests the metrics. A `Histogram` of prom-client would have to be
 * updated at every request.
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
  // The cast is safe, because a registry uses only these members of a metric.
  return histogram as unknown as Metric
}

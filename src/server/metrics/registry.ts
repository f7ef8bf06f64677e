// What is measured, in the words of Prometheus. Everything is read from plain counters when metrics are asked for.

import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { durationBounds, type RequestMeter } from '../http/request-meter.ts'

/** One of several machines that share a store. */
interface MeasuredNode {
  /** The label `node` of all its metrics. */
  readonly name: string
  /** How its copy of the store stands, as of now. */
  readonly standing: () => {
    readonly fault: { readonly isLocal: boolean } | undefined
    readonly lagMs: number
    readonly behind: number
  }
}

/** The metrics of one process. */
export function createRegistry(meter: RequestMeter, node?: MeasuredNode): Registry {
  const registry = new Registry()
  if (node) measureNode(registry, node)
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
  gauge('requests_in_flight', 'Requests under way.', () => meter.inFlight())
  counter('request_bytes_total', 'Bytes of request bodies.', () => meter.bytesIn)
  counter('response_bytes_total', 'Bytes of response bodies, without those of streams.', () => meter.bytesOut)
  labelled(registry, 'transactions_total', 'Transactions of queries, by kind.', 'kind', () => ({
    read: meter.reads,
    write: meter.writes,
  }))
  counter(
    'transaction_retries_total',
    'Evaluations made again because others had written what they read.',
    () => meter.retries,
  )
  counter('slow_lane_queries_total', 'Queries evaluated in the slow lane.', () => meter.slowQueries)
  counter('slow_lane_commits_total', 'Those of them that wrote.', () => meter.slowCommits)
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

function measureNode(registry: Registry, { name, standing }: MeasuredNode): void {
  registry.setDefaultLabels({ node: name })
  const gauge = (metric: string, help: string, value: () => number) => {
    const collect = function (this: Gauge) {
      this.set(value())
    }
    // Of several workers the one that is worst off counts.
    new Gauge({ name: `terrarium_store_${metric}`, help, registers: [registry], aggregator: 'max', collect })
  }
  gauge('lag_seconds', 'How old what this node reads may be.', () => standing().lagMs / 1000)
  gauge('batches_behind', 'Batches that the record was ahead when last seen.', () => standing().behind)
  gauge('away', '1 while the database of the store cannot be reached.', () =>
    standing().fault?.isLocal === false ? 1 : 0,
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

/** The library's own histogram has to be told of every request; this one is filled when it is asked for. */
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
  // A registry asks a metric for no more than this, though the class has more.
  return histogram as unknown as Metric
}

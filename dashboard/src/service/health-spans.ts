// Computes rates and latencies between two health reports.

import type { ProcessReport, RequestCounts, ServiceHealth } from '../../../src/server/operation/health.ts'

/** A report with the time of its reading. */
export interface Sample {
  readonly atMs: number
  readonly health: ServiceHealth
}

/** Changes between two samples. Counts are rates per second. */
export interface Span {
  readonly atMs: number
  readonly requests: number
  readonly serverErrors: number
  readonly rejected: number
  readonly retries: number
  readonly writes: number
  /** Percentiles; null without requests. */
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  /** Event loop utilization of the busiest process, 0 to 1. */
  readonly busy: number
  readonly memoryBytes: number
}

const nameOf = ({ node, pid }: ProcessReport) => `${node} ${pid}`

export function spansOf(samples: readonly Sample[]): readonly Span[] {
  return samples.slice(1).map((sample, at) => spanOf(samples[at] as Sample, sample))
}

function spanOf(before: Sample, after: Sample): Span {
  const known = new Map(before.health.processes.map(process => [nameOf(process), process]))
  // Leaves out processes that are new in the second sample: their counts began at another time.
  const pairs = after.health.processes.flatMap(process => {
    const earlier = known.get(nameOf(process))
    return earlier ? [[earlier, process] as const] : []
  })
  const seconds = Math.max(0.001, (after.atMs - before.atMs) / 1000)
  const grown = (of: (counts: RequestCounts) => number) =>
    pairs.reduce((sum, [earlier, later]) => sum + of(later.counts) - of(earlier.counts), 0) / seconds
  const bounds = after.health.duration_bounds
  const durations = Array.from({ length: bounds.length + 1 }, (_, at) =>
    pairs.reduce(
      (sum, [earlier, later]) =>
        sum + (later.counts.durations[at] ?? 0) - (earlier.counts.durations[at] ?? 0),
      0,
    ),
  )
  return {
    atMs: after.atMs,
    requests: grown(counts => counts.requests),
    serverErrors: grown(counts => counts.server_errors),
    rejected: grown(counts => counts.refused),
    retries: grown(counts => counts.retries),
    writes: grown(counts => counts.writes),
    p50Ms: quantile(durations, bounds, 0.5),
    p99Ms: quantile(durations, bounds, 0.99),
    busy: Math.max(0, ...pairs.map(([earlier, later]) => busyShare(earlier, later))),
    memoryBytes: after.health.processes.reduce((sum, each) => sum + each.memory_bytes, 0),
  }
}

function busyShare(earlier: ProcessReport, later: ProcessReport): number {
  const busy = later.busy_ms - earlier.busy_ms
  return busy / Math.max(1, busy + later.idle_ms - earlier.idle_ms)
}

/**
 * Returns, in milliseconds, the upper bound of the histogram bucket that contains the quantile; null without durations.
 * `bounds` are in seconds. The last bucket has no bound, so the result is twice the previous bound.
 */
function quantile(buckets: readonly number[], bounds: readonly number[], share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let sum = 0
  for (const [at, count] of buckets.entries()) {
    sum += count
    if (sum >= total * share) return (bounds[at] ?? (bounds.at(-1) ?? 0) * 2) * 1000
  }
  return null
}

/**
 * Returns one process of each node, because all processes of a machine report the same facts about the machine. The node
 * that has answered is first.
 */
export function nodesOf({ processes }: ServiceHealth): readonly ProcessReport[] {
  const first = new Map<string, ProcessReport>()
  for (const process of processes) if (!first.has(process.node)) first.set(process.node, process)
  return [...first.values()]
}

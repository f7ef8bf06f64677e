// How the service stands, as it tells the root secret; and what two looks at it say of the time between them.

import type {
  ProcessReport,
  RequestCounts,
  ServiceHealth,
  TaskKind,
} from '../../../src/server/operation/health.ts'
import { session } from '../session.ts'
import { callApi } from './client.ts'

/** The whole service is meant, whichever database is looked at. */
const root = () => ({ secret: session.value?.secret ?? '' })

/** How the service stands now. Throws ServiceError, with 403 for all but the root secret. */
export function readHealth(signal: AbortSignal): Promise<ServiceHealth> {
  return callApi<ServiceHealth>('GET', '/api/v1/health', root(), undefined, signal)
}

/** Starts a backup or a check. Throws ServiceError. */
export async function startTask(kind: TaskKind, signal: AbortSignal): Promise<void> {
  await callApi('POST', `/api/v1/health/${kind}s`, root(), {}, signal)
}

/** A look at the service, and when it was. */
export interface Sample {
  readonly atMs: number
  readonly health: ServiceHealth
}

/** What happened between two looks; per second where that is said. */
export interface Span {
  readonly atMs: number
  readonly requests: number
  readonly serverErrors: number
  readonly refused: number
  readonly slowQueries: number
  readonly retries: number
  readonly writes: number
  /** Milliseconds within which half and 99 of 100 requests were answered; null where there was none. */
  readonly halfMs: number | null
  readonly mostMs: number | null
  /** Of the busiest process: the share of time in which it worked, 0 to 1. */
  readonly busy: number
  readonly memoryBytes: number
}

const nameOf = ({ node, pid }: ProcessReport) => `${node} ${pid}`

/** What happened between each look and the one before it. */
export function spansOf(samples: readonly Sample[]): readonly Span[] {
  return samples.slice(1).map((sample, at) => spanOf(samples[at] as Sample, sample))
}

function spanOf(before: Sample, after: Sample): Span {
  const known = new Map(before.health.processes.map(process => [nameOf(process), process]))
  // A process that was not known before has counted for longer than between the two.
  const pairs = after.health.processes.flatMap(process => {
    const earlier = known.get(nameOf(process))
    return earlier ? [[earlier, process] as const] : []
  })
  const seconds = Math.max(0.001, (after.atMs - before.atMs) / 1000)
  const grown = (of: (counts: RequestCounts) => number) =>
    pairs.reduce((sum, [earlier, later]) => sum + of(later.counts) - of(earlier.counts), 0) / seconds
  const bounds = after.health.duration_bounds
  const durations = Array.from({ length: bounds.length + 1 }, (_, place) =>
    pairs.reduce(
      (sum, [earlier, later]) =>
        sum + (later.counts.durations[place] ?? 0) - (earlier.counts.durations[place] ?? 0),
      0,
    ),
  )
  return {
    atMs: after.atMs,
    requests: grown(counts => counts.requests),
    serverErrors: grown(counts => counts.server_errors),
    refused: grown(counts => counts.refused),
    slowQueries: grown(counts => counts.slow_queries),
    retries: grown(counts => counts.retries),
    writes: grown(counts => counts.writes),
    halfMs: quantile(durations, bounds, 0.5),
    mostMs: quantile(durations, bounds, 0.99),
    busy: Math.max(0, ...pairs.map(([earlier, later]) => busyShare(earlier, later))),
    memoryBytes: after.health.processes.reduce((sum, each) => sum + each.memory_bytes, 0),
  }
}

function busyShare(earlier: ProcessReport, later: ProcessReport): number {
  const busy = later.busy_ms - earlier.busy_ms
  return busy / Math.max(1, busy + later.idle_ms - earlier.idle_ms)
}

/** The upper bound, in milliseconds, of the class in which a share of the durations ends; null without any. */
function quantile(classes: readonly number[], bounds: readonly number[], share: number): number | null {
  const total = classes.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let sum = 0
  for (const [place, count] of classes.entries()) {
    sum += count
    if (sum >= total * share) return (bounds[place] ?? (bounds.at(-1) ?? 0) * 2) * 1000
  }
  return null
}

/** One process of each node: what belongs to a machine is told by all of its processes alike. */
export function nodesOf({ processes }: ServiceHealth): readonly ProcessReport[] {
  const first = new Map<string, ProcessReport>()
  for (const process of processes) if (!first.has(process.node)) first.set(process.node, process)
  return [...first.values()]
}

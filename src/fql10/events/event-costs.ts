// The costs of events and pages, and their statistics in responses.

import { limits } from '../../base/limits.ts'
import type { ChangeSource } from '../../model/source-changes.ts'
import type { CostCounters } from './event-snapshots.ts'

/** {@link statsText} converts compute units to compute operations. */
export interface EventCosts {
  readonly readOps: number
  readonly bytesRead: number
  readonly computeUnits: number
  readonly timeMs: number
}

export const noCosts: EventCosts = { readOps: 0, bytesRead: 0, computeUnits: 0, timeMs: 0 }

/** Partitions of the history of a collection, or of an index without terms. Each costs a search one read operation. */
const historyPartitions = 8

/** The costs of searching a source for changes. */
export function historyCosts(source: ChangeSource): EventCosts {
  const isNarrow = source.kind === 'document' || (source.kind === 'index' && source.terms.length > 0)
  return { ...noCosts, readOps: isNarrow ? 1 : historyPartitions }
}

/** If the source is a document, one read of the document is free, because the search has already read it. */
export function costsBetween(before: CostCounters, after: CostCounters, source?: ChangeSource): EventCosts {
  const readOps = after.readOps - before.readOps
  return {
    readOps: source?.kind === 'document' ? Math.max(0, readOps - 1) : readOps,
    bytesRead: after.bytesRead - before.bytesRead,
    computeUnits: after.computeUnits - before.computeUnits,
    timeMs: Math.round((after.micros - before.micros) / 1000),
  }
}

export function sumOf(left: EventCosts, right: EventCosts): EventCosts {
  return {
    readOps: left.readOps + right.readOps,
    bytesRead: left.bytesRead + right.bytesRead,
    computeUnits: left.computeUnits + right.computeUnits,
    timeMs: left.timeMs + right.timeMs,
  }
}

export function statsText({ bytesRead, computeUnits, readOps, timeMs }: EventCosts): string {
  const computeOps = Math.max(1, Math.ceil(computeUnits / limits.computeUnitsPerOp))
  const costs = `"read_ops":${readOps},"storage_bytes_read":${bytesRead},"compute_ops":${computeOps}`
  return `{${costs},"processing_time_ms":${timeMs},"rate_limits_hit":[]}`
}

// What changed: the queries and errors of a span that were not there in the span before it, or came much more often, took much
// longer or cost much more. Chance makes small numbers jump, so a change counts from a size on.

import type { Totals } from './log-aggregate.ts'

/** Sums over one span. */
interface SpanSums {
  readonly totals: Totals
  readonly shapes: ReadonlyMap<string, Totals>
  readonly errors: ReadonlyMap<string, Totals>
}

/** Why something stands out. */
type Change = 'new' | 'more often' | 'slower' | 'costlier'

/** A query or an error that stands out, in this span and in the one before. */
export interface ChangedEntry {
  /** The shape of a query, or status, code and text of an error. */
  readonly name: string
  readonly changes: readonly Change[]
  readonly now: Totals
  /** Undefined: it was not there. */
  readonly before: Totals | undefined
}

export interface LogChanges {
  readonly totals: Totals
  readonly totalsBefore: Totals
  /** The most conspicuous first. */
  readonly queries: readonly ChangedEntry[]
  readonly errors: readonly ChangedEntry[]
}

/** So many times as much is much more. */
const muchMore = 2
/** The least difference that counts: requests of a query, of an error, milliseconds and operations of a request. */
const least = { requests: 10, errors: 5, ms: 5, operations: 5 } as const
/** Requests from which on their mean says something. */
const meaningful = 3
/** Entries of each kind at most. */
const entriesMax = 50

/** Where the span of the same length before another one begins; milliseconds since the Unix epoch. */
export function spanBefore({ from, to }: { readonly from: number; readonly to: number }): number {
  return from - (to - from)
}

/** What stands out in a span beside the one before. */
export function changesBetween(before: SpanSums, now: SpanSums): LogChanges {
  return {
    totals: now.totals,
    totalsBefore: before.totals,
    queries: changed(before.shapes, now.shapes, least.requests, true),
    errors: changed(before.errors, now.errors, least.errors, false),
  }
}

function changed(
  before: ReadonlyMap<string, Totals>,
  now: ReadonlyMap<string, Totals>,
  leastMore: number,
  comparesCosts: boolean,
): readonly ChangedEntry[] {
  const found: ChangedEntry[] = []
  for (const [name, sums] of now) {
    const former = before.get(name)
    const changes =
      former === undefined ? (['new'] as const) : changesOf(former, sums, leastMore, comparesCosts)
    if (changes.length > 0) found.push({ name, changes, now: sums, before: former })
  }
  return found.sort((left, right) => weightOf(right) - weightOf(left)).slice(0, entriesMax)
}

function changesOf(
  before: Totals,
  now: Totals,
  leastMore: number,
  comparesCosts: boolean,
): readonly Change[] {
  const changes: Change[] = []
  if (isMuchMore(before.requests, now.requests, leastMore)) changes.push('more often')
  if (!comparesCosts || before.requests < meaningful || now.requests < meaningful) return changes
  const mean = (of: (totals: Totals) => number) =>
    [of(before) / before.requests, of(now) / now.requests] as const
  if (isMuchMore(...mean(({ queryTimeMs }) => queryTimeMs), least.ms)) changes.push('slower')
  if (isMuchMore(...mean(operationsOf), least.operations)) changes.push('costlier')
  return changes
}

function isMuchMore(before: number, now: number, leastMore: number): boolean {
  return now >= before * muchMore && now - before >= leastMore
}

function operationsOf({ computeOps, readOps, writeOps }: Totals): number {
  return computeOps + readOps + writeOps
}

/** Time in the service and operations that are more than before: both count by what a request usually takes of them. */
function weightOf({ before, now }: ChangedEntry): number {
  const operations = operationsOf(now) - (before === undefined ? 0 : operationsOf(before))
  return now.requests - (before?.requests ?? 0) + now.queryTimeMs - (before?.queryTimeMs ?? 0) + operations
}

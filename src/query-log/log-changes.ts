// Compares a time span with the preceding span. Detects queries and errors that are new, much more frequent, slower or
// costlier. Small numbers vary by chance, so an increase must reach a minimum. New queries and errors need no minimum.

import type { Totals } from './log-aggregate.ts'
import { operationsOf } from './segment-record.ts'

interface SpanSums {
  readonly totals: Totals
  readonly shapes: ReadonlyMap<string, Totals>
  readonly errors: ReadonlyMap<string, Totals>
}

type Change = 'new' | 'more often' | 'slower' | 'costlier'

/** A changed query or error, with its sums in the current span and in the preceding span. */
export interface NamedChange {
  /** The shape of a query, or status, code and text of an error. */
  readonly name: string
  readonly changes: readonly Change[]
  readonly now: Totals
  /** The sums in the preceding span. Undefined when the query or error did not occur in the preceding span. */
  readonly before: Totals | undefined
}

export interface LogChanges {
  readonly totals: Totals
  readonly totalsBefore: Totals
  /** `queries` and `errors`: the changed queries and errors; each list begins with the most significant change. */
  readonly queries: readonly NamedChange[]
  readonly errors: readonly NamedChange[]
}

/** A value is regarded as changed if it has grown at least by this factor. */
const muchMore = 2
/**
 * A smaller increase is not a change. `requests`: requests of a query. `errors`: requests with an error. `ms` and
 * `operations`: the means per request of a query.
 */
const increasesMin = { requests: 10, errors: 5, ms: 5, operations: 5 } as const
/** Minimum number of requests for a meaningful mean. */
const meanRequestsMin = 3
/** Maximum number of changed queries, and of changed errors. */
const changesMax = 50

/** Returns the start of the preceding span of the same length, in milliseconds since the Unix epoch. */
export function startBefore({ from, to }: { readonly from: number; readonly to: number }): number {
  return from - (to - from)
}

export function changesBetween(before: SpanSums, now: SpanSums): LogChanges {
  return {
    totals: now.totals,
    totalsBefore: before.totals,
    queries: changesIn(before.shapes, now.shapes, increasesMin.requests, true),
    errors: changesIn(before.errors, now.errors, increasesMin.errors, false),
  }
}

function changesIn(
  before: ReadonlyMap<string, Totals>,
  now: ReadonlyMap<string, Totals>,
  increaseMin: number,
  comparesCosts: boolean,
): readonly NamedChange[] {
  const found: NamedChange[] = []
  for (const [name, sums] of now) {
    const former = before.get(name)
    const changes =
      former === undefined ? (['new'] as const) : changesOf(former, sums, increaseMin, comparesCosts)
    if (changes.length > 0) found.push({ name, changes, now: sums, before: former })
  }
  return found.sort((left, right) => weightOf(right) - weightOf(left)).slice(0, changesMax)
}

function changesOf(
  before: Totals,
  now: Totals,
  increaseMin: number,
  comparesCosts: boolean,
): readonly Change[] {
  const changes: Change[] = []
  if (isMuchMore(before.requests, now.requests, increaseMin)) changes.push('more often')
  if (!comparesCosts || before.requests < meanRequestsMin || now.requests < meanRequestsMin) return changes
  const mean = (of: (totals: Totals) => number) =>
    [of(before) / before.requests, of(now) / now.requests] as const
  if (isMuchMore(...mean(({ queryTimeMs }) => queryTimeMs), increasesMin.ms)) changes.push('slower')
  if (isMuchMore(...mean(operationsOf), increasesMin.operations)) changes.push('costlier')
  return changes
}

function isMuchMore(before: number, now: number, increaseMin: number): boolean {
  return now >= before * muchMore && now - before >= increaseMin
}

/** Returns the weight of a query or error: the sum of its increases in requests, milliseconds and operations. */
function weightOf({ before, now }: NamedChange): number {
  const operations = operationsOf(now) - (before === undefined ? 0 : operationsOf(before))
  return now.requests - (before?.requests ?? 0) + now.queryTimeMs - (before?.queryTimeMs ?? 0) + operations
}

// The engine's interface to the slow lane: additional processes that evaluate long queries, so that no other query
// waits for them. A higher layer implements the interface. Without it, all queries are evaluated in this process. The
// lead of a slow-lane query determines its commit time.

import type { TimeBudget } from '../base/admission/time-budget.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { CommitRecord } from '../storage/store/last-commit.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { QueryRequest, QueryResponse } from './engine-contract.ts'
import type { LongQueries } from './long-queries.ts'

/** A query for the slow lane. */
export interface LaneJob {
  readonly request: QueryRequest
  /** The queue of the job. Jobs of one database wait for each other, not for jobs of other databases. */
  readonly queue: string
  /** The snapshot time of the service: the minimal time of the state to read. */
  readonly snapshotTime: Micros
  /** Milliseconds, including the wait. */
  readonly timeoutMs: number
  /** Returns the service's time of day; called when the evaluation begins. */
  readonly now: () => Micros
  /**
   * Microseconds by which a fixed commit time is in the future, for queries whose commit time cannot be changed later.
   */
  readonly lead: number
}

/** The attempt of a writing query. The process that evaluated the query waits for the outcome. */
export interface PendingCommit {
  readonly attempt: Attempt<undefined>
  /** The commit begins: from now on the process must not be killed. */
  begin(): void
  /** {@link Store.validated} in the process. Rejects if the process has exited. */
  validate(): Promise<CommitRecord | 'stale'>
  /** {@link Store.attemptAt} in the process; `stale` if the evaluation fails. Rejects if the process has exited. */
  evaluateAt(time: Micros): Promise<Attempt<undefined> | 'stale'>
  /** Returns the response after a commit at `time`. Rejects if the process has exited: only the response is lost. */
  committed(time: Micros): Promise<QueryResponse>
  /** Ends the exchange after any outcome, so that the process can run another query. */
  drop(): void
}

/** The outcome of a query in the slow lane. The response to a writing query has no body before the commit. */
export interface LaneOutcome extends QueryResponse {
  readonly pending?: PendingCommit
}

export interface SlowLane {
  /** Runs a query. Rejects with a RequestError: out of time, out of memory, or too many waiting queries. */
  run(job: LaneJob): Promise<LaneOutcome>
  /** The time for which queries of each queue may hold the process that serves all other queries. */
  readonly time: TimeBudget
  /**
   * Returns whether so many queries of a queue wait that the service should evaluate possibly short ones itself.
   * Otherwise further queries would soon be rejected.
   */
  isCrowded(queue: string): boolean
  readonly leads: Leads
  readonly longQueries: LongQueries
}

/** Thrown to cancel an evaluation that takes too long for the process that serves all other queries. */
export class TooLong {}

/**
 * Returns the queue of a query in the slow lane: the queue of its database or, while that is unknown, of its
 * credential.
 */
export function queueOf(database: DatabaseId | undefined, authorization: string): string {
  return database === undefined ? `credential ${authorization}` : `database ${database}`
}

/** The number of databases to remember. */
const queuesMax = 10_000
/** The minimal lead, in microseconds. A process may have to wait this long for a CPU. */
const leadMin = 50_000
/** The maximal lead of a first try. A query that misses its commit time is retried with the lead that it needed. */
const firstLeadMax = 500_000

/**
 * Chooses the lead of a slow-lane query: how far in the future its commit time is set. The lead matters if the commit
 * time is part of values that cannot be changed later, such as the entries of an index over `ts`. Such a query must
 * be evaluated and sent to the committing process before its commit time. If the commit time is too far in the
 * future, the client waits longer than necessary. So the lead follows the time that recent queries of the same
 * database needed.
 */
export class Leads {
  readonly #needed = new GenerationCache<string, number>(queuesMax)

  /** Returns the lead for the first try of a query, in whole microseconds. */
  first(queue: string): number {
    return Math.min(firstLeadMax, leadFor(this.#needed.get(queue) ?? 0))
  }

  /** Records the microseconds from fixing the commit time until the attempt arrived. */
  record(queue: string, needed: number): void {
    const before = this.#needed.get(queue) ?? 0
    this.#needed.set(queue, Math.max(needed, before / 2))
  }
}

/** Returns a lead 50 % longer than the needed time, in whole microseconds. */
export function leadFor(needed: number): number {
  return Math.max(leadMin, Math.ceil(1.5 * needed))
}

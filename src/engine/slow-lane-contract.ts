// The engine's interface to the slow lane: additional processes that evaluate long queries. Because of the slow lane,
// short queries do not wait for long queries. The pool of processes (slow-lane/process-pool.ts) implements this
// interface.

import { ownerOfDatabase, type Ticket } from '../base/admission/ticket.ts'
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
  /** The queue of the job. Each database has a queue, so that its jobs do not delay the jobs of other databases. */
  readonly queue: string
  /** The request in the budgets of the service. The owners within a queue take turns. */
  readonly ticket: Ticket
  /** The snapshot that the slow-lane process reads must not be older than this time. */
  readonly snapshotTime: Micros
  /** The time limit in milliseconds, including the time in the queue. */
  readonly timeoutMs: number
  /** Returns the time of day in the service. Called when the evaluation begins. */
  readonly now: () => Micros
  /** The microseconds from the start of the evaluation to the commit time of the query: see {@link Leads}. */
  readonly lead: number
}

/** A writing query after its evaluation in a slow-lane process, and before its commit in the service. */
export interface PendingCommit {
  readonly attempt: Attempt<undefined>
  /** Called when the commit begins. From then on, the slow-lane process must not be killed. */
  begin(): void
  /** Calls {@link Store.validated} in the slow-lane process. Rejects if this process has exited. */
  validate(): Promise<CommitRecord | 'stale'>
  /**
   * Calls {@link Store.attemptAt} in the slow-lane process. Returns `stale` if the evaluation fails. Rejects if this
   * process has exited.
   */
  evaluateAt(time: Micros): Promise<Attempt<undefined> | 'stale'>
  /**
   * Returns the response after a commit at `time`. Rejects if the slow-lane process has exited; the commit remains
   * valid.
   */
  committed(time: Micros): Promise<QueryResponse>
  /** Called after the commit or its failure, so that the slow-lane process can run another query. */
  drop(): void
}

/** The outcome of a query in the slow lane. For a writing query, `pending` is present, and `body` is empty. */
export interface LaneOutcome extends QueryResponse {
  readonly pending?: PendingCommit
}

export interface SlowLane {
  /**
   * Runs a query. Rejects with a RequestError if the query needs too much time or memory, or if too many queries wait.
   */
  run(job: LaneJob): Promise<LaneOutcome>
  /** The time for which queries of each queue may block the main process. */
  readonly time: TimeBudget
  /**
   * Returns whether too many queries of a queue wait for the slow lane. The main process then relieves the slow lane:
   * it evaluates queries itself if they may be short.
   */
  isCrowded(queue: string): boolean
  readonly leads: Leads
  readonly longQueries: LongQueries
}

/** Thrown to cancel an evaluation in the main process. The query then moves to the slow lane. */
export class TooLong {}

/** Returns the queue of a query: the queue of its database or, while the database is unknown, of its credential. */
export function queueOf(database: DatabaseId | undefined, authorization: string): string {
  return database === undefined ? `credential ${authorization}` : ownerOfDatabase(database)
}

/** Maximum number of queues for which {@link Leads} remembers the needed time. */
const queuesMax = 10_000
/** The minimal lead, in microseconds. A process may have to wait this long for a CPU. */
const leadMin = 50_000
/**
 * The maximal lead of a query's first try, in microseconds. If the try misses its commit time, the next try gets the
 * lead that the first try needed.
 */
const firstLeadMax = 500_000

/**
 * Chooses the lead of a slow-lane query. The lead is the time from the start of the evaluation to the commit time. A
 * query needs a lead if its writes contain the commit time in values that cannot be changed after the evaluation, such
 * as an entry of an index over `ts`. If the lead is too short, the evaluation ends after its commit time and must be
 * repeated. If the lead is too long, the client waits longer than necessary. So the lead is computed from the time that
 * recent queries of the same database needed.
 */
export class Leads {
  readonly #needed = new GenerationCache<string, number>(queuesMax)

  /** Returns the lead for the first try of a query, in whole microseconds. */
  first(queue: string): number {
    return Math.min(firstLeadMax, leadFor(this.#needed.get(queue) ?? 0))
  }

  /** Records the microseconds from the choice of the commit time until the attempt arrived at the service. */
  record(queue: string, needed: number): void {
    const before = this.#needed.get(queue) ?? 0
    this.#needed.set(queue, Math.max(needed, before / 2))
  }
}

/** Returns a lead for a query that needed `needed` microseconds: 50 % longer, in whole microseconds. */
export function leadFor(needed: number): number {
  return Math.max(leadMin, Math.ceil(1.5 * needed))
}

// The engine's interface to the slow lane: additional processes that evaluate long queries, so that short queries do
// not wait for them. `slow-lane/process-pool.ts` implements it.

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
  /** Each database has a queue, so that its jobs do not delay the jobs of other databases. */
  readonly queue: string
  /** The request in the budgets of the service. The owners within a queue take turns. */
  readonly ticket: Ticket
  /** The slow-lane process must not read an older snapshot. */
  readonly snapshotTime: Micros
  /** The time limit of the query, which includes the time in the queue. */
  readonly timeoutMs: number
  /** Time of day in the service, called when the evaluation begins. */
  readonly now: () => Micros
  /** Microseconds from the start of the evaluation to the commit time of the query: see {@link Leads}. */
  readonly commitLeadMicros: number
}

/** A writing query of a slow-lane process, from its evaluation until the process has sent the response. */
export interface PendingCommit {
  readonly attempt: Attempt<undefined>
  /** Called when the commit begins. From then on, the slow-lane process must not be killed. */
  begin(): void
  /** Calls {@link Store.validated} in the slow-lane process. Rejects if the process has exited. */
  validate(): Promise<CommitRecord | 'stale'>
  /**
   * Calls {@link Store.attemptAt} in the slow-lane process. Returns `stale` if the evaluation fails. Rejects if the
   * process has exited.
   */
  evaluateAt(time: Micros): Promise<Attempt<undefined> | 'stale'>
  /**
   * Tells the slow-lane process the commit time, and returns the response. Rejects if the process has exited; the commit
   * remains valid.
   */
  respondAfterCommit(time: Micros): Promise<QueryResponse>
  /** Called after the commit or its failure, so that the slow-lane process can run another query. */
  drop(): void
}

/** A writing query has `pending`, and an empty `body`. */
export interface LaneOutcome extends QueryResponse {
  readonly pending?: PendingCommit
}

export interface SlowLane {
  /**
   * Rejects with a RequestError if the query needs too much time or memory, if its process was killed, or if too many
   * queries wait; with another error if its process fails.
   */
  run(job: LaneJob): Promise<LaneOutcome>
  /** Bounds how long queries of each queue may block the main process. */
  readonly time: TimeBudget
  /**
   * True if too many queries of a queue wait for the slow lane. The main process then evaluates queries itself if they
   * may be short.
   */
  isCrowded(queue: string): boolean
  readonly leads: Leads
  readonly longQueries: LongQueries
}

/** Thrown to cancel an evaluation in the main process, which moves the query to the slow lane. */
export class SlowLaneNeeded {}

/** Returns the queue of a database or, while the database is unknown, of a credential. */
export function queueOf(database: DatabaseId | undefined, authorization = ''): string {
  return database === undefined ? `credential ${authorization}` : ownerOfDatabase(database)
}

/** Maximum number of queues for which {@link Leads} remembers the needed time. */
const queuesMax = 10_000
/** Minimum lead in microseconds, because a process may have to wait this long for a CPU. */
const leadMin = 50_000
/**
 * Maximum lead of a query's first try, in microseconds. If the try misses its commit time, the lead of the next try is
 * computed from the time that the first try needed.
 */
const firstLeadMax = 500_000

/**
 * Chooses the lead of a slow-lane query: the time from the start of the evaluation to the commit time. A query needs a
 * lead if its writes contain the commit time in values that cannot be changed after the evaluation, such as an entry of
 * an index over `ts`. After a too short lead, the evaluation must be repeated; with a too long lead, the client waits
 * longer than necessary. So the lead is computed from the time that recent queries of the same database needed.
 */
export class Leads {
  readonly #needed = new GenerationCache<string, number>(queuesMax)

  /** Returns the lead of a first try in whole microseconds. */
  first(queue: string): number {
    return Math.min(firstLeadMax, leadFor(this.#needed.get(queue) ?? 0))
  }

  /** `needed`: microseconds from the choice of the commit time until the attempt arrived at the service. */
  record(queue: string, needed: number): void {
    const before = this.#needed.get(queue) ?? 0
    this.#needed.set(queue, Math.max(needed, before / 2))
  }
}

/** The minimum lead, or 50 % more than the `needed` microseconds of the query, in whole microseconds. */
export function leadFor(needed: number): number {
  return Math.max(leadMin, Math.ceil(1.5 * needed))
}

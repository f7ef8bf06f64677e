// What the engine knows of the slow lane: processes beside the service in which queries are evaluated that take long, so
// that no other query waits for them. The layer above provides it; without one, everything is evaluated here.

import type { Attempt } from '../storage/store/attempt.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { QueryRequest, QueryResponse } from './contract.ts'
import type { Leads } from './leads.ts'
import type { LongQueries } from './long-queries.ts'

/** A query for the slow lane. */
export interface LaneJob {
  readonly request: QueryRequest
  /** Whose turn it is used up by: jobs of one database wait behind one another, not before those of others. */
  readonly queue: string
  /** The service's own snapshot time: the state that is read is at least that one. */
  readonly snapshotTime: Micros
  /** Milliseconds, waiting included. */
  readonly timeoutMs: number
  /** The service's time of day, asked when the evaluation begins. */
  readonly now: () => Micros
  /**
   * How long after the moment at which the time of its commit has to be certain it commits, in whole microseconds; only
   * for what cannot have another time.
   */
  readonly lead: number
}

/** What the service knows of an attempt that a process of the slow lane keeps. */
export type KeptFacts = Pick<
  Attempt<unknown>,
  'changesSchema' | 'commitTime' | 'evaluationMicros' | 'isStamped'
>

/** What a query wants to write; the process that has evaluated it keeps that. */
export interface KeptAttempt extends KeptFacts {
  /**
   * Has it committed at the time `announced`, or a later one if another commit has come up to that. Resolves with that
   * time and the response when the commit is visible, or with `stale`. Rejects when nothing was committed,
   * or when that is unknown. `takesTurn`: a stale attempt is evaluated once more under the writer's lock.
   */
  commit(announced: Micros, takesTurn?: boolean): Promise<KeptCommit | 'stale'>
  /** It will not be committed. Does nothing when that has begun. */
  drop(): void
}

/** A commit that has become visible, and the response that tells of it. */
export interface KeptCommit {
  readonly time: Micros
  readonly response: QueryResponse
}

/** What comes of a query in the slow lane; the response to one that writes has no body before it is committed. */
export interface LaneOutcome extends QueryResponse {
  readonly kept?: KeptAttempt
}

export interface SlowLane {
  /** Rejects with a RequestError: out of time, out of memory, too many waiting. */
  run(job: LaneJob): Promise<LaneOutcome>
  /** How long work of that queue may hold the process that serves all others, from now on. */
  share(queue: string): ProcessShare
  /** So much of that queue waits that what may be short is better evaluated by the service: more would be refused soon. */
  isCrowded(queue: string): boolean
  readonly leads: Leads
  readonly longQueries: LongQueries
}

/** The share of one stretch of work: it begins with the parsing of a query, and an evaluation right behind goes on with it. */
export interface ProcessShare {
  isOver(): boolean
  /** The work is that of another queue, and may take as long as one of that, from its beginning. */
  countFor(queue: string): void
  /** The evaluation was dropped: the time was wasted. */
  wasted(): void
  /** The work is through, or given up. */
  ended(): void
}

/** Thrown out of an evaluation that takes too long for the process that serves all others. */
export class TooLong {}

/** Whose turn a query uses up in the slow lane: that of its database, as soon as it is known. */
export function queueOf(database: DatabaseId | undefined, authorization: string): string {
  return database === undefined ? `credential ${authorization}` : `database ${database}`
}

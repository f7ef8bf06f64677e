// The service's part of running a query in the slow lane. The response to a reading query is passed on unchanged. For a
// writing query, the slow lane returns an attempt, which the service commits. If the attempt is stale, the query is
// evaluated again.
//
// An attempt may contain its commit time in places that cannot be changed later, such as the values of an index over
// `ts`. Such an attempt is evaluated for a time in the future (slow-lane.ts#Leads) and committed at exactly this time. If the
// attempt arrives after this time, the query is evaluated again.

import { type Timers, wait } from '../base/timers.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Store } from '../storage/store/store.ts'
import { ContendedTransaction, WriteNeeded } from '../storage/store/store-contract.ts'
import type { QueryResponse } from './engine-contract.ts'
import { type LaneJob, leadFor, type SlowLane } from './slow-lane-contract.ts'

/** The parameters of a query in the slow lane. */
interface SlowRun {
  readonly slowLane: SlowLane
  readonly store: Store
  /** True: another process commits the writes of this process. */
  readonly commitsElsewhere?: boolean
  readonly timers: Timers
  /** Returns the job with the remaining time of the query. `lead`: see {@link LaneJob}. */
  readonly job: (lead: number) => LaneJob
  /** The number of retries after conflicts with other transactions. */
  readonly retriesMax: number
  /** After this many retries, a schema change is evaluated under the writer lock. Undefined: never. */
  readonly pushRetriesMax?: number
  /** Throws `time out` after the deadline. */
  readonly requireInTime: () => void
  /** Throws if the costs of the query exceed the rate limits of its database. */
  readonly checkCosts: (response: QueryResponse, writes: boolean) => void
}

/** Microseconds by which the commit at a fixed time starts early, because the event loop may be late. */
const earlyMicros = 10_000
/**
 * Microseconds. An attempt whose evaluation took longer is never evaluated under the writer lock, because all other
 * writers would wait for the evaluation.
 */
const turnMicrosMax = 500_000

/**
 * Returns whether an attempt may be evaluated under the writer lock. Only schema changes may: they read much and
 * contain their commit time, so each commit of another machine may make them stale. Schema changes are also rare.
 */
function mayTakeTurn({ changesSchema, evaluationMicros }: Attempt<undefined>): boolean {
  return changesSchema && evaluationMicros <= turnMicrosMax
}

/**
 * Returns the response after its writes are committed. Rejects with a RequestError, with {@link ContendedTransaction},
 * or with {@link WriteNeeded} if the query writes and another process commits.
 */
export async function runSlowly(run: SlowRun): Promise<QueryResponse> {
  const { pushRetriesMax = Number.POSITIVE_INFINITY, slowLane } = run
  const { leads } = slowLane
  let lead: number | undefined
  for (let retries = 0; ; ) {
    const { queue, timeoutMs } = run.job(0)
    // The slow lane rejects a query whose time is up, so the lead need not exceed the time that is left.
    lead = Math.min(lead ?? leads.first(queue), Math.ceil(timeoutMs * 1000))
    const outcome = await slowLane.run(run.job(lead))
    const { pending } = outcome
    try {
      if (outcome.status < 300) run.checkCosts(outcome, pending !== undefined)
      if (pending === undefined) return outcome
      if (run.commitsElsewhere) throw new WriteNeeded()
      const { attempt } = pending
      const takesTurn = retries >= pushRetriesMax && mayTakeTurn(attempt)
      if (attempt.isStamped) {
        const now = run.store.now()
        const needed = Math.max(0, now - (attempt.commitTime - lead))
        leads.record(queue, needed)
        if (attempt.commitTime <= now && !takesTurn) {
          lead = leadFor(needed)
          continue
        }
        const ms = Math.floor((attempt.commitTime - earlyMicros - now) / 1000)
        if (ms > 0) await wait(ms, run.timers)
      }
      run.requireInTime()
      pending.begin()
      const commit = await run.store.commit(attempt, {
        validate: () => pending.validate(),
        ...(takesTurn && { evaluateAt: time => pending.evaluateAt(time) }),
      })
      if (commit !== 'stale') {
        const response = await pending.committed(commit.time)
        const metrics = response.metrics && { ...response.metrics, txnRetries: retries }
        return { ...response, metrics, isCommittedThere: true }
      }
    } finally {
      pending?.drop()
    }
    if (retries >= run.retriesMax) throw new ContendedTransaction(retries + 1)
    retries++
  }
}

// Runs in the service: sends a query to the slow lane (processes that evaluate long queries), and commits its writes.
// Responses to reading queries are forwarded unchanged. For a writing query, the slow lane returns an attempt: the
// writes and the reads of the query. The service validates and commits it. If other commits have changed what the query
// read, the attempt is stale, and the slow lane evaluates the query again.
//
// Some writes contain the commit time and cannot be changed after the evaluation, for example the entries of an index
// over `ts`. The slow lane then chooses a commit time in the future (slow-lane-contract.ts#Leads), and the service
// commits at exactly this time. If the attempt arrives later, the query is evaluated again.

import { type Timers, wait } from '../base/timers.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Store } from '../storage/store/store.ts'
import { ContendedTransaction, WriteNeeded } from '../storage/store/store-contract.ts'
import type { QueryResponse } from './engine-contract.ts'
import { type LaneJob, leadFor, type SlowLane } from './slow-lane-contract.ts'

interface SlowRun {
  readonly slowLane: SlowLane
  readonly store: Store
  /** Another process commits. A writing query then fails with {@link WriteNeeded}. */
  readonly commitsElsewhere?: boolean
  readonly timers: Timers
  /**
   * The job's time limit is the remaining time of the query. `commitLeadMicros`: from the start of the
   * evaluation to the commit time.
   */
  readonly job: (commitLeadMicros: number) => LaneJob
  /** Retries after conflicts with other transactions. */
  readonly retriesMax: number
  /** Retries after which a schema change is evaluated under the writer lock. Undefined: never. */
  readonly retriesBeforeLock?: number
  /** Throws `time out` after the deadline. */
  readonly requireInTime: () => void
  /** Throws if the costs of the query exceed the rate limits of its database. */
  readonly checkCosts: (response: QueryResponse, writes: boolean) => void
}

/** Microseconds by which a commit at a fixed time starts early, because the event loop may delay it. */
const earlyMicros = 10_000
/** Microseconds of the longest evaluation that may be repeated under the writer lock, while all other writers wait. */
const lockedMicrosMax = 500_000

/**
 * Only a schema change may be evaluated again under the writer lock. Such a query reads much data and must wait for its
 * commit time; meanwhile, any commit of another machine may make the attempt stale, so retries may never succeed.
 * Schema changes are rare, so other writers seldom wait for one.
 */
function mayHoldLock({ changesSchema, evaluationMicros }: Attempt<undefined>): boolean {
  return changesSchema && evaluationMicros <= lockedMicrosMax
}

/**
 * Returns the response after the commit. Rejects with a RequestError, with {@link ContendedTransaction} after too many
 * retries, or with {@link WriteNeeded} if the query writes and another process commits.
 */
export async function runSlowly(run: SlowRun): Promise<QueryResponse> {
  const { retriesBeforeLock = Number.POSITIVE_INFINITY, slowLane } = run
  const { leads } = slowLane
  let lead: number | undefined
  for (let retries = 0; ; ) {
    const { queue, ticket, timeoutMs } = run.job(0)
    // The slow lane rejects a query after its deadline, so the lead need not be longer than the remaining time.
    lead = Math.min(lead ?? leads.first(queue), Math.ceil(timeoutMs * 1000))
    const outcome = await slowLane.run(run.job(lead))
    const { pending } = outcome
    try {
      if (outcome.status < 300) run.checkCosts(outcome, pending !== undefined)
      if (pending === undefined) return outcome
      if (run.commitsElsewhere) throw new WriteNeeded()
      const { attempt } = pending
      const holdsLock = retries >= retriesBeforeLock && mayHoldLock(attempt)
      if (attempt.isStamped) {
        const now = run.store.now()
        const needed = Math.max(0, now - (attempt.commitTime - lead))
        leads.record(queue, needed)
        // An evaluation with a later commit time is no retry, because nothing conflicts. The job's time limit ends it.
        if (attempt.commitTime <= now && !holdsLock) {
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
        memoryOwner: ticket.owner,
        ...(holdsLock && { evaluateAt: time => pending.evaluateAt(time) }),
      })
      if (commit !== 'stale') {
        const response = await pending.respondAfterCommit(commit.time)
        const metrics = response.metrics && { ...response.metrics, txnRetries: retries }
        return { ...response, metrics, isSlowCommit: true }
      }
    } finally {
      pending?.drop()
    }
    if (retries >= run.retriesMax) throw new ContendedTransaction(retries + 1)
    retries++
  }
}

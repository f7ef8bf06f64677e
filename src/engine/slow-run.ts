// One query in the slow lane, from the service's side: the response to one that reads comes back as it is; of one that
// writes comes an attempt, which is committed here or, when it is large, by the process that made it, and made again when
// others were faster.
//
// An attempt may hold the time of its commit in places that cannot be given another, such as the values of an index over
// `ts`. Such a query is evaluated again for a moment to come, when it will have been evaluated, and committed right then.

import { type Timers, wait } from '../base/timers.ts'
import { type Attempt, ContendedTransaction, type Store } from '../store/contract.ts'
import { fillTransactionTime } from '../v4/wire/render.ts'
import type { Micros } from '../values/value.ts'
import type { QueryResponse } from './contract.ts'
import type { LaneJob, LaneOutcome, SlowLane } from './slow-lane.ts'

/** What it takes to run a query in the slow lane. */
interface SlowRun {
  readonly slowLane: SlowLane
  readonly store: Store
  readonly timers: Timers
  /** The query, with the time that is left, and the earliest time of its commit. */
  readonly job: (commitNotBefore: Micros | undefined) => LaneJob
  /** How often an attempt is made again because others wrote what it had read. */
  readonly retriesMax: number
  /** Throws when the database may not use what the query has cost. */
  readonly checkCosts: (response: QueryResponse, writes: boolean) => void
}

/** Microseconds that a commit at a set moment begins early: what the event loop may be late. */
const earlyMicros = 10_000

/** The response, with what it has written committed. Rejects with a RequestError, and with {@link ContendedTransaction}. */
export async function runSlowly(run: SlowRun): Promise<QueryResponse> {
  /** How far ahead the moment is set, in microseconds; 0 while any time will do. */
  let lead = 0
  for (let retries = 0; ; ) {
    const started = run.store.now()
    // Who has run out of time is refused by the slow lane, and does not wait here beyond it.
    lead = Math.min(lead, run.job(undefined).timeoutMs * 1000)
    const outcome = await run.slowLane.run(run.job(lead > 0 ? started + lead : undefined))
    try {
      const made = outcome.kept ?? outcome.attempt
      if (outcome.status < 300) run.checkCosts(outcome, made !== undefined)
      if (made === undefined) return outcome
      const now = run.store.now()
      if (made.isStamped && (lead === 0 || made.commitTime <= now)) {
        lead = 2 * Math.max(lead, now - started + earlyMicros)
        continue
      }
      if (lead > 0) {
        const ms = Math.floor((made.commitTime - earlyMicros - now) / 1000)
        if (ms > 0) await wait(ms, run.timers)
      }
      const response = await committed(run.store, outcome)
      if (response !== 'stale') {
        const metrics = response.metrics && { ...response.metrics, txnRetries: retries }
        return { ...response, metrics }
      }
    } finally {
      outcome.kept?.drop()
    }
    if (retries >= run.retriesMax) throw new ContendedTransaction(retries + 1)
    retries++
  }
}

/** The response to a query that writes, once that has been committed: here, or by the process that keeps it. */
async function committed(
  store: Store,
  { attempt, kept, ...response }: LaneOutcome,
): Promise<QueryResponse | 'stale'> {
  if (kept !== undefined) {
    const txnTime = await store.commitKept(kept)
    return txnTime === 'stale' ? txnTime : { ...kept.response, txnTime, isCommittedThere: true }
  }
  const outcome = await store.commit(attempt as Attempt<unknown>)
  if (outcome === 'stale') return outcome
  const { time } = outcome
  return { ...response, body: fillTransactionTime(response.body, time), txnTime: time }
}

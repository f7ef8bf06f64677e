// One query in the slow lane, from the service's side: the response to one that reads comes back as it is; of one that
// writes comes an attempt, which is committed here or, when it is large, by the process that made it, and made again when
// others were faster.
//
// An attempt may hold the time of its commit in places that cannot be given another, such as the values of an index over
// `ts`. It is made for a moment to come, when it will be here (leads.ts), and committed right then; if it comes too
// late, the query is evaluated again.

import { type Timers, wait } from '../base/timers.ts'
import { type Attempt, ContendedTransaction, type Store } from '../store/contract.ts'
import type { Micros } from '../values/value.ts'
import type { QueryResponse } from './contract.ts'
import { leadFor } from './leads.ts'
import type { LaneJob, LaneOutcome, SlowLane } from './slow-lane.ts'

/** What it takes to run a query in the slow lane. */
interface SlowRun {
  readonly slowLane: SlowLane
  readonly store: Store
  readonly timers: Timers
  /** The query, with the time that is left, and how far ahead that moment is set. */
  readonly job: (lead: Micros) => LaneJob
  /** How often an attempt is made again because others wrote what it had read. */
  readonly retriesMax: number
  /** The body of a response that is committed at `time`. */
  readonly completed: (response: QueryResponse, time: Micros) => string
  /** Throws when the database may not use what the query has cost. */
  readonly checkCosts: (response: QueryResponse, writes: boolean) => void
}

/** Microseconds that a commit at a set moment begins early: what the event loop may be late. */
const earlyMicros = 10_000

/** The response, with what it has written committed. Rejects with a RequestError, and with {@link ContendedTransaction}. */
export async function runSlowly(run: SlowRun): Promise<QueryResponse> {
  const { leads } = run.slowLane
  let lead: Micros | undefined
  for (let retries = 0; ; ) {
    const { queue, timeoutMs } = run.job(0)
    // Who has run out of time is refused by the slow lane, and does not wait here long beyond it.
    lead = Math.min(lead ?? leads.first(queue), Math.ceil(timeoutMs * 1000))
    const outcome = await run.slowLane.run(run.job(lead))
    try {
      const made = outcome.kept ?? outcome.attempt
      if (outcome.status < 300) run.checkCosts(outcome, made !== undefined)
      if (made === undefined) return outcome
      if (made.isStamped) {
        const now = run.store.now()
        const needed = Math.max(0, now - (made.commitTime - lead))
        leads.note(queue, needed)
        if (made.commitTime <= now) {
          lead = leadFor(needed)
          continue
        }
        const ms = Math.floor((made.commitTime - earlyMicros - now) / 1000)
        if (ms > 0) await wait(ms, run.timers)
      }
      const response = await committed(run, outcome)
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
  { completed, store }: SlowRun,
  { attempt, kept, ...response }: LaneOutcome,
): Promise<QueryResponse | 'stale'> {
  if (kept !== undefined) {
    const txnTime = await store.commitKept(kept)
    return txnTime === 'stale' ? txnTime : { ...kept.response, txnTime, isCommittedThere: true }
  }
  const outcome = await store.commit(attempt as Attempt<unknown>)
  if (outcome === 'stale') return outcome
  const { time } = outcome
  return { ...response, body: completed(response, time), txnTime: time }
}

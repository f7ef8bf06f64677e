// One query in the slow lane, from the service's side: the response to one that reads comes back as it is; one that writes
// is committed by the process that evaluated it, at a time that is announced here, and made again when others were faster.
//
// An attempt may hold the time of its commit in places that cannot be given another, such as the values of an index over
// `ts`. It is made for a moment to come, when it will be here (leads.ts), and committed right then; if it comes too
// late, the query is evaluated again.

import { type Timers, wait } from '../base/timers.ts'
import { ContendedTransaction } from '../storage/store/contract.ts'
import type { Store } from '../storage/store/store.ts'
import type { QueryResponse } from './contract.ts'
import { leadFor } from './leads.ts'
import type { KeptAttempt, LaneJob, SlowLane } from './slow-lane.ts'

/** What it takes to run a query in the slow lane. */
interface SlowRun {
  readonly slowLane: SlowLane
  readonly store: Store
  readonly timers: Timers
  /** The query, with the time that is left, and how far ahead that moment is set. */
  readonly job: (lead: number) => LaneJob
  /** How often an attempt is made again because others wrote what it had read. */
  readonly retriesMax: number
  /** After so many a change of the schema takes its turn: it is evaluated under the writer's lock. Absent: it never does. */
  readonly pushRetriesMax?: number
  /** Throws `time out` past the deadline. */
  readonly requireInTime: () => void
  /** Throws when the database may not use what the query has cost. */
  readonly checkCosts: (response: QueryResponse, writes: boolean) => void
}

/** Microseconds that a commit at a set moment begins early: what the event loop may be late. */
const earlyMicros = 10_000
/** An attempt that took longer takes no turn: all other writers would wait for it. In microseconds. */
const turnMicrosMax = 500_000

/**
 * Changes of the schema read much and hold the time of their commit, so that each commit of another machine may make them
 * stale; and they are rare.
 */
function mayTakeTurn({ changesSchema, evaluationMicros }: KeptAttempt): boolean {
  return changesSchema && evaluationMicros <= turnMicrosMax
}

/** The response, with what it has written committed. Rejects with a RequestError, and with {@link ContendedTransaction}. */
export async function runSlowly(run: SlowRun): Promise<QueryResponse> {
  const { pushRetriesMax = Number.POSITIVE_INFINITY, slowLane } = run
  const { leads } = slowLane
  let lead: number | undefined
  for (let retries = 0; ; ) {
    const { queue, timeoutMs } = run.job(0)
    // Who has run out of time is refused by the slow lane, and does not wait here long beyond it.
    lead = Math.min(lead ?? leads.first(queue), Math.ceil(timeoutMs * 1000))
    const outcome = await slowLane.run(run.job(lead))
    const { kept } = outcome
    try {
      if (outcome.status < 300) run.checkCosts(outcome, kept !== undefined)
      if (kept === undefined) return outcome
      const takesTurn = retries >= pushRetriesMax && mayTakeTurn(kept)
      if (kept.isStamped) {
        const now = run.store.now()
        const needed = Math.max(0, now - (kept.commitTime - lead))
        leads.note(queue, needed)
        if (kept.commitTime <= now && !takesTurn) {
          lead = leadFor(needed)
          continue
        }
        const ms = Math.floor((kept.commitTime - earlyMicros - now) / 1000)
        if (ms > 0) await wait(ms, run.timers)
      }
      run.requireInTime()
      const commit = await run.store.commitElsewhere(kept, announced => kept.commit(announced, takesTurn))
      if (commit !== 'stale') {
        const { response } = commit
        const metrics = response.metrics && { ...response.metrics, txnRetries: retries }
        return { ...response, metrics, isCommittedThere: true }
      }
    } finally {
      kept?.drop()
    }
    if (retries >= run.retriesMax) throw new ContendedTransaction(retries + 1)
    retries++
  }
}

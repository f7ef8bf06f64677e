// One query in the slow lane, from the service's side: the answer to one that reads comes back as it is; of one that
// writes comes an attempt, which is committed here, and made again when others were faster.

import { ContendedTransaction, type Store } from '../store/contract.ts'
import { fillTransactionTime } from '../values/wire.ts'
import type { QueryAnswer } from './contract.ts'
import type { LaneJob, SlowLane } from './slow-lane.ts'

/** What it takes to run a query in the slow lane. */
interface SlowRun {
  readonly slowLane: SlowLane
  readonly store: Store
  /** The query, with the time that is left. */
  readonly job: () => LaneJob
  /** How often an attempt is made again because others wrote what it had read. */
  readonly retriesMax: number
  /** Throws when the database may not use what the query has cost. */
  readonly checkCosts: (answer: QueryAnswer) => void
}

/**
 * The answer, with what it has written committed. Undefined for what only the service itself can evaluate, because the
 * time of the commit went into it. Rejects with a RequestError, and with {@link ContendedTransaction}.
 */
export async function runSlowly(run: SlowRun): Promise<QueryAnswer | undefined> {
  for (let retries = 0; ; retries++) {
    const { attempt, ...answer } = await run.slowLane.run(run.job())
    if (answer.status < 300) run.checkCosts({ ...answer, ...(attempt && { attempt }) })
    if (!attempt) return answer
    if (attempt.isStamped) return undefined
    const outcome = await run.store.commit(attempt)
    if (outcome !== 'stale') {
      const { time } = outcome
      const metrics = answer.metrics && { ...answer.metrics, txnRetries: retries }
      return { ...answer, body: fillTransactionTime(answer.body, time), txnTime: time, metrics }
    }
    if (retries >= run.retriesMax) throw new ContendedTransaction(retries + 1)
  }
}

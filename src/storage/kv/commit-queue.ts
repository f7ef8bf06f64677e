// Queues transactions for commits in batches: an engine commits several waiting transactions together, and completes
// them when their batch is durable.

import { assert } from '../../base/assert.ts'
import { checkWork } from './engine-parts.ts'
import type { KeyValueStore, View, Work } from './kv-contract.ts'

/**
 * A call of `transact`: a plain object, because waiting closures would retain complete transactions in memory (decision
 * 28).
 */
export interface Job {
  readonly work: (view: View) => Work<unknown>
  /** See {@link KeyValueStore.transact}. A transaction with a preparation is the only transaction of its batch. */
  readonly prepare: (() => Promise<void>) | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: unknown) => void
  /** The arrival time on the monotonic clock, in milliseconds. */
  readonly arrivedMs: number
  /** The outcome of the last run. */
  outcome: { readonly result: unknown } | { readonly error: unknown } | undefined
}

export type JobWrites = Pick<Work<unknown>, 'writes' | 'pieces'>

/** An error rejects the promise of this job, but not of other jobs. */
export function runJob(job: Job, view: View): JobWrites {
  try {
    const done = job.work(view)
    checkWork(done)
    job.outcome = { result: done.result }
    return done
  } catch (error) {
    job.outcome = { error }
    return nothing
  }
}

const nothing: JobWrites = { writes: [] }

/**
 * Runs the preparation of the first job, which is then the only job. If it fails, rejects the job and returns false.
 */
export async function prepareBatch([job]: readonly Job[]): Promise<boolean> {
  try {
    await job?.prepare?.()
    return true
  } catch (error) {
    job?.reject(error)
    return false
  }
}

/** Resolves or rejects the promise of a transaction whose batch is durable. */
export function completeJob({ outcome, reject, resolve }: Job): void {
  assert(outcome !== undefined, 'every transaction of a batch has run')
  if ('result' in outcome) resolve(outcome.result)
  else reject(outcome.error)
}

/**
 * The waiting transactions, in the order of arrival. If evaluations take longer than a flush, a batch contains only half
 * of them: if a batch contained the transactions of all clients, no transaction would be evaluated while the batch is
 * flushed, because a client sends its next transaction after a result. The clients then form two groups: the
 * transactions of one group are evaluated while the batch of the other group is flushed.
 */
export class CommitQueue {
  #jobs: Job[] = []
  #flushMs = Number.POSITIVE_INFINITY
  /** Transactions arrived during the last flush, so the clients form two groups already. */
  #hasTwoGroups = false
  /** First and last arrival after the start of the last commit, on the monotonic clock. */
  #firstArrivedMs = 0
  #lastArrivedMs = 0

  get isEmpty(): boolean {
    return this.#jobs.length === 0
  }

  add<T>(work: (view: View) => Work<T>, arrivedMs: number, prepare?: () => Promise<void>): Promise<T> {
    if (this.isEmpty) this.#firstArrivedMs = arrivedMs
    this.#lastArrivedMs = arrivedMs
    return new Promise<T>((resolve, reject) => {
      const resolveResult = resolve as (result: unknown) => void
      this.#jobs.push({ work, prepare, resolve: resolveResult, reject, arrivedMs, outcome: undefined })
    })
  }

  /**
   * Removes the transactions for a commit that begins now: at most `max`, or only one if the first has a
   * preparation.
   */
  take(max = Number.POSITIVE_INFINITY): Job[] {
    const waiting = this.#jobs.length
    const arrivalMs = this.#lastArrivedMs - this.#firstArrivedMs
    const count = this.#hasTwoGroups || arrivalMs <= this.#flushMs ? waiting : Math.ceil(waiting / 2)
    this.#firstArrivedMs = this.#lastArrivedMs
    if (this.#jobs[0]?.prepare) return this.#jobs.splice(0, 1)
    const next = this.#jobs.findIndex(({ prepare }) => prepare !== undefined)
    return this.#jobs.splice(0, Math.min(count, max, next === -1 ? count : next))
  }

  /** Returns uncommitted jobs to the front of the queue. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs.unshift(...jobs)
  }

  /** A batch has become durable, `flushMs` milliseconds after its transactions have run. */
  flushed(flushMs: number): void {
    this.#flushMs = flushMs
    this.#hasTwoGroups = !this.isEmpty
  }

  takeOlderThan(sinceMs: number): Job[] {
    const old = this.#jobs.filter(job => job.arrivedMs < sinceMs)
    if (old.length > 0) this.#jobs = this.#jobs.filter(job => job.arrivedMs >= sinceMs)
    return old
  }
}

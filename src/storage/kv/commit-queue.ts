// Transactions that wait for a commit and share it: what each came to is not told before the batch is durable.

import { assert } from '../../base/assert.ts'
import { checkWork } from './checks.ts'
import { CommitPace } from './commit-pace.ts'
import type { KeyValueStore, View, Work } from './contract.ts'

/** One call of `transact`. Plain: closures that wait outlive minor garbage collections (decision 28). */
export interface Job {
  readonly work: (view: View) => Work<unknown>
  /** As {@link KeyValueStore.transact} has it. The transaction has a batch to itself. */
  readonly prepare: (() => Promise<void>) | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: unknown) => void
  /** When it came, on the steady clock, in milliseconds. */
  readonly cameMs: number
  /** What it came to when it ran last. */
  outcome: { readonly result: unknown } | { readonly error: unknown } | undefined
}

/** What a job writes, as of {@link Work}. */
type JobWrites = Pick<Work<unknown>, 'writes' | 'pieces'>

/** Runs a job and returns what it writes. What it throws reaches its own caller alone. */
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

/** Prepares the transaction of a batch that has one to itself. False when it has failed and was rejected. */
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
export function settle({ outcome, reject, resolve }: Job): void {
  assert(outcome !== undefined, 'every work of a batch has run')
  if ('result' in outcome) resolve(outcome.result)
  else reject(outcome.error)
}

/** The transactions that wait, in the order in which they came. */
export class CommitQueue {
  readonly #pace = new CommitPace()
  #jobs: Job[] = []
  /** When the first and the last came since the last commit was begun, on the steady clock, in milliseconds. */
  #firstCameMs = 0
  #lastCameMs = 0

  get isEmpty(): boolean {
    return this.#jobs.length === 0
  }

  /** Adds a transaction that comes at `cameMs`; a promise for its result. */
  add<T>(work: (view: View) => Work<T>, cameMs: number, prepare?: () => Promise<void>): Promise<T> {
    if (this.isEmpty) this.#firstCameMs = cameMs
    this.#lastCameMs = cameMs
    return new Promise<T>((resolve, reject) => {
      const settled = resolve as (result: unknown) => void
      this.#jobs.push({ work, prepare, resolve: settled, reject, cameMs, outcome: undefined })
    })
  }

  /** Takes out those that go into a commit that begins now, at most `jobsMax`. */
  take(jobsMax = Number.POSITIVE_INFINITY): Job[] {
    const count = this.#pace.take(this.#jobs.length, this.#lastCameMs - this.#firstCameMs)
    this.#firstCameMs = this.#lastCameMs
    if (this.#jobs[0]?.prepare) return this.#jobs.splice(0, 1)
    const next = this.#jobs.findIndex(({ prepare }) => prepare !== undefined)
    return this.#jobs.splice(0, Math.min(count, jobsMax, next === -1 ? count : next))
  }

  /** Puts jobs back that have not been committed; they come first again. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs.unshift(...jobs)
  }

  /** A batch became durable `flushMs` after its transactions had run. */
  flushed(flushMs: number): void {
    this.#pace.flushed(flushMs, this.#jobs.length)
  }

  /** Takes out the jobs that have waited since before `sinceMs`. */
  takeOlderThan(sinceMs: number): Job[] {
    const old = this.#jobs.filter(job => job.cameMs < sinceMs)
    if (old.length > 0) this.#jobs = this.#jobs.filter(job => job.cameMs >= sinceMs)
    return old
  }
}

// Transactions that wait for a commit and share it: what each came to is not told before the batch is durable.

import { assert } from '../../base/assert.ts'
import { checkWork } from './checks.ts'
import { CommitPace } from './commit-pace.ts'
import type { View, Work, Write } from './contract.ts'

/** One call of `transact`. Plain: closures that wait outlive minor garbage collections (decision 28). */
export interface Job {
  readonly work: (view: View) => Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: unknown) => void
  /** When it came, on the steady clock, in milliseconds. */
  readonly cameMs: number
  /** What it came to when it ran last. */
  outcome: { readonly result: unknown } | { readonly error: unknown } | undefined
}

/** Runs a job and returns what it writes. What it throws reaches its own caller alone. */
export function runJob(job: Job, view: View): readonly Write[] {
  try {
    const done = job.work(view)
    checkWork(done)
    job.outcome = { result: done.result }
    return done.writes
  } catch (error) {
    job.outcome = { error }
    return []
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
  add<T>(work: (view: View) => Work<T>, cameMs: number): Promise<T> {
    if (this.isEmpty) this.#firstCameMs = cameMs
    this.#lastCameMs = cameMs
    return new Promise<T>((resolve, reject) => {
      const settled = resolve as (result: unknown) => void
      this.#jobs.push({ work, resolve: settled, reject, cameMs, outcome: undefined })
    })
  }

  /** Takes out those that go into a commit that begins now, at most `jobsMax`. */
  take(jobsMax = Number.POSITIVE_INFINITY): Job[] {
    const count = this.#pace.take(this.#jobs.length, this.#lastCameMs - this.#firstCameMs)
    this.#firstCameMs = this.#lastCameMs
    return this.#jobs.splice(0, Math.min(count, jobsMax))
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

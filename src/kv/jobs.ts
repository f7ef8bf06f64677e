// Transactions that wait for a commit and share it: what each came to is not told before the batch is durable.

import { assert } from '../base/assert.ts'
import { checkWork } from './checks.ts'
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

/** A promise for the result of `work`, which `take` gets as a job. */
export function promiseOf<T>(
  work: (view: View) => Work<T>,
  cameMs: number,
  take: (job: Job) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) =>
    take({ work, resolve: resolve as (result: unknown) => void, reject, cameMs, outcome: undefined }),
  )
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

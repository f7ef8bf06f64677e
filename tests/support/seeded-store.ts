// A key-value store whose transactions advance one stage at a time (run, apply, answer), when the test calls the stage.
// In between, the test can insert every event that may occur during a real commit: reads, other requests, a failing
// disk.

import assert from 'node:assert/strict'
import type { KeyValueStore, View, Work } from '../../src/storage/kv/kv-contract.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'

interface Job {
  readonly work: (view: View) => Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Of a commit. All but `applied` are faults. A store with the fate `lost` is broken, because it loses an acknowledged
 * commit.
 */
export type Fate = 'applied' | 'rejected' | 'applied but reported as failed' | 'lost'

/** Outcome of a transaction. */
export interface Outcome {
  readonly fate: Fate
  /** Set by the test for later checks. */
  commitTime: number | undefined
  readonly complete: () => void
}

/** Passes its reads and writes to an inner store. */
export class SteppedStore implements KeyValueStore {
  readonly #inner: KeyValueStore
  readonly #waiting: Job[] = []
  readonly #outcomes: Outcome[] = []
  #ran: { readonly job: Job; readonly done: Work<unknown> } | undefined

  constructor(inner: KeyValueStore) {
    this.#inner = inner
  }

  /** Can run next. */
  get stages(): readonly ('run' | 'apply' | 'answer')[] {
    return [
      ...(this.#waiting.length > 0 && !this.#ran ? (['run'] as const) : []),
      ...(this.#ran ? (['apply'] as const) : []),
      ...(this.#outcomes.length > 0 ? (['answer'] as const) : []),
    ]
  }

  /** The writes of the next transaction are not visible yet. */
  run(): void {
    const job = this.#waiting.shift()
    if (!job) return
    try {
      this.#ran = { job, done: this.#inner.read(job.work) }
    } catch (error) {
      this.#outcomes.push({ fate: 'applied', commitTime: undefined, complete: () => job.reject(error) })
    }
  }

  /** Ends the running transaction. The fate determines if its writes become visible. */
  async apply(fate: Fate): Promise<Outcome> {
    assert(this.#ran, 'a transaction has run')
    const { done, job } = this.#ran
    if (fate === 'applied' || fate === 'applied but reported as failed') {
      await this.#inner.transact(() => done)
    }
    this.#ran = undefined
    const complete =
      fate === 'applied' || fate === 'lost'
        ? () => job.resolve(done.result)
        : () => job.reject(new StoreUnavailableError('the disk of the test has failed'))
    const outcome: Outcome = { fate, commitTime: undefined, complete }
    this.#outcomes.push(outcome)
    return outcome
  }

  /** Reports the outcome of the oldest finished transaction to its caller. */
  answer(): Outcome {
    const outcome = this.#outcomes.shift()
    assert(outcome, 'a transaction has been finished')
    outcome.complete()
    return outcome
  }

  read<T>(read: (view: View) => T): T {
    return this.#inner.read(read)
  }

  transact<T>(work: (view: View) => Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as Job['resolve'], reject })
    })
  }

  watch(listener: () => void): () => void {
    return this.#inner.watch(listener)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

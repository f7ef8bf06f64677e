// A key-value store whose transactions proceed only when the test says so, one stage at a time: run, apply, answer.
// Whatever may happen between two stages of a real commit (reads, other requests, a failing disk), a seed can put there.

import assert from 'node:assert/strict'
import type { KeyValueStore, View, Work } from '../../src/storage/kv/contract.ts'
import { StoreUnavailableError } from '../../src/storage/kv/errors.ts'

interface Job {
  readonly work: (view: View) => Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What becomes of a commit; all but the first are faults, and a store that loses what it confirmed is broken. */
export type Fate = 'applied' | 'refused' | 'applied but reported as failed' | 'lost'

/** The end of a transaction. */
export interface Outcome {
  readonly fate: Fate
  /** The time of its commit, for whoever asks later; the test notes it. */
  commitTime: number | undefined
  readonly settle: () => void
}

/** A store in front of another one. */
export class SteppedStore implements KeyValueStore {
  readonly #inner: KeyValueStore
  readonly #waiting: Job[] = []
  readonly #outcomes: Outcome[] = []
  #ran: { readonly job: Job; readonly done: Work<unknown> } | undefined

  constructor(inner: KeyValueStore) {
    this.#inner = inner
  }

  /** What can be done next. */
  get stages(): readonly ('run' | 'apply' | 'answer')[] {
    return [
      ...(this.#waiting.length > 0 && !this.#ran ? (['run'] as const) : []),
      ...(this.#ran ? (['apply'] as const) : []),
      ...(this.#outcomes.length > 0 ? (['answer'] as const) : []),
    ]
  }

  /** Runs the next work: what it decides is not to be seen yet. */
  run(): void {
    const job = this.#waiting.shift()
    if (!job) return
    try {
      this.#ran = { job, done: this.#inner.read(job.work) }
    } catch (error) {
      this.#outcomes.push({ fate: 'applied', commitTime: undefined, settle: () => job.reject(error) })
    }
  }

  /** Makes what the work under way decided visible, or not. */
  async apply(fate: Fate): Promise<Outcome> {
    assert(this.#ran, 'a transaction has run')
    const { done, job } = this.#ran
    if (fate === 'applied' || fate === 'applied but reported as failed') {
      await this.#inner.transact(() => done)
    }
    this.#ran = undefined
    const settle =
      fate === 'applied' || fate === 'lost'
        ? () => job.resolve(done.result)
        : () => job.reject(new StoreUnavailableError('the disk of the test has failed'))
    const outcome: Outcome = { fate, commitTime: undefined, settle }
    this.#outcomes.push(outcome)
    return outcome
  }

  /** Tells whoever began the oldest finished work of its end. */
  answer(): Outcome {
    const outcome = this.#outcomes.shift()
    assert(outcome, 'a transaction has been finished')
    outcome.settle()
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

// A key-value store with every behaviour that the contract allows, including behaviour that is too rare for other
// tests. Transactions wait, change their order, run twice and share batches, and batches are rejected as a whole or
// postponed. A seed chooses between these behaviours.

import type { KeyValueStore, View, Work, Write } from '../../src/storage/kv/kv-contract.ts'
import { Overlay } from '../../src/storage/kv/overlay.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import type { RandomSource } from './seeded.ts'

interface Job {
  readonly work: (view: View) => Work<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Writes that are being flushed, and the callbacks of their transactions. */
interface Batch {
  readonly writes: readonly Write[]
  readonly complete: readonly (() => void)[]
}

const batchMax = 6

/** Advances when {@link step} is called. */
export class UnrulyStore implements KeyValueStore {
  readonly #inner: KeyValueStore
  readonly #random: RandomSource
  readonly #waiting: Job[] = []
  #flushing: Batch | undefined
  readonly #unresolved: (() => void)[] = []

  constructor(inner: KeyValueStore, random: RandomSource) {
    this.#inner = inner
    this.#random = random
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#flushing === undefined && this.#unresolved.length === 0
  }

  /** Performs one of the pending actions. */
  async step(): Promise<void> {
    if (this.#unresolved.length > 0 && this.#random.below(2) === 0) {
      this.#unresolved.shift()?.()
      return
    }
    const batch = this.#flushing
    if (batch === undefined) this.#runBatch()
    else {
      await this.#inner.transact(() => ({ result: undefined, writes: batch.writes }))
      this.#flushing = undefined
      this.#unresolved.push(...batch.complete)
    }
  }

  #runBatch(): void {
    const jobs: Job[] = []
    for (let left = 1 + this.#random.below(batchMax); left > 0 && this.#waiting.length > 0; left--) {
      jobs.push(...this.#waiting.splice(this.#random.below(this.#waiting.length), 1))
    }
    if (jobs.length === 0) return
    const fate = this.#random.below(10)
    if (fate === 0) this.#run(jobs)
    const batch = this.#run(jobs)
    if (fate === 1) this.#waiting.unshift(...jobs)
    else if (fate === 2) {
      const rejection = new StoreUnavailableError('the disk of the test has failed')
      for (const job of jobs) this.#unresolved.push(() => job.reject(rejection))
    } else this.#flushing = batch
  }

  /** Each transaction sees the writes of the earlier ones. */
  #run(jobs: readonly Job[]): Batch {
    return this.#inner.read(view => {
      const overlay = new Overlay(view)
      const complete = jobs.map(job => {
        try {
          const { result, writes } = job.work(overlay)
          for (const { key, value } of writes) overlay.set(key, value)
          return () => job.resolve(result)
        } catch (error) {
          return () => job.reject(error)
        }
      })
      return { writes: overlay.writes(), complete }
    })
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

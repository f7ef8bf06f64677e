// The transactions that wait for a commit, and those of a batch whose commit is on its way.

import { assert } from '../../base/assert.ts'
import type { Micros } from '../../base/micros.ts'
import { CommitPace } from '../commit-pace.ts'
import type { View, Write } from '../contract.ts'
import { type Job, runJob } from '../jobs.ts'
import { Overlay } from '../overlay.ts'
import { isReserved } from './replica.ts'

/** Jobs that are committed together. */
export interface BuiltBatch {
  readonly jobs: readonly Job[]
  readonly writes: readonly Write[]
  /** The time of the newest commit after the batch, in microseconds. */
  readonly newestTime: Micros
}

/** A batch takes no more jobs once its writes have this many bytes. */
const batchBytesMax = 1 << 20
const batchJobsMax = 256

export class CommitQueue {
  readonly #newestTime: (view: Pick<View, 'get'>) => Micros
  readonly #pace = new CommitPace()
  #jobs: Job[] = []

  /** `newestTime` tells the time of the newest commit in a state, in microseconds. */
  constructor(newestTime: (view: Pick<View, 'get'>) => Micros) {
    this.#newestTime = newestTime
  }

  get isEmpty(): boolean {
    return this.#jobs.length === 0
  }

  add(job: Job): void {
    this.#jobs.push(job)
  }

  /** Puts jobs back whose batch came to nothing; they come first again. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs = [...jobs, ...this.#jobs]
  }

  /** A batch became durable `flushMs` after it had been built. */
  flushed(flushMs: number): void {
    this.#pace.flushed(flushMs, this.#jobs.length)
  }

  /** Runs waiting jobs on a view, each seeing the writes of those before it; those that go into the next batch. */
  build(view: View): BuiltBatch {
    const overlay = new Overlay(view)
    const jobs: Job[] = []
    const writes: Write[] = []
    let bytes = 0
    const jobsMax = Math.min(batchJobsMax, this.#pace.take(this.#jobs.length, this.#arrivalMs()))
    while (jobs.length < jobsMax && bytes < batchBytesMax) {
      const job = this.#jobs[jobs.length]
      if (job === undefined) break
      jobs.push(job)
      for (const write of runJob(job, overlay)) {
        assert(!isReserved(write.key), 'a transaction does not write the key of the replica')
        overlay.set(write.key, write.value)
        writes.push(write)
        bytes += write.key.length + (write.value?.length ?? 0)
      }
    }
    this.#jobs.splice(0, jobs.length)
    return { jobs, writes, newestTime: this.#newestTime(overlay) }
  }

  /** Milliseconds between the first and the last of those that wait. */
  #arrivalMs(): number {
    return (this.#jobs.at(-1)?.cameMs ?? 0) - (this.#jobs[0]?.cameMs ?? 0)
  }

  /** Takes out the jobs that have waited since before `sinceMs`. */
  takeOlderThan(sinceMs: number): Job[] {
    const old = this.#jobs.filter(job => job.cameMs < sinceMs)
    if (old.length > 0) this.#jobs = this.#jobs.filter(job => job.cameMs >= sinceMs)
    return old
  }
}

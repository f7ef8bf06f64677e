// A query that writes, seen from the service: the process of the slow lane that evaluated it keeps what is to be written, and
// commits it when it is told to. Until then nothing has happened, and the process can be killed like any other; if it ends
// afterwards, the outcome of the commit is unknown.

import type { KeptAttempt, KeptCommit } from '../engine/slow-lane.ts'
import { StoreUnavailableError } from '../store/contract.ts'
import type { Micros } from '../values/value.ts'
import type { KeptFacts, ToLane } from './messages.ts'

interface KeptJobOptions {
  readonly facts: KeptFacts
  readonly send: (message: ToLane) => void
  /** Told when the commit begins: from now on the process is not to be killed. */
  readonly onCommit: () => void
  /** Told when the process has nothing more to do for this job. */
  readonly onOver: () => void
}

interface Committing {
  readonly resolve: (commit: KeptCommit | 'stale') => void
  readonly reject: (reason: unknown) => void
}

export class KeptJob implements KeptAttempt {
  readonly commitTime: Micros
  readonly isStamped: boolean
  readonly #options: KeptJobOptions
  #committing: Committing | undefined
  #failure: { readonly reason: unknown } | undefined
  #isOver = false

  constructor(options: KeptJobOptions) {
    this.#options = options
    this.commitTime = options.facts.commitTime
    this.isStamped = options.facts.isStamped
  }

  get isCommitting(): boolean {
    return this.#committing !== undefined && !this.#isOver
  }

  commit(announced: Micros): Promise<KeptCommit | 'stale'> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.reason)
      this.#committing = { resolve, reject }
      this.#options.onCommit()
      this.#options.send({ kind: 'commit', time: announced })
    })
  }

  drop(): void {
    if (this.#isOver || this.#committing) return
    this.#options.send({ kind: 'drop' })
    this.#end()
  }

  /** The process has committed, or found that others have written what it read. */
  committed(commit: KeptCommit | 'stale'): void {
    this.#end()
    this.#committing?.resolve(commit)
  }

  /** The process could not commit. */
  refused(reason: StoreUnavailableError): void {
    this.#end()
    this.#committing?.reject(reason)
  }

  /** The process has ended. */
  fail(reason: unknown): void {
    const isUnknown = this.isCommitting
    this.#failure = { reason }
    this.#end()
    if (!isUnknown) return
    const text = 'a process of the slow lane has ended while it committed: it may have done so, or not'
    this.#committing?.reject(new StoreUnavailableError(text, { outcome: 'unknown' }))
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onOver()
  }
}

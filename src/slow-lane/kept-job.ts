// A query whose attempt stays in the process of the slow lane that evaluated it, seen from the service: its rows are too
// many to be handed over, so that process commits them itself when the service lets it. Until then nothing has happened, and
// the process can be killed like any other; once it has been let, it cannot be told any more what became of it without it.

import type { QueryResponse } from '../engine/contract.ts'
import type { KeptResponse } from '../engine/slow-lane.ts'
import { type CommitLeave, type DistantCommit, StoreUnavailableError } from '../store/contract.ts'
import type { Micros } from '../values/value.ts'
import type { KeptFacts, ToLane } from './messages.ts'

interface KeptJobOptions {
  readonly facts: KeptFacts
  /** Without its body: that is made with the time of the commit. */
  readonly response: QueryResponse
  readonly send: (message: ToLane) => void
  /** Told when the commit begins: from now on the process is not to be killed. */
  readonly onCommit: () => void
  /** Told when the process has nothing more to do for this job. */
  readonly onOver: () => void
}

interface Committing {
  readonly resolve: (commit: DistantCommit | 'stale') => void
  readonly reject: (reason: unknown) => void
}

export class KeptJob implements KeptResponse {
  readonly commitTime: Micros
  readonly isStamped: boolean
  readonly since: Micros
  readonly #options: KeptJobOptions
  #response: QueryResponse
  #committing: Committing | undefined
  #failure: { readonly reason: unknown } | undefined
  #isOver = false

  constructor(options: KeptJobOptions) {
    this.#options = options
    this.#response = options.response
    this.commitTime = options.facts.commitTime
    this.isStamped = options.facts.isStamped
    this.since = options.facts.since
  }

  get isCommitting(): boolean {
    return this.#committing !== undefined && !this.#isOver
  }

  get response(): QueryResponse {
    return this.#response
  }

  commit(leave: CommitLeave): Promise<DistantCommit | 'stale'> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.reason)
      this.#committing = { resolve, reject }
      this.#options.onCommit()
      this.#options.send({ kind: 'commit', leave })
    })
  }

  drop(): void {
    if (this.#isOver || this.#committing) return
    this.#options.send({ kind: 'drop' })
    this.#end()
  }

  /** The process has committed, with this response, or found the attempt stale. */
  committed(commit: DistantCommit | 'stale', response: QueryResponse): void {
    this.#response = response
    this.#end()
    this.#committing?.resolve(commit)
  }

  /** The process says that nothing was committed. */
  refused(reason: string): void {
    this.#end()
    this.#committing?.reject(new StoreUnavailableError(reason))
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

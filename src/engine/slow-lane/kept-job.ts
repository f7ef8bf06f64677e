// The service's side of a writing query in the slow lane. The slow-lane process keeps the pending writes and commits
// them when the service sends `commit`. Before that, nothing is written, and the process can be killed like any
// other. If the process exits after that, the outcome of the commit is unknown.

import { StoreUnavailableError } from '../../storage/store/contract.ts'
import type { Micros } from '../../values/value.ts'
import type { KeptAttempt, KeptCommit, KeptFacts } from '../slow-lane.ts'
import type { ToLane } from './messages.ts'

interface KeptJobOptions {
  readonly facts: KeptFacts
  readonly send: (message: ToLane) => void
  /** Called when the commit begins. From then on, the process must not be killed. */
  readonly onCommit: () => void
  /** Called when the process has finished this job. */
  readonly onOver: () => void
}

export class KeptJob implements KeptAttempt {
  readonly changesSchema: boolean
  readonly commitTime: Micros
  readonly evaluationMicros: number
  readonly isStamped: boolean
  readonly #options: KeptJobOptions
  readonly #outcome = Promise.withResolvers<KeptCommit | 'stale'>()
  #state: 'kept' | 'committing' | 'over' = 'kept'

  constructor(options: KeptJobOptions) {
    this.#options = options
    const { changesSchema, commitTime, evaluationMicros, isStamped } = options.facts
    this.changesSchema = changesSchema
    this.commitTime = commitTime
    this.evaluationMicros = evaluationMicros
    this.isStamped = isStamped
    // No caller awaits the outcome of a dropped attempt.
    this.#outcome.promise.catch(() => undefined)
  }

  get isCommitting(): boolean {
    return this.#state === 'committing'
  }

  commit(announced: Micros, takesTurn = false): Promise<KeptCommit | 'stale'> {
    if (this.#state === 'kept') {
      this.#state = 'committing'
      this.#options.onCommit()
      this.#options.send({ kind: 'commit', time: announced, ...(takesTurn && { takesTurn }) })
    }
    return this.#outcome.promise
  }

  drop(): void {
    if (this.#state !== 'kept') return
    this.#options.send({ kind: 'drop' })
    this.#end()
  }

  /** Called when the process has committed, or when other transactions have changed the read set (`stale`). */
  committed(commit: KeptCommit | 'stale'): void {
    this.#outcome.resolve(commit)
    this.#end()
  }

  /** Called when the commit failed. */
  refused(reason: StoreUnavailableError): void {
    this.#outcome.reject(reason)
    this.#end()
  }

  /** Called when the process has exited. */
  fail(reason: unknown): void {
    const text = 'a process of the slow lane has ended while it committed: it may have done so, or not'
    const unknown = () => new StoreUnavailableError(text, { outcome: 'unknown' })
    this.#outcome.reject(this.isCommitting ? unknown() : reason)
    this.#end()
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#options.onOver()
  }
}

// A query that writes, seen from the service: the process of the slow lane that evaluated it keeps what is to be written, and
// commits it when it is told to. Until then nothing has happened, and the process can be killed like any other; if it ends
// afterwards, the outcome of the commit is unknown.

import { StoreUnavailableError } from '../../storage/store/contract.ts'
import type { Micros } from '../../values/value.ts'
import type { KeptAttempt, KeptCommit, KeptFacts } from '../slow-lane.ts'
import type { ToLane } from './messages.ts'

interface KeptJobOptions {
  readonly facts: KeptFacts
  readonly send: (message: ToLane) => void
  /** Told when the commit begins: from now on the process is not to be killed. */
  readonly onCommit: () => void
  /** Told when the process has nothing more to do for this job. */
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
    // What is dropped is asked for no outcome.
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

  /** The process has committed, or found that others have written what it read. */
  committed(commit: KeptCommit | 'stale'): void {
    this.#outcome.resolve(commit)
    this.#end()
  }

  /** The process could not commit. */
  refused(reason: StoreUnavailableError): void {
    this.#outcome.reject(reason)
    this.#end()
  }

  /** The process has ended. */
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

// A writing query of a slow-lane process, from its evaluation until the process has sent the response. The process has
// sent the attempt (the writes and the read set). If necessary, the service asks the process to validate the read set or
// to evaluate the query again; after the commit, it asks for the response.

import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { Attempt } from '../../storage/store/attempt.ts'
import type { CommitRecord } from '../../storage/store/last-commit.ts'
import type { Micros } from '../../values/value.ts'
import type { QueryResponse } from '../engine-contract.ts'
import type { PendingCommit } from '../slow-lane-contract.ts'
import type { ToLane } from './messages.ts'

interface PendingJobOptions {
  readonly attempt: Attempt<undefined>
  readonly send: (message: ToLane) => void
  /** Returns the sequence number of the newest durable record in the commit log; 0 without a log. */
  readonly logSequence: () => number
  /** Called when the commit begins. After this call, the slow-lane process must not be killed. */
  readonly onCommit: () => void
  /** Called when the slow-lane process has no more work for this job. */
  readonly onOver: () => void
}

export class PendingJob implements PendingCommit {
  readonly attempt: Attempt<undefined>
  readonly #options: PendingJobOptions
  #validation: PromiseWithResolvers<CommitRecord | 'stale'> | undefined
  #evaluation: PromiseWithResolvers<Attempt<undefined> | 'stale'> | undefined
  #response: PromiseWithResolvers<QueryResponse> | undefined
  #state: 'waiting' | 'committing' | 'over' = 'waiting'
  #failure: unknown

  constructor(options: PendingJobOptions) {
    this.#options = options
    this.attempt = options.attempt
  }

  get isCommitting(): boolean {
    return this.#state === 'committing'
  }

  begin(): void {
    if (this.#state !== 'waiting') return
    this.#state = 'committing'
    this.#options.onCommit()
  }

  validate(): Promise<CommitRecord | 'stale'> {
    if (this.#state === 'over') return Promise.reject(this.#failure)
    this.#validation = Promise.withResolvers()
    this.#options.send({ kind: 'validate', logSequence: this.#options.logSequence() })
    return this.#validation.promise
  }

  evaluateAt(time: Micros): Promise<Attempt<undefined> | 'stale'> {
    if (this.#state === 'over') return Promise.reject(this.#failure)
    this.#evaluation = Promise.withResolvers()
    this.#options.send({ kind: 'evaluate', logSequence: this.#options.logSequence(), time })
    return this.#evaluation.promise
  }

  respondAfterCommit(time: Micros): Promise<QueryResponse> {
    if (this.#state === 'over') return Promise.reject(lostResponse())
    this.#response = Promise.withResolvers()
    this.#options.send({ kind: 'committed', time })
    return this.#response.promise
  }

  drop(): void {
    if (this.#state === 'over') return
    this.#options.send({ kind: 'drop' })
    this.#end()
  }

  /** `newest`: the newest commit for which the attempt is valid. */
  onValidated(newest: CommitRecord | 'stale'): void {
    this.#validation?.resolve(newest)
    this.#validation = undefined
  }

  onEvaluated(attempt: Attempt<undefined> | 'stale'): void {
    this.#evaluation?.resolve(attempt)
    this.#evaluation = undefined
  }

  onResponse(response: QueryResponse): void {
    this.#response?.resolve(response)
    this.#response = undefined
    this.#end()
  }

  /** Called when the process has exited. */
  fail(reason: unknown): void {
    this.#failure = reason
    this.#validation?.reject(reason)
    this.#evaluation?.reject(reason)
    this.#response?.reject(lostResponse())
    this.#end()
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#options.onOver()
  }
}

/** Returns the error for a committed query whose response is lost. */
function lostResponse(): RequestError {
  return new RequestError(
    'service unavailable',
    msg`The query was committed, but its response was lost: the process that evaluated the query has exited.`,
  )
}

// A ticket represents a request while it waits: for a free process, for another service, for its turn. The request's
// shares of the memory budgets belong to the ticket, so all of them have the same owner. Only a waiting request can be
// evicted from a budget. The owner is the client's address until the credential is verified, and then usually the
// database.

import { msg } from '../message.ts'
import { RequestError } from '../request-errors.ts'
import type { MemoryBudget, Share } from './memory-budget.ts'

/**
 * Why a request should stop. `left`: the client has disconnected. `evicted`: a budget needs the memory of the request
 * for others.
 */
export type StopCause = 'left' | 'evicted'

/** The owner of the requests of a database. */
export function ownerOfDatabase(database: bigint): string {
  return `database ${database}`
}

/** Ends a wait, or passes the cause on to the process that runs the request. */
type Stop = (cause: StopCause) => void

interface Wait {
  readonly stop: Stop
  readonly endsWithClient: boolean
}

const noShares: readonly Share[] = []

export class Ticket {
  #owner: string
  #shares: readonly Share[] = noShares
  #counted: Share | undefined
  #wait: Wait | undefined
  #hasLeft = false
  #refusal: (() => Error) | undefined
  /** Why work in several steps should stop; undefined if the work goes on. */
  #stopped: StopCause | undefined
  /**
   * True: the request stops when its client disconnects. False for requests that may write, because some clients do not
   * wait for the response.
   */
  endsWithClient = false

  /** `owner`: the group of the client's address. */
  constructor(owner: string) {
    this.#owner = owner
  }

  /** The group of the budgets that the request counts for. */
  get owner(): string {
    return this.#owner
  }

  /** True when the client has disconnected. */
  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Counts `amount` for the request's owner until the returned function is called. */
  hold(budget: MemoryBudget, amount: number): () => void {
    const share = budget.open(this.#owner, () => this.#evict(budget))
    share.pin(this.#wait === undefined)
    this.#shares = [...this.#shares, share]
    share.grow(amount)
    return () => {
      share.close()
      this.#shares = this.#shares.filter(other => other !== share)
    }
  }

  /** Counts the request itself, as 1, until the returned function is called. The request is never evicted for it. */
  count(budget: MemoryBudget): () => void {
    const share = budget.open(this.#owner, () => undefined)
    share.pin(true)
    this.#counted = share
    share.grow(1)
    return () => share.close()
  }

  /** Counts the request for another owner from now on. */
  regroup(owner: string): void {
    if (owner === this.#owner) return
    this.#owner = owner
    this.#counted?.regroup(owner)
    for (const share of this.#shares) share.regroup(owner)
  }

  /**
   * Runs work in several steps, each of which begins with {@link requireGoing}. The request can be evicted between two
   * steps, and it stops when its client disconnects.
   */
  async inSteps<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin(cause => {
      this.#stopped ??= cause
    }, true)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Throws if work in several steps should stop. */
  requireGoing(): void {
    if (this.#stopped !== undefined) throw this.errorOf(this.#stopped)
  }

  /** Called when the client has disconnected. Ends the current wait if the wait ends with the client. */
  leave(): void {
    this.#hasLeft = true
    if (this.#wait?.endsWithClient) this.#wait.stop('left')
  }

  /** Ends the current wait. Does nothing while the request does not wait. */
  stop(cause: StopCause): void {
    if (cause === 'left') this.leave()
    else this.#wait?.stop(cause)
  }

  /**
   * Begins a wait, during which the request can be evicted. Calls `stop`, perhaps at once, if the request should stop.
   * `endsWithClient`: true if the request should also stop when the client disconnects. Returns a function that ends
   * the wait.
   */
  begin(stop: Stop, endsWithClient = this.endsWithClient): () => void {
    const wait = { stop, endsWithClient }
    this.#wait = wait
    this.#pin(false)
    if (this.#hasLeft && endsWithClient) stop('left')
    return () => {
      if (this.#wait !== wait) return
      this.#wait = undefined
      this.#pin(true)
    }
  }

  /** Waits for a promise. Rejects when the request should stop; the error is that of {@link errorOf}. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const stopped = Promise.withResolvers<never>()
    const end = this.begin(cause => stopped.reject(this.errorOf(cause)))
    try {
      return await Promise.race([promise, stopped.promise])
    } finally {
      end()
    }
  }

  /** Returns the error of a request that has stopped. */
  errorOf(cause: StopCause): Error {
    return cause === 'evicted' && this.#refusal ? this.#refusal() : clientLeft()
  }

  #evict({ refusal }: MemoryBudget): void {
    this.#refusal = refusal
    this.#wait?.stop('evicted')
  }

  #pin(isPinned: boolean): void {
    for (const share of this.#shares) share.pin(isPinned)
  }
}

/** The error of a request whose client has disconnected. Only the query log has it. */
function clientLeft(): RequestError {
  return new RequestError('request timeout', msg`The client has disconnected.`)
}

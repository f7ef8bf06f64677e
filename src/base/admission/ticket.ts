// A ticket represents a request while it waits: for a free process, for another service, for its turn. All of the
// request's shares of the memory budgets belong to the ticket, so they have the same owner: the client's address until
// the credential is verified, and then usually the database. Only a waiting request can be evicted from a budget.

import { GenerationCache } from '../generation-cache.ts'
import { msg } from '../message.ts'
import { RequestError } from '../request-errors.ts'
import type { MemoryBudget, Share } from './memory-budget.ts'

/** `disconnected`: the client is gone. `evicted`: a budget needs the memory for other requests. */
export type StopCause = 'disconnected' | 'evicted'

/** A request needs the owner several times, and creating its text from a bigint takes longer than finding it. */
const knownOwners = new GenerationCache<bigint, string>(1000)

export function ownerOfDatabase(database: bigint): string {
  let owner = knownOwners.get(database)
  if (owner === undefined) {
    owner = `database ${database}`
    knownOwners.set(database, owner)
  }
  return owner
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
  #hasDisconnected = false
  #rejection: (() => Error) | undefined
  /** The cause for which work in several steps should stop. */
  #stopped: StopCause | undefined
  /** False for requests that may write, because some clients do not wait for the response. */
  endsWithClient = false

  /** `owner`: the group of the client's address. */
  constructor(owner: string) {
    this.#owner = owner
  }

  get owner(): string {
    return this.#owner
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

  regroup(owner: string): void {
    if (owner === this.#owner) return
    this.#owner = owner
    this.#counted?.regroup(owner)
    for (const share of this.#shares) share.regroup(owner)
  }

  /**
   * Each step begins with {@link throwIfStopped}. Between steps, the request can be evicted, and stops if its client
   * has disconnected.
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
  throwIfStopped(): void {
    if (this.#stopped !== undefined) throw this.errorOf(this.#stopped)
  }

  /** Called when the client has disconnected. */
  noteDisconnect(): void {
    this.#hasDisconnected = true
    if (this.#wait?.endsWithClient) this.#wait.stop('disconnected')
  }

  /** While the request does not wait, an eviction has no effect, and a disconnected client is only remembered. */
  stop(cause: StopCause): void {
    if (cause === 'disconnected') this.noteDisconnect()
    else this.#wait?.stop(cause)
  }

  /**
   * During a wait, the request can be evicted; `endsWithClient`: it also stops when the client disconnects. Calls
   * `stop`, perhaps at once, if the request should stop. Returns a function that ends the wait.
   */
  begin(stop: Stop, endsWithClient = this.endsWithClient): () => void {
    const wait = { stop, endsWithClient }
    this.#wait = wait
    this.#pin(false)
    if (this.#hasDisconnected && endsWithClient) stop('disconnected')
    return () => {
      if (this.#wait !== wait) return
      this.#wait = undefined
      this.#pin(true)
    }
  }

  /** Rejects with the error of {@link errorOf} when the request should stop. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const stopped = Promise.withResolvers<never>()
    const end = this.begin(cause => stopped.reject(this.errorOf(cause)))
    try {
      return await Promise.race([promise, stopped.promise])
    } finally {
      end()
    }
  }

  errorOf(cause: StopCause): Error {
    return cause === 'evicted' && this.#rejection ? this.#rejection() : clientDisconnected()
  }

  #evict({ rejection }: MemoryBudget): void {
    this.#rejection = rejection
    this.#wait?.stop('evicted')
  }

  #pin(isPinned: boolean): void {
    for (const share of this.#shares) share.pin(isPinned)
  }
}

/** Only the query log contains this error, because the client cannot receive it. */
function clientDisconnected(): RequestError {
  return new RequestError('request timeout', msg`The client has disconnected.`)
}

// Fair queueing: owners with waiting items take turns, so an owner with a thousand items delays no other owner. Owners
// may be nested, and each level has its own turns.

import { upsert } from '../upsert.ts'

/** The path of an item lists its nested owners, the outermost first. All paths of a queue have the same length. */
export class FairQueue<T, O = string> {
  /** Number of items at this level and below. */
  size = 0
  /** Only queues at the innermost level, where paths end, have items. */
  readonly #items: T[] = []
  /** Queues in the order of turns. Empty queues are removed. */
  readonly #owners = new Map<O, FairQueue<T, O>>()

  /** Number of waiting items of an outermost owner. */
  lengthOf(owner: O): number {
    return this.#owners.get(owner)?.size ?? 0
  }

  add([owner, ...below]: readonly O[], item: T): void {
    this.size++
    if (owner === undefined) this.#items.push(item)
    else upsert(this.#owners, owner, () => new FairQueue<T, O>()).add(below, item)
  }

  /**
   * Takes the next item of the first outermost owner for which `mayRun` returns true. Other owners keep their turns.
   */
  take(mayRun: (owner: O) => boolean = () => true): T | undefined {
    for (const [owner, queue] of this.#owners) {
      if (!mayRun(owner)) continue
      this.#owners.delete(owner)
      if (queue.size > 1) this.#owners.set(owner, queue)
      this.size--
      return queue.take()
    }
    if (this.#items.length > 0) this.size--
    return this.#items.shift()
  }

  /**
   * Removes and returns the newest item of the owner with the most items; nested owners are chosen in the same way.
   * `outermost` restricts the choice to the items of this outermost owner.
   */
  dropOne(outermost?: O): T | undefined {
    const owner = outermost ?? this.#fullest()
    const queue = owner === undefined ? undefined : this.#owners.get(owner)
    if (owner === undefined || queue === undefined) {
      const item = outermost === undefined ? this.#items.pop() : undefined
      if (item !== undefined) this.size--
      return item
    }
    this.size--
    if (queue.size === 1) this.#owners.delete(owner)
    return queue.dropOne()
  }

  #fullest(): O | undefined {
    let fullest: readonly [O, FairQueue<T, O>] | undefined
    for (const entry of this.#owners) if (entry[1].size > (fullest?.[1].size ?? 0)) fullest = entry
    return fullest?.[0]
  }

  /** Returns false if the queue does not contain the item. */
  remove([owner, ...below]: readonly O[], item: T): boolean {
    if (owner === undefined) {
      const index = this.#items.indexOf(item)
      if (index < 0) return false
      this.#items.splice(index, 1)
      this.size--
      return true
    }
    const queue = this.#owners.get(owner)
    if (!queue?.remove(below, item)) return false
    this.size--
    if (queue.size === 0) this.#owners.delete(owner)
    return true
  }
}

interface Waiter {
  readonly start: () => void
  readonly reject: () => void
}

/** Runs expensive operations, such as password checks and outgoing requests, in the order of their owners' turns. */
export class FairRunner {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #rejection: () => Error
  readonly #waiters = new FairQueue<Waiter, unknown>()
  #running = 0

  /**
   * At most `runningMax` operations run at a time and at most `waitingMax` wait. When more operations wait, the newest
   * operation of the owner with the most waiting operations fails with the error of `rejection`.
   */
  constructor(runningMax: number, waitingMax: number, rejection: () => Error) {
    this.#rejection = rejection
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Rejects with the error of `rejection` if too many operations wait and this operation is dropped. */
  async run<T>(path: readonly unknown[], operation: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) this.#running++
    else await this.#turn(path)
    try {
      return await operation()
    } finally {
      const next = this.#waiters.take()
      if (next) next.start()
      else this.#running--
    }
  }

  /** Resolves when another operation has finished and it is the owner's turn. */
  #turn(path: readonly unknown[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.add(path, { start: resolve, reject: () => reject(this.#rejection()) })
      if (this.#waiters.size > this.#waitingMax) this.#waiters.dropOne()?.reject()
    })
  }
}

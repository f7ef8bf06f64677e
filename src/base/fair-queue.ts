// Waiting things of many owners that take turns: an owner of a thousand keeps no other waiting. Owners may
// have owners: each level takes turns of its own. The second class runs expensive operations (password checks, fetches
// from outside) in that order, so many at a time.

import { upsert } from './upsert.ts'

/** Items by owner. A path names the owner, the outermost first; all paths of a queue have the same length. */
export class FairQueue<T, O = string> {
  /** Items that wait here and below. */
  size = 0
  /** Those without an owner: all of them where paths end. */
  readonly #items: T[] = []
  /** What waits for each owner, in the order of their turns. Queues that are empty are dropped. */
  readonly #owners = new Map<O, FairQueue<T, O>>()

  /** How many items of an outermost owner wait. */
  lengthOf(owner: O): number {
    return this.#owners.get(owner)?.size ?? 0
  }

  add([owner, ...below]: readonly O[], item: T): void {
    this.size++
    if (owner === undefined) this.#items.push(item)
    else upsert(this.#owners, owner, () => new FairQueue<T, O>()).add(below, item)
  }

  /** Takes the next item of the first outermost owner that `mayRun`; who may not keeps the turn. */
  take(mayRun: (owner: O) => boolean = () => true): T | undefined {
    for (const [owner, queue] of this.#owners) {
      if (!mayRun(owner)) continue
      // This owner has the last turn from now on.
      this.#owners.delete(owner)
      if (queue.size > 1) this.#owners.set(owner, queue)
      this.size--
      return queue.take()
    }
    if (this.#items.length > 0) this.size--
    return this.#items.shift()
  }

  /** Takes out the newest item of the owner who has the most of them. */
  dropOne(): T | undefined {
    let fullest: readonly [O, FairQueue<T, O>] | undefined
    for (const entry of this.#owners) if (entry[1].size > (fullest?.[1].size ?? 0)) fullest = entry
    if (this.size > 0) this.size--
    if (fullest === undefined) return this.#items.pop()
    const [owner, queue] = fullest
    if (queue.size === 1) this.#owners.delete(owner)
    return queue.dropOne()
  }

  /** Takes out an item that need not wait any more, and returns whether it was there. */
  remove([owner, ...below]: readonly O[], item: T): boolean {
    if (owner === undefined) {
      const place = this.#items.indexOf(item)
      if (place < 0) return false
      this.#items.splice(place, 1)
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
  readonly refuse: () => void
}

/** Runs operations in the turns of their owners. */
export class FairRunner {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #refusal: () => Error
  readonly #waiters = new FairQueue<Waiter, unknown>()
  #running = 0

  /**
   * At most `runningMax` operations at a time and `waitingMax` that wait for their turn. `refusal` makes the error for the
   * newest operation of the owner who has the most, when too many wait.
   */
  constructor(runningMax: number, waitingMax: number, refusal: () => Error) {
    this.#refusal = refusal
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /** Runs an operation when it is its owner's turn. */
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

  /** Resolves when an operation that has ended hands over its place. */
  #turn(path: readonly unknown[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.add(path, { start: resolve, refuse: () => reject(this.#refusal()) })
      if (this.#waiters.size > this.#waitingMax) this.#waiters.dropOne()?.refuse()
    })
  }
}

// A queue for expensive operations that serves its owners in turn, so that one who asks for a thousand things keeps
// nobody else waiting. Owners may have owners: each level takes turns of its own.

import { QueueFull } from './work-queue.ts'

interface Waiter {
  readonly start: () => void
  readonly refuse: () => void
}

/** What waits for one owner: operations, or the lanes of the owners below. Lanes that are empty are dropped. */
class Lane {
  /** Operations that wait here and below. */
  size = 0
  readonly #waiters: Waiter[] = []
  /** In the order of their turns. */
  readonly #lanes = new Map<string, Lane>()

  add(path: readonly string[], waiter: Waiter): void {
    this.size++
    const [owner, ...below] = path
    if (owner === undefined) {
      this.#waiters.push(waiter)
      return
    }
    let lane = this.#lanes.get(owner)
    if (lane === undefined) {
      lane = new Lane()
      this.#lanes.set(owner, lane)
    }
    lane.add(below, waiter)
  }

  /** The operation whose turn it is. */
  next(): Waiter | undefined {
    for (const [owner, lane] of this.#lanes) {
      this.#lanes.delete(owner)
      if (lane.size > 1) this.#lanes.set(owner, lane)
      this.size--
      return lane.next()
    }
    if (this.#waiters.length > 0) this.size--
    return this.#waiters.shift()
  }

  /** The newest operation of the owner who has the most of them waiting. */
  dropOne(): Waiter | undefined {
    let fullest: readonly [string, Lane] | undefined
    for (const entry of this.#lanes) if (entry[1].size > (fullest?.[1].size ?? 0)) fullest = entry
    if (this.size > 0) this.size--
    if (fullest === undefined) return this.#waiters.pop()
    const [owner, lane] = fullest
    if (lane.size === 1) this.#lanes.delete(owner)
    return lane.dropOne()
  }
}

export class FairQueue {
  readonly #runningMax: number
  readonly #waitingMax: number
  readonly #lane = new Lane()
  #running = 0

  /** At most `runningMax` operations at a time and `waitingMax` that wait for their turn. */
  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax
    this.#waitingMax = waitingMax
  }

  /**
   * Runs an operation when it is its owner's turn. `path` names the owner, the outermost first; all paths of a queue
   * have the same length. Rejects with {@link QueueFull} when too many wait and its owner has the most of them.
   */
  async run<T>(path: readonly string[], operation: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) this.#running++
    else await this.#turn(path)
    try {
      return await operation()
    } finally {
      const next = this.#lane.next()
      if (next) next.start()
      else this.#running--
    }
  }

  /** Resolves when an operation that has ended hands over its place. */
  #turn(path: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lane.add(path, { start: resolve, refuse: () => reject(new QueueFull()) })
      if (this.#lane.size > this.#waitingMax) this.#lane.dropOne()?.refuse()
    })
  }
}

// Collects items until the turn of the event loop ends, for two uses.
//
// The responses of a turn are sent together. A write wakes the client's process, which costs the service as much as a
// small query, but several writes that follow each other directly wake it only once. With 32 connections of one client,
// this almost doubles the point reads per second. So other work, such as the records of the query log, comes after the
// writes of all responses, not between two of them.
//
// The bytes of short responses that wait for the client are counted only at the end of the turn. By then, nearly all
// responses have been flushed and need not be counted.

import type { Clock } from '../../base/clock.ts'

/** Milliseconds that an item waits for other items of the same turn. Applies only with a clock. */
const delayMsMax = 1

/** Holds items until all work of the current turn has run. */
export class TurnEnd<T> {
  readonly #handle: (items: readonly T[]) => void
  readonly #clock: Clock | undefined
  #queue: T[] = []
  #queuedSinceMs = 0
  readonly #flush = () => {
    const queue = this.#queue
    this.#queue = []
    this.#handle(queue)
  }

  /**
   * `handle` must not throw. With a clock, all waiting items are handled when an item is added more than a millisecond
   * after the first one.
   */
  constructor(handle: (items: readonly T[]) => void, clock?: Clock) {
    this.#handle = handle
    this.#clock = clock
  }

  /** The item is handled before the event loop waits again. */
  add(item: T): void {
    const nowMs = this.#clock?.elapsedMs() ?? 0
    if (this.#queue.push(item) === 1) {
      this.#queuedSinceMs = nowMs
      setImmediate(this.#flush)
    } else if (nowMs - this.#queuedSinceMs > delayMsMax) this.#flush()
  }
}

// Collects items until the turn of the event loop ends. The responses of a turn are sent together. A single write wakes
// the client's process, and the wake-up costs the service as much as a small query. If several writes follow each other
// directly, only the first write wakes the process. (With 32 connections of one client, sending the responses together
// almost doubles the point reads per second.) The bytes of short responses are also counted as unread only at the end
// of the turn, because nearly all responses have been flushed by then.
import type { Clock } from '../../base/clock.ts'

/** Milliseconds that an item may wait for other items of the same turn, if a clock limits the wait. */
const delayMsMax = 1

/** Items that are handled at the end of the turn in which they were added. */
export class TurnEnd<T> {
  readonly #handle: (item: T) => void
  readonly #clock: Clock | undefined
  #queue: T[] = []
  #queuedSinceMs = 0
  readonly #flush = () => {
    const queue = this.#queue
    this.#queue = []
    for (const item of queue) this.#handle(item)
  }

  /** `handle` must not throw. With a clock, items of a long turn wait at most a millisecond for the next item. */
  constructor(handle: (item: T) => void, clock?: Clock) {
    this.#handle = handle
    this.#clock = clock
  }

  /** Adds an item. The item is handled before the event loop waits again. */
  add(item: T): void {
    const nowMs = this.#clock?.elapsedMs() ?? 0
    if (this.#queue.push(item) === 1) {
      this.#queuedSinceMs = nowMs
      setImmediate(this.#flush)
    } else if (nowMs - this.#queuedSinceMs > delayMsMax) this.#flush()
  }
}

// Sends the responses of one turn of the event loop together, at its end. Each write of a lone response wakes its client,
// which costs the service as much as a small query; of many in a row the first wakes the process that reads them.
// (Measured with 32 connections from one client: almost twice the point reads per second.)

import type { Clock } from '../../base/clock.ts'

/** Milliseconds that a response may wait for the others of its turn. */
const heldMsMax = 1

/** Holds what is to be sent until the turn of the event loop ends, or for a millisecond in longer turns. */
export class Outbox<T> {
  readonly #send: (item: T) => void
  readonly #clock: Clock
  #held: T[] = []
  #heldSinceMs = 0
  readonly #flush = () => {
    const held = this.#held
    this.#held = []
    for (const item of held) this.#send(item)
  }

  /** `send` must not throw. */
  constructor(send: (item: T) => void, clock: Clock) {
    this.#send = send
    this.#clock = clock
  }

  /** Sends `item` before the event loop waits again. */
  add(item: T): void {
    const nowMs = this.#clock.elapsedMs()
    if (this.#held.push(item) === 1) {
      this.#heldSinceMs = nowMs
      setImmediate(this.#flush)
    } else if (nowMs - this.#heldSinceMs > heldMsMax) this.#flush()
  }
}

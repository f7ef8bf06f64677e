// Clients whose HTTP/2 sessions had to be cut off are let in slowly for a while: each session costs something before it can
// be seen what it is good for. They are not kept out: others may come from the same address.

import { limits } from '../limits.ts'

interface Offender {
  /** When the last session was cut off. */
  cutMs: number
  /** When the next session may begin. */
  nextMs: number
}

export class Offenders {
  readonly #offenders = new Map<string, Offender>()

  /** A session of `client` was cut off. */
  note(client: string, nowMs: number): void {
    const known = this.#offenders.get(client)
    if (known) known.cutMs = nowMs
    else this.#offenders.set(client, { cutMs: nowMs, nextMs: nowMs + limits.offenderSpacingMs })
  }

  /** In how many milliseconds a new session of `client` may begin; undefined: too many are waiting already. */
  delayOf(client: string, nowMs: number): number | undefined {
    const offender = this.#offenders.get(client)
    if (offender === undefined) return 0
    const delay = Math.max(0, offender.nextMs - nowMs)
    if (delay > limits.offenderWaitMs) return undefined
    offender.nextMs = nowMs + delay + limits.offenderSpacingMs
    return delay
  }

  /** Whether a session of `client` was cut off not long ago. */
  knows(client: string): boolean {
    return this.#offenders.has(client)
  }

  /** To be called now and then: forgets those of long ago. */
  forget(nowMs: number): void {
    for (const [client, { cutMs }] of this.#offenders) {
      if (nowMs - cutMs > limits.offenderMs) this.#offenders.delete(client)
    }
  }
}

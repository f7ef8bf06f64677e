// Clients whose HTTP/2 sessions had to be cut off are let in slowly for a while: each session costs something before it can
// be seen what it is good for. They are not kept out: others may come from the same address.

import { Allowance } from '../base/allowance.ts'
import { limits } from '../limits.ts'

/** Milliseconds between sessions come back as they pass. */
const spacingRate = { max: 0, perSecond: 1000 }

interface Offender {
  /** When the last session was cut off. */
  cutMs: number
  /** Milliseconds of rest that its sessions have used up. */
  readonly rest: Allowance
}

export class Offenders {
  readonly #offenders = new Map<string, Offender>()

  /** A session of `client` was cut off. */
  note(client: string, nowMs: number): void {
    const known = this.#offenders.get(client)
    if (known) {
      known.cutMs = nowMs
      return
    }
    const rest = new Allowance(spacingRate, nowMs)
    rest.take(limits.offenderSpacingMs, nowMs)
    this.#offenders.set(client, { cutMs: nowMs, rest })
  }

  /** In how many milliseconds a new session of `client` may begin; undefined: too many are waiting already. */
  delayOf(client: string, nowMs: number): number | undefined {
    const offender = this.#offenders.get(client)
    if (offender === undefined) return 0
    const delay = offender.rest.waitMs(nowMs)
    if (delay > limits.offenderWaitMs) return undefined
    offender.rest.take(limits.offenderSpacingMs, nowMs)
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

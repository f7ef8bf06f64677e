// Divides the time of the event loop among owners, usually databases. Node handles all requests that have arrived before
// it reads again from its sockets. So without this division, an owner with hundreds of connections would delay the others
// by the sum of its requests, even if each of them is short.

import type { Clock } from '../clock.ts'
import { GenerationCache } from '../generation-cache.ts'
import { FairQueue } from './fair-queue.ts'

export const fairTurnLimits = {
  /**
   * Milliseconds that the owners together may use in a turn of the event loop, each an equal part, before their requests
   * wait for the next turn; own limit.
   */
  sharedTurnMs: 5,
} as const

/** Milliseconds below which work is not counted, because counting it would cost more than it gains. */
export const countedMsMin = 0.1

/** Maximum number of characters of the remembered credentials. */
const charactersMax = 1_000_000

/** A request before its evaluation. */
export interface Arrival {
  readonly credential: string
  /** The group of the client's address, the owner of requests whose credential is unknown. */
  readonly address: string
}

export class FairTurns {
  readonly #clock: Clock
  /** Milliseconds that each owner has used in this turn. Owners that used little are absent. */
  readonly #used = new Map<string, number>()
  /** By credential, because the owner is unknown before the request is authenticated. */
  readonly #owners = new GenerationCache<string, { readonly owner: string; readonly length: number }>(
    charactersMax,
    ({ length }) => length,
  )
  readonly #waiting = new FairQueue<() => void>()
  #isScheduled = false
  /** True while {@link #next} starts waiting requests. */
  #isResuming = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns whether the owner of a request has used its part of this turn. */
  mustWait(arrival: Arrival): boolean {
    return this.#used.size > 0 && !this.#mayRun(this.#ownerOf(arrival))
  }

  /** Calls `start` in a later turn; it must not throw. Returns a function that cancels the wait. */
  wait(arrival: Arrival, start: () => void): () => void {
    const path = [this.#ownerOf(arrival), arrival.address]
    this.#waiting.add(path, start)
    this.#schedule()
    return () => {
      this.#waiting.remove(path, start)
    }
  }

  /**
   * Runs synchronous work of a request. `ownerOf` is called after the work if the owner matters, and returns undefined
   * for an unknown owner.
   */
  measure<T>(arrival: Arrival, ownerOf: () => string | undefined, work: () => T): T {
    const startMs = this.#clock.elapsedMs()
    try {
      return work()
    } finally {
      const usedMs = this.#clock.elapsedMs() - startMs
      if (usedMs >= countedMsMin) this.#count(arrival, ownerOf(), usedMs)
      // Otherwise, short requests would share the turns of their address with requests whose credential is invalid.
      else if (this.#used.size > 0 || this.#isResuming) this.#remember(arrival, ownerOf())
    }
  }

  #remember({ credential }: Arrival, owner: string | undefined): void {
    if (owner === undefined || this.#owners.get(credential)?.owner === owner) return
    this.#owners.set(credential, { owner, length: credential.length })
  }

  #count(arrival: Arrival, owner: string | undefined, usedMs: number): void {
    this.#remember(arrival, owner)
    const counted = owner ?? arrival.address
    this.#used.set(counted, (this.#used.get(counted) ?? 0) + usedMs)
    this.#schedule()
  }

  #mayRun(owner: string): boolean {
    return (this.#used.get(owner) ?? 0) < fairTurnLimits.sharedTurnMs / Math.max(1, this.#used.size)
  }

  #ownerOf({ address, credential }: Arrival): string {
    return this.#owners.get(credential)?.owner ?? address
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#next)
  }

  readonly #next = () => {
    this.#isScheduled = false
    this.#used.clear()
    const endMs = this.#clock.elapsedMs() + fairTurnLimits.sharedTurnMs
    this.#isResuming = true
    let start = this.#waiting.take()
    while (start !== undefined) {
      start()
      const isOver = this.#clock.elapsedMs() >= endMs
      start = isOver ? undefined : this.#waiting.take(owner => this.#mayRun(owner))
    }
    this.#isResuming = false
    if (this.#waiting.size > 0) this.#schedule()
  }
}

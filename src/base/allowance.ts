// What an owner may use in a while: an amount that is taken from, may be overdrawn, and fills up again at a steady rate.
// Rates of requests, resets of streams, time that is wasted or rested from: all of them are measured in this way.

import { GenerationCache } from './generation-cache.ts'

/** How much an allowance holds at most, and how much comes back in a second, in the unit of what is taken. */
interface AllowanceRate {
  readonly max: number
  readonly perSecond: number
}

/** One allowance, full at first. Times are milliseconds of a steady clock. */
export class Allowance {
  readonly #rate: AllowanceRate
  #left: number
  #filledMs: number

  constructor(rate: AllowanceRate, nowMs: number) {
    this.#rate = rate
    this.#left = rate.max
    this.#filledMs = nowMs
  }

  /** What is left; negative when more was taken. */
  left(nowMs: number): number {
    const { max, perSecond } = this.#rate
    this.#left = Math.min(max, this.#left + ((nowMs - this.#filledMs) * perSecond) / 1000)
    this.#filledMs = nowMs
    return this.#left
  }

  /** Takes an amount, which may be negative, and returns whether so much was left. */
  take(amount: number, nowMs: number): boolean {
    this.#left = Math.min(this.#rate.max, this.left(nowMs) - amount)
    return this.#left >= 0
  }

  /** Milliseconds until something is left again; 0: now. */
  waitMs(nowMs: number): number {
    return Math.max(0, (-this.left(nowMs) * 1000) / this.#rate.perSecond)
  }
}

/** Allowances of many owners. The least recently used are forgotten, and a forgotten one is full. */
export class Allowances<K> {
  readonly #rate: AllowanceRate
  readonly #elapsedMs: () => number
  readonly #byOwner: GenerationCache<K, Allowance>

  /** `ownersMax`: about how many are remembered. */
  constructor(rate: AllowanceRate, ownersMax: number, elapsedMs: () => number) {
    this.#rate = rate
    this.#elapsedMs = elapsedMs
    this.#byOwner = new GenerationCache(ownersMax)
  }

  /** What an owner has left; negative when more was taken. */
  left(owner: K): number {
    return this.#byOwner.get(owner)?.left(this.#elapsedMs()) ?? this.#rate.max
  }

  /** Takes an amount of an owner's allowance, and returns whether so much was left. */
  take(owner: K, amount: number): boolean {
    const nowMs = this.#elapsedMs()
    let allowance = this.#byOwner.get(owner)
    if (allowance === undefined) {
      allowance = new Allowance(this.#rate, nowMs)
      this.#byOwner.set(owner, allowance)
    }
    return allowance.take(amount, nowMs)
  }

  /** Milliseconds until an owner has something left again; 0: now. */
  waitMs(owner: K): number {
    return this.#byOwner.get(owner)?.waitMs(this.#elapsedMs()) ?? 0
  }
}

// A token bucket: callers take an amount from an allowance, may overdraw it, and it refills at a steady rate. Request
// rates, stream resets and wasted or paused time are all measured with it.

import { GenerationCache } from './generation-cache.ts'

/** The maximum of an allowance and its refill per second, in the unit of the amounts taken. */
interface AllowanceRate {
  readonly max: number
  readonly perSecond: number
}

/** An allowance, full at first. Times are milliseconds of a monotonic clock. */
export class Allowance {
  readonly #rate: AllowanceRate
  #left: number
  #filledMs: number

  constructor(rate: AllowanceRate, nowMs: number) {
    this.#rate = rate
    this.#left = rate.max
    this.#filledMs = nowMs
  }

  /** The amount left; negative when the allowance is overdrawn. */
  left(nowMs: number): number {
    const { max, perSecond } = this.#rate
    this.#left = Math.min(max, this.#left + ((nowMs - this.#filledMs) * perSecond) / 1000)
    this.#filledMs = nowMs
    return this.#left
  }

  /** Takes an amount, which may be negative. Returns false when the allowance is overdrawn afterwards. */
  take(amount: number, nowMs: number): boolean {
    this.#left = Math.min(this.#rate.max, this.left(nowMs) - amount)
    return this.#left >= 0
  }

  /** Milliseconds until the allowance is positive again; 0 when it already is. */
  waitMs(nowMs: number): number {
    return Math.max(0, (-this.left(nowMs) * 1000) / this.#rate.perSecond)
  }
}

/**
 * Allowances of many owners. The least recently used owners are forgotten; a forgotten owner starts with a full
 * allowance.
 */
export class Allowances<K> {
  readonly #rate: AllowanceRate
  readonly #elapsedMs: () => number
  readonly #byOwner: GenerationCache<K, Allowance>

  /** `ownersMax`: about how many owners are remembered. */
  constructor(rate: AllowanceRate, ownersMax: number, elapsedMs: () => number) {
    this.#rate = rate
    this.#elapsedMs = elapsedMs
    this.#byOwner = new GenerationCache(ownersMax)
  }

  /** The amount that an owner has left; negative when the allowance is overdrawn. */
  left(owner: K): number {
    return this.#byOwner.get(owner)?.left(this.#elapsedMs()) ?? this.#rate.max
  }

  /** Takes an amount from an owner's allowance. Returns false when the allowance is overdrawn afterwards. */
  take(owner: K, amount: number): boolean {
    const nowMs = this.#elapsedMs()
    let allowance = this.#byOwner.get(owner)
    if (allowance === undefined) {
      allowance = new Allowance(this.#rate, nowMs)
      this.#byOwner.set(owner, allowance)
    }
    return allowance.take(amount, nowMs)
  }

  /** Milliseconds until an owner's allowance is positive again; 0 when it already is. */
  waitMs(owner: K): number {
    return this.#byOwner.get(owner)?.waitMs(this.#elapsedMs()) ?? 0
  }
}

// Limits rates, such as requests or milliseconds of query time per second. Each owner takes amounts from a token bucket,
// which it may overdraw.

import { GenerationCache } from '../generation-cache.ts'

/** The capacity of a bucket and its refill per second, in the unit of the amounts taken. */
interface Rate {
  readonly max: number
  readonly perSecond: number
}

/**
 * For debts in milliseconds, which decrease by one millisecond in each millisecond: after an owner has taken 100, its
 * bucket is overdrawn for the next 100 milliseconds.
 */
export const debtRepaidByTime: Rate = { max: 0, perSecond: 1000 }

/** The bucket of one owner, full at first. Times are milliseconds of a monotonic clock. */
export class Bucket {
  readonly #rate: Rate
  #left: number
  #filledMs: number

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate
    this.#left = rate.max
    this.#filledMs = nowMs
  }

  /** Negative when the bucket is overdrawn. */
  left(nowMs: number): number {
    const { max, perSecond } = this.#rate
    this.#left = Math.min(max, this.#left + ((nowMs - this.#filledMs) * perSecond) / 1000)
    this.#filledMs = nowMs
    return this.#left
  }

  /** `amount` may be negative. Returns false when the bucket is overdrawn afterwards. */
  take(amount: number, nowMs: number): boolean {
    this.#left = Math.min(this.#rate.max, this.left(nowMs) - amount)
    return this.#left >= 0
  }

  /** 0 if the bucket is not overdrawn. */
  waitMs(nowMs: number): number {
    return Math.max(0, (-this.left(nowMs) * 1000) / this.#rate.perSecond)
  }
}

/** A {@link Bucket} for each owner. Forgets the least recently used owners, which then start with a full bucket. */
export class RateLimit<K> {
  readonly #rate: Rate
  readonly #elapsedMs: () => number
  readonly #buckets: GenerationCache<K, Bucket>

  /** `ownersMax` is the approximate maximum number of owners in memory. */
  constructor(rate: Rate, ownersMax: number, elapsedMs: () => number) {
    this.#rate = rate
    this.#elapsedMs = elapsedMs
    this.#buckets = new GenerationCache(ownersMax)
  }

  left(owner: K): number {
    return this.#buckets.get(owner)?.left(this.#elapsedMs()) ?? this.#rate.max
  }

  take(owner: K, amount: number): boolean {
    const nowMs = this.#elapsedMs()
    let bucket = this.#buckets.get(owner)
    if (bucket === undefined) {
      bucket = new Bucket(this.#rate, nowMs)
      this.#buckets.set(owner, bucket)
    }
    return bucket.take(amount, nowMs)
  }

  waitMs(owner: K): number {
    return this.#buckets.get(owner)?.waitMs(this.#elapsedMs()) ?? 0
  }
}

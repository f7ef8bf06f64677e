// A rate limit: each owner takes amounts from a token bucket, which refills at a steady rate. An owner may overdraw its
// bucket. Rate limits are used, for example, for requests, stream resets and the time of queries.

import { GenerationCache } from '../generation-cache.ts'

/** The capacity of a bucket and its refill per second, in the unit of the amounts taken. */
interface Rate {
  readonly max: number
  readonly perSecond: number
}

/**
 * A rate for pauses of owners. If an owner takes 100 milliseconds from its bucket, the bucket is overdrawn for 100
 * milliseconds. The owner pauses during this time.
 */
export const passingMs: Rate = { max: 0, perSecond: 1000 }

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

  /** The amount left; negative when the bucket is overdrawn. */
  left(nowMs: number): number {
    const { max, perSecond } = this.#rate
    this.#left = Math.min(max, this.#left + ((nowMs - this.#filledMs) * perSecond) / 1000)
    this.#filledMs = nowMs
    return this.#left
  }

  /** Takes an amount, which may be negative. Returns false when the bucket is overdrawn afterwards. */
  take(amount: number, nowMs: number): boolean {
    this.#left = Math.min(this.#rate.max, this.left(nowMs) - amount)
    return this.#left >= 0
  }

  /** Milliseconds until the bucket is no longer overdrawn; 0 if the bucket is not overdrawn. */
  waitMs(nowMs: number): number {
    return Math.max(0, (-this.left(nowMs) * 1000) / this.#rate.perSecond)
  }
}

/**
 * A bucket for each owner. The least recently used owners are forgotten; a forgotten owner starts with a full bucket.
 */
export class RateLimit<K> {
  readonly #rate: Rate
  readonly #elapsedMs: () => number
  readonly #buckets: GenerationCache<K, Bucket>

  /** `ownersMax`: the approximate number of owners that are remembered. */
  constructor(rate: Rate, ownersMax: number, elapsedMs: () => number) {
    this.#rate = rate
    this.#elapsedMs = elapsedMs
    this.#buckets = new GenerationCache(ownersMax)
  }

  /** The amount that an owner has left; negative when the bucket is overdrawn. */
  left(owner: K): number {
    return this.#buckets.get(owner)?.left(this.#elapsedMs()) ?? this.#rate.max
  }

  /** Takes an amount from an owner's bucket. Returns false when the bucket is overdrawn afterwards. */
  take(owner: K, amount: number): boolean {
    const nowMs = this.#elapsedMs()
    let bucket = this.#buckets.get(owner)
    if (bucket === undefined) {
      bucket = new Bucket(this.#rate, nowMs)
      this.#buckets.set(owner, bucket)
    }
    return bucket.take(amount, nowMs)
  }

  /** Milliseconds until an owner's bucket is no longer overdrawn; 0 if the bucket is not overdrawn. */
  waitMs(owner: K): number {
    return this.#buckets.get(owner)?.waitMs(this.#elapsedMs()) ?? 0
  }
}

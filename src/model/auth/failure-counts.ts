// Counts the recent failures of guessers, from this process and from the notices of other processes. Counting never
// waits; other processes are notified later.

import type { Clock } from '../../base/clock.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import type { NoticeBoard, NoticeTopic } from '../../base/notices.ts'

/** The maximum of a count. Higher counts would have no effect but take longer to decay. */
const failuresMax = limits.passwordFreeFailures + 10

interface Count {
  readonly failures: number
  /** The time of `failures`: milliseconds of {@link Clock.elapsedMs}. */
  readonly countedAt: number
}

/** Number of keys in one notice. Further failures count only in the process that has seen them. */
const newsMax = 4096

/**
 * The changes of a key since the last notice: whether a login has succeeded, and the failures after the last success.
 */
interface News {
  readonly hasPassed: boolean
  readonly failures: number
}

/** The wire form of {@link News}, with the key. */
type NewsEntry = readonly [key: string, hasPassed: boolean, failures: number]

/** Failures by key. */
export class FailureCounts implements NoticeTopic {
  readonly #clock: Clock
  readonly #counts = new GenerationCache<string, Count>(limits.passwordGuessersMax)
  #news = new Map<string, News>()

  /** `notices`: the exchange with other processes; absent when there is only one process. */
  constructor(clock: Clock, notices?: NoticeBoard) {
    this.#clock = clock
    notices?.join('failures', this)
  }

  /** The number of recent failures, which decays with time; 0 when there are none. */
  of(key: string): number {
    const count = this.#counts.get(key)
    if (count === undefined) return 0
    const age = this.#clock.elapsedMs() - count.countedAt
    return count.failures * 0.5 ** (age / limits.passwordFailureHalfLifeMs)
  }

  failed(key: string): void {
    this.#count(key)
    const { hasPassed = false, failures = 0 } = this.#news.get(key) ?? {}
    this.#note(key, { hasPassed, failures: failures + 1 })
  }

  /** Resets the failures of a key. */
  passed(key: string): void {
    // Most keys have no failures, so there is no news to record.
    if (this.of(key) > 0) this.#note(key, { hasPassed: true, failures: 0 })
    this.#counts.delete(key)
  }

  collect(): readonly NewsEntry[] | undefined {
    if (this.#news.size === 0) return undefined
    const news = Array.from(
      this.#news,
      ([key, { hasPassed, failures }]): NewsEntry => [key, hasPassed, failures],
    )
    this.#news = new Map()
    return news
  }

  receive(news: unknown): void {
    for (const [key, hasPassed, failures] of news as readonly NewsEntry[]) {
      if (hasPassed) this.#counts.delete(key)
      for (let count = 0; count < Math.min(failures, failuresMax); count++) this.#count(key)
    }
  }

  #count(key: string): void {
    const failures = Math.min(failuresMax, this.of(key) + 1)
    this.#counts.set(key, { failures, countedAt: this.#clock.elapsedMs() })
  }

  #note(key: string, news: News): void {
    if (this.#news.size < newsMax || this.#news.has(key)) this.#news.set(key, news)
  }
}

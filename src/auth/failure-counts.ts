// How often a guesser has failed recently, as far as this process has seen and others have told it. Nothing here waits:
// it counts what it knows, and tells the others later.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import type { NoticeBoard, NoticeTopic } from '../base/notices.ts'
import { limits } from '../limits.ts'

/** More failures than these change nothing any more, so that they fade in bounded time. */
const failuresMax = limits.passwordFreeFailures + 10

interface Count {
  readonly failures: number
  /** When `failures` was true: milliseconds of {@link Clock.elapsedMs}. */
  readonly countedAt: number
}

/** Keys that one process tells the others about at a time; what is beyond counts where it was seen. */
const newsMax = 4096

/** What has become of a key: it has failed so often since, if it has passed, that. */
interface News {
  readonly hasPassed: boolean
  readonly failures: number
}

/** As it travels: key, whether it has passed, failures since. */
type NewsEntry = readonly [key: string, hasPassed: boolean, failures: number]

/** Failures by key. */
export class FailureCounts implements NoticeTopic {
  readonly #clock: Clock
  readonly #counts = new LRUCache<string, Count>({ max: limits.passwordGuessersMax })
  #news = new Map<string, News>()

  /** `notices`: by which processes tell each other; absent: there is one. */
  constructor(clock: Clock, notices?: NoticeBoard) {
    this.#clock = clock
    notices?.join('failures', this)
  }

  /** The recent failures, fewer as time passes; 0 when there are none. */
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

  /** Forgets the failures. */
  passed(key: string): void {
    // Most have never failed: there is nothing to tell.
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

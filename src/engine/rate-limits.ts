// How many operations per second the queries of one database may use, each kind by a bucket that fills at a steady
// rate. What a query costs is known only when it has been evaluated, so a query is admitted while there is anything
// in the bucket and may leave it in debt; the following ones wait until the debt is paid. Processes that serve the same
// databases tell each other what they have taken out of theirs.

import type { Clock } from '../base/clock.ts'
import { GenerationCache } from '../base/generation-cache.ts'
import type { NoticeTopic } from '../base/notices.ts'
import { RequestError } from '../errors.ts'
import type { DatabaseId } from '../values/value.ts'

/** The kinds of operations, in the order in which the protocol names them. */
const rateKinds = ['compute', 'read', 'write'] as const

type RateKind = (typeof rateKinds)[number]

/** Operations by kind. */
export type Costs = Readonly<Record<RateKind, number>>

/** A query that its database's limits forbid. */
export class RateLimited extends RequestError {
  override name = 'RateLimited'
  readonly kinds: readonly RateKind[]
  constructor(kinds: readonly RateKind[]) {
    super('too many requests', `Rate limit for ${kinds[0]} exceeded`)
    this.kinds = kinds
  }
}

/** Seconds of operations that a bucket holds. */
const burstSeconds = 2
/** Databases whose buckets are remembered; a forgotten one is full. */
const databasesMax = 10_000

interface Buckets {
  readonly levels: Record<RateKind, number>
  /** When they were filled last, by the clock's milliseconds. */
  filledMs: number
}

/** What a process has used of one database, as it travels: the database in decimal, then by kind. */
type Used = readonly [database: string, compute: number, read: number, write: number]

export class RateLimits implements NoticeTopic {
  readonly #perSecond: Costs
  readonly #clock: Clock
  readonly #limited: readonly RateKind[]
  readonly #buckets = new GenerationCache<DatabaseId, Buckets>(databasesMax)
  /** Used here since the others were told; filled only when anybody asks. */
  #news: Map<DatabaseId, Record<RateKind, number>> | undefined

  /** `perSecond`: operations of one database; 0 for no limit. */
  constructor(perSecond: Costs, clock: Clock) {
    this.#perSecond = perSecond
    this.#clock = clock
    this.#limited = rateKinds.filter(kind => perSecond[kind] > 0)
  }

  /** Throws {@link RateLimited} if a query of that cost may not run: nothing is left of a kind that it uses. */
  check(database: DatabaseId, costs: Costs): void {
    if (this.#limited.length === 0) return
    const { levels } = this.#filled(database)
    const exhausted = this.#limited.filter(kind => costs[kind] > 0 && levels[kind] <= 0)
    if (exhausted.length > 0) throw new RateLimited(exhausted)
  }

  /** Takes out what a query has used. */
  charge(database: DatabaseId, costs: Costs): void {
    if (this.#limited.length === 0) return
    this.#take(database, costs)
    if (this.#news === undefined) return
    const used = this.#news.get(database) ?? { compute: 0, read: 0, write: 0 }
    for (const kind of this.#limited) used[kind] += costs[kind]
    this.#news.set(database, used)
  }

  collect(): readonly Used[] | undefined {
    const news = this.#news
    this.#news = new Map()
    if (news === undefined || news.size === 0) return undefined
    return Array.from(
      news,
      ([database, { compute, read, write }]): Used => [String(database), compute, read, write],
    )
  }

  receive(news: unknown): void {
    for (const [database, compute, read, write] of news as readonly Used[])
      this.#take(BigInt(database), { compute, read, write })
  }

  #take(database: DatabaseId, costs: Costs): void {
    const { levels } = this.#filled(database)
    for (const kind of this.#limited) levels[kind] -= costs[kind]
  }

  #filled(database: DatabaseId): Buckets {
    const nowMs = this.#clock.elapsedMs()
    let buckets = this.#buckets.get(database)
    if (buckets === undefined) {
      const { compute, read, write } = this.#perSecond
      const levels = {
        compute: compute * burstSeconds,
        read: read * burstSeconds,
        write: write * burstSeconds,
      }
      buckets = { levels, filledMs: nowMs }
      this.#buckets.set(database, buckets)
    }
    const seconds = (nowMs - buckets.filledMs) / 1000
    for (const kind of this.#limited) {
      const perSecond = this.#perSecond[kind]
      buckets.levels[kind] = Math.min(perSecond * burstSeconds, buckets.levels[kind] + perSecond * seconds)
    }
    buckets.filledMs = nowMs
    return buckets
  }
}

// Limits the operations per second of each database, with a token bucket for each kind. The cost of a query is known
// only after its evaluation, so a query is admitted while the bucket is not empty, and may make its balance negative.
// Later queries are rejected until the bucket has refilled above zero. Each process reports the operations of its
// queries to the other processes that serve the same databases.

import { RateLimit } from '../base/admission/rate-limit.ts'
import type { Clock } from '../base/clock.ts'
import { msg, own } from '../base/message.ts'
import type { NoticeTopic } from '../base/notices.ts'
import { RequestError } from '../base/request-errors.ts'
import type { DatabaseId } from '../values/value.ts'

/** Kinds of rates in the order in which the protocol names them. */
const rateKinds = ['compute', 'read', 'write'] as const

export type RateKind = (typeof rateKinds)[number]

export type Costs = Readonly<Record<RateKind, number>>

export class RateLimited extends RequestError {
  override name = 'RateLimited'
  readonly kinds: readonly RateKind[]
  constructor(kinds: readonly RateKind[]) {
    super('too many requests', msg`Rate limit for ${own(kinds[0] ?? '')} exceeded`)
    this.kinds = kinds
  }
}

/** A full bucket contains the operations of this many seconds at the allowed rate. */
const burstSeconds = 2
/** Maximum number of databases whose buckets are stored. After its bucket is dropped, a database gets a full one. */
const databasesMax = 10_000

/**
 * Operations of one process in one database. The id of the database is a decimal string, because JSON has no bigints.
 */
type UsageReport = readonly [database: string, compute: number, read: number, write: number]

export class OperationLimits implements NoticeTopic {
  readonly #limited: readonly { readonly kind: RateKind; readonly buckets: RateLimit<DatabaseId> }[]
  /**
   * Operations of this process since its last notice. Undefined before the first call of `collect`: in a single
   * process, nothing calls `collect`, so the map would only grow.
   */
  #news: Map<DatabaseId, Record<RateKind, number>> | undefined

  /** `perSecond`: allowed operations of one database; 0 for no limit. */
  constructor(perSecond: Costs, clock: Clock) {
    this.#limited = rateKinds
      .filter(kind => perSecond[kind] > 0)
      .map(kind => {
        const rate = { max: perSecond[kind] * burstSeconds, perSecond: perSecond[kind] }
        return { kind, buckets: new RateLimit(rate, databasesMax, () => clock.elapsedMs()) }
      })
  }

  /**
   * Throws {@link RateLimited} if a bucket is empty whose kind of operation has a positive number in `costs`. The
   * amounts do not matter.
   */
  check(database: DatabaseId, costs: Costs): void {
    for (const { buckets, kind } of this.#limited) {
      if (costs[kind] > 0 && buckets.left(database) <= 0)
        throw new RateLimited(this.exhausted(database).filter(each => costs[each] > 0))
    }
  }

  exhausted(database: DatabaseId): readonly RateKind[] {
    return this.#limited.filter(({ buckets }) => buckets.left(database) <= 0).map(({ kind }) => kind)
  }

  charge(database: DatabaseId, costs: Costs): void {
    if (this.#limited.length === 0) return
    this.#take(database, costs)
    if (this.#news === undefined) return
    const used = this.#news.get(database) ?? { compute: 0, read: 0, write: 0 }
    for (const { kind } of this.#limited) used[kind] += costs[kind]
    this.#news.set(database, used)
  }

  collect(): readonly UsageReport[] | undefined {
    const news = this.#news
    this.#news = new Map()
    if (news === undefined || news.size === 0) return undefined
    return Array.from(
      news,
      ([database, { compute, read, write }]): UsageReport => [String(database), compute, read, write],
    )
  }

  receive(news: unknown): void {
    for (const [database, compute, read, write] of news as readonly UsageReport[])
      this.#take(BigInt(database), { compute, read, write })
  }

  #take(database: DatabaseId, costs: Costs): void {
    for (const { kind, buckets } of this.#limited) buckets.take(database, costs[kind])
  }
}

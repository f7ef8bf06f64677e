// How many operations per second the queries of one database may use, each kind by a bucket that fills at a steady
// rate. What a query costs is known only when it has been evaluated, so a query is admitted while there is anything
// in the bucket and may leave it in debt; the following ones wait until the debt is paid. Processes that serve the same
// databases tell each other what they have taken out of theirs.

import { Allowances } from '../base/allowance.ts'
import type { Clock } from '../base/clock.ts'
import { RequestError } from '../base/errors.ts'
import { msg, own } from '../base/message.ts'
import type { NoticeTopic } from '../base/notices.ts'
import type { DatabaseId } from '../values/value.ts'

/** The kinds of operations, in the order in which the protocol names them. */
const rateKinds = ['compute', 'read', 'write'] as const

/** One of them. */
export type RateKind = (typeof rateKinds)[number]

/** Operations by kind. */
export type Costs = Readonly<Record<RateKind, number>>

/** A query that its database's limits forbid. */
export class RateLimited extends RequestError {
  override name = 'RateLimited'
  readonly kinds: readonly RateKind[]
  constructor(kinds: readonly RateKind[]) {
    super('too many requests', msg`Rate limit for ${own(kinds[0] ?? '')} exceeded`)
    this.kinds = kinds
  }
}

/** Seconds of operations that a bucket holds. */
const burstSeconds = 2
/** Databases whose buckets are remembered; a forgotten one is full. */
const databasesMax = 10_000

/** What a process has used of one database, as it travels: the database in decimal, then by kind. */
type Used = readonly [database: string, compute: number, read: number, write: number]

export class RateLimits implements NoticeTopic {
  readonly #limited: readonly { readonly kind: RateKind; readonly buckets: Allowances<DatabaseId> }[]
  /** Used here since the others were told; filled only when it is asked for. */
  #news: Map<DatabaseId, Record<RateKind, number>> | undefined

  /** `perSecond`: operations of one database; 0 for no limit. */
  constructor(perSecond: Costs, clock: Clock) {
    this.#limited = rateKinds
      .filter(kind => perSecond[kind] > 0)
      .map(kind => {
        const rate = { max: perSecond[kind] * burstSeconds, perSecond: perSecond[kind] }
        return { kind, buckets: new Allowances(rate, databasesMax, () => clock.elapsedMs()) }
      })
  }

  /** Throws {@link RateLimited} if a query of that cost may not run: nothing is left of a kind that it uses. */
  check(database: DatabaseId, costs: Costs): void {
    for (const { buckets, kind } of this.#limited) {
      if (costs[kind] > 0 && buckets.left(database) <= 0)
        throw new RateLimited(this.exhausted(database).filter(each => costs[each] > 0))
    }
  }

  /** The kinds of which nothing is left. */
  exhausted(database: DatabaseId): readonly RateKind[] {
    return this.#limited.filter(({ buckets }) => buckets.left(database) <= 0).map(({ kind }) => kind)
  }

  /** Takes out what a query has used. */
  charge(database: DatabaseId, costs: Costs): void {
    if (this.#limited.length === 0) return
    this.#take(database, costs)
    if (this.#news === undefined) return
    const used = this.#news.get(database) ?? { compute: 0, read: 0, write: 0 }
    for (const { kind } of this.#limited) used[kind] += costs[kind]
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
    for (const { kind, buckets } of this.#limited) buckets.take(database, costs[kind])
  }
}

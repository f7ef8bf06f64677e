// What a client gets for a request, from what its latest evaluation came to: status, body, times and costs.

import type { RequestError } from '../base/errors.ts'
import type { LanguageError } from '../model/failure.ts'
import type { Language, Rendered } from '../model/language.ts'
import type { NamedObject } from '../model/named-objects.ts'
import { type Session, timedOut } from '../model/session.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import type { Transaction, TransactionCounters, TransactionOutcome } from '../storage/store/contract.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type { CallerMark, DatabasePlace, QueryMetrics, QueryRequest, QueryResponse } from './contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { RateLimited } from './rate-limits.ts'
import type { RequestKind } from './request-kind.ts'
import type { TimeBudget } from './time-budget.ts'

const noCosts: Readonly<TransactionCounters> = { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }

/**
 * What an evaluation has come to beside its result. The evaluation itself is let go: with its transaction it takes tens
 * of kilobytes, which would have to outlive collections of garbage while the commit is on its way to the disk.
 */
interface Spent {
  readonly database: DatabaseId
  readonly snapshotTime: Micros
  readonly computeOps: number
  readonly byteReadOps: number
  readonly readBytes: number
  readonly named: readonly NamedObject[]
}

/** What an evaluation that has ended has come to. */
export function spentBy({ byteReadOps, computeOps, database, named, transaction }: Session): Spent {
  const { counters, snapshotTime } = transaction
  return { database, snapshotTime, computeOps, byteReadOps, readBytes: counters.readBytes, named: named.list }
}

/** Makes the response of one request. Who evaluates keeps its fields: responses to failed queries report them too. */
export class Responses {
  /** By the latest evaluation; undefined until it is known who asks. */
  spent: Spent | undefined
  /** Where the database of the evaluation lies. */
  place: DatabasePlace | undefined
  /** Who asks, as the query log knows it. */
  caller: CallerMark | undefined
  /** The time of the latest transaction. */
  settledTime: Micros | undefined
  /** Attempts that met contention. */
  contended = 0
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  readonly #language: Language
  readonly #budget: TimeBudget
  readonly #isCharged: boolean

  constructor(
    options: EngineOptions,
    request: QueryRequest,
    language: Language,
    { budget, isCharged = false }: Pick<RequestKind, 'budget' | 'isCharged'>,
  ) {
    this.#options = options
    this.#request = request
    this.#language = language
    this.#budget = budget
    this.#isCharged = isCharged
  }

  succeeded({ counters, result, retries, time }: TransactionOutcome<Rendered>): QueryResponse {
    this.contended = retries
    const metrics = this.#charged(this.#metrics(this.spent, counters))
    const body = this.#language.complete(result.body, this.#request, { time, metrics })
    return { status: result.status, body, ...this.#about(time, metrics) }
  }

  /** Of an engine that commits nothing: what the response is once another engine has committed the attempt. */
  uncommitted(attempt: Attempt<Rendered>, again: (transaction: Transaction) => Rendered): QueryResponse {
    const { commitTime, counters, result } = attempt
    const about = this.#about(commitTime, this.#metrics(this.spent, counters))
    return { ...result, ...about, attempt: { ...attempt, result: undefined }, again }
  }

  /** Of an explanation, which ends its transaction without a commit. */
  explanation(body: string): QueryResponse {
    const spent = this.spent as Spent
    const [time, metrics] = [spent.snapshotTime, this.#charged(this.#metrics(spent, noCosts))]
    const completed = this.#language.complete(body, this.#request, { time, metrics })
    return { status: 200, body: completed, ...this.#about(time, metrics) }
  }

  /** A response of the slow lane as this request's own: its time includes the waiting, its costs are charged here. */
  fromSlowLane(response: QueryResponse): QueryResponse {
    if (!response.metrics) return { ...response, isSlow: true }
    const metrics = { ...response.metrics, queryTimeMs: this.#budget.elapsedMs() }
    if (response.requestError === 'time out') {
      // The other process knows only the time that was left when it began.
      const time = response.txnTime ?? this.#time()
      return {
        ...response,
        ...this.#language.failed(timedOut(), this.#request, { time, metrics }),
        isSlow: true,
        metrics,
      }
    }
    return { ...response, isSlow: true, metrics: response.requestError ? metrics : this.#charged(metrics) }
  }

  /** A query that failed by its own doing. Its language says whether its costs stand. */
  refused(error: LanguageError): QueryResponse {
    const spent = error.reportsCosts ? this.spent : undefined
    const readBytes = spent?.readBytes ?? 0
    const [time, metrics] = [this.#time(), this.#charged(this.#metrics(spent, { ...noCosts, readBytes }))]
    return {
      ...this.#language.refused(error, this.#request, { time, metrics }),
      ...this.#about(time, metrics),
    }
  }

  /** A request that failed as a whole. */
  failed(error: RequestError): QueryResponse {
    const rateLimited = error instanceof RateLimited ? error.kinds : []
    const unmetered = error.code === 'unauthorized' || error.code === 'internal server error'
    const time = this.#time()
    const metrics = unmetered ? undefined : this.#metrics(this.spent, noCosts, rateLimited)
    return {
      ...this.#language.failed(error, this.#request, { time, metrics }),
      ...this.#about(time, metrics),
      requestError: error.code,
    }
  }

  /** What every response says beside its status and its body. */
  #about(txnTime: Micros, metrics: QueryMetrics | undefined): Omit<QueryResponse, 'status' | 'body'> {
    return {
      txnTime,
      metrics,
      database: this.spent?.database,
      place: this.place,
      caller: this.caller,
      named: this.spent?.named,
    }
  }

  #time(): Micros {
    return this.settledTime ?? this.#options.store.now()
  }

  /** Takes the costs of a query that was evaluated to its end from what its database may use. */
  #charged(metrics: QueryMetrics): QueryMetrics {
    const { rateLimits } = this.#options
    if (!rateLimits || !this.#isCharged || !this.spent) return metrics
    const { byteReadOps: read, byteWriteOps: write, computeOps: compute } = metrics
    rateLimits.charge(this.spent.database, { compute, read, write })
    return metrics
  }

  #metrics(
    spent: Spent | undefined,
    counters: Readonly<TransactionCounters>,
    rateLimited: QueryMetrics['rateLimited'] = [],
  ): QueryMetrics {
    return {
      computeOps: spent?.computeOps ?? 1,
      byteReadOps: spent?.byteReadOps ?? 0,
      byteWriteOps: counters.writeOps,
      storageBytesRead: counters.readBytes,
      storageBytesWrite: counters.writeBytes,
      queryTimeMs: this.#budget.elapsedMs(),
      txnRetries: this.contended,
      rateLimited,
    }
  }
}

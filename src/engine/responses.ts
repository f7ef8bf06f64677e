// Creates the response to a request from its latest evaluation: status, body, times and costs.

import type { RequestError } from '../base/errors.ts'
import type { LanguageError } from '../model/failure.ts'
import type { RenderedResponse, ResponseRenderer } from '../model/language.ts'
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
 * The costs and facts of an evaluation. The session itself is not kept: a session and its transaction take tens
 * of kilobytes, which would survive garbage collections while the commit is written to disk.
 */
interface EvaluationFacts {
  readonly database: DatabaseId
  readonly snapshotTime: Micros
  readonly computeOps: number
  readonly byteReadOps: number
  readonly readBytes: number
  readonly named: readonly NamedObject[]
}

/** Returns the costs and facts of a finished evaluation. */
export function evaluationFacts({
  byteReadOps,
  computeOps,
  database,
  named,
  transaction,
}: Session): EvaluationFacts {
  const { counters, snapshotTime } = transaction
  return { database, snapshotTime, computeOps, byteReadOps, readBytes: counters.readBytes, named: named.list }
}

/**
 * Creates the response to one request. The evaluation sets the fields of this object, because responses to failed
 * queries report them, too.
 */
export class Responses {
  /** Costs and facts of the latest evaluation; undefined before authentication. */
  facts: EvaluationFacts | undefined
  /** The location of the query's database. */
  place: DatabasePlace | undefined
  /** The caller, in the format of the query log. */
  caller: CallerMark | undefined
  /** The read timestamp of the latest transaction. */
  readTimestamp: Micros | undefined
  /** Number of attempts that conflicted with other transactions. */
  contended = 0
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  readonly #language: ResponseRenderer
  readonly #budget: TimeBudget
  readonly #isCharged: boolean

  constructor(
    options: EngineOptions,
    request: QueryRequest,
    language: ResponseRenderer,
    { budget, isCharged = false }: Pick<RequestKind, 'budget' | 'isCharged'>,
  ) {
    this.#options = options
    this.#request = request
    this.#language = language
    this.#budget = budget
    this.#isCharged = isCharged
  }

  succeeded({ counters, result, retries, time }: TransactionOutcome<RenderedResponse>): QueryResponse {
    this.contended = retries
    const metrics = this.#charged(this.#metrics(this.facts, counters))
    const body = this.#language.complete(result.body, this.#request, { time, metrics })
    return { status: result.status, body, ...this.#about(time, metrics) }
  }

  /**
   * Returns the response of an engine that does not commit. The response is valid after another process has committed
   * the attempt.
   */
  uncommitted(
    attempt: Attempt<RenderedResponse>,
    again: (transaction: Transaction) => RenderedResponse,
  ): QueryResponse {
    const { commitTime, counters, result } = attempt
    const about = this.#about(commitTime, this.#metrics(this.facts, counters))
    return { ...result, ...about, attempt: { ...attempt, result: undefined }, again }
  }

  /** Returns the response to an explanation, which ends its transaction without a commit. */
  explanation(body: string): QueryResponse {
    const facts = this.facts as EvaluationFacts
    const [time, metrics] = [facts.snapshotTime, this.#charged(this.#metrics(facts, noCosts))]
    const completed = this.#language.complete(body, this.#request, { time, metrics })
    return { status: 200, body: completed, ...this.#about(time, metrics) }
  }

  /**
   * Completes a response from the process that commits, which has also charged the costs. The reported query time
   * includes the forwarding.
   */
  forwarded(response: QueryResponse): QueryResponse {
    const { metrics } = response
    return metrics
      ? { ...response, metrics: { ...metrics, queryTimeMs: this.#budget.elapsedMs() } }
      : response
  }

  /**
   * Completes a response from the slow lane: the reported query time includes the wait, and the costs are charged.
   */
  fromSlowLane(response: QueryResponse): QueryResponse {
    if (!response.metrics) return { ...response, isSlow: true }
    const metrics = { ...response.metrics, queryTimeMs: this.#budget.elapsedMs() }
    if (response.requestError === 'time out') {
      // The slow-lane process knows only the time that was left when its evaluation began.
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

  /**
   * Returns the response to a query with an error. The error determines whether its costs are reported.
   */
  refused(error: LanguageError): QueryResponse {
    const facts = error.reportsCosts ? this.facts : undefined
    const readBytes = facts?.readBytes ?? 0
    const [time, metrics] = [this.#time(), this.#charged(this.#metrics(facts, { ...noCosts, readBytes }))]
    return {
      ...this.#language.refused(error, this.#request, { time, metrics }),
      ...this.#about(time, metrics),
    }
  }

  /** Returns the response to a request that failed with a request error, such as `time out`. */
  failed(error: RequestError): QueryResponse {
    const rateLimited = error instanceof RateLimited ? error.kinds : []
    const unmetered = error.code === 'unauthorized' || error.code === 'internal server error'
    const time = this.#time()
    const metrics = unmetered ? undefined : this.#metrics(this.facts, noCosts, rateLimited)
    return {
      ...this.#language.failed(error, this.#request, { time, metrics }),
      ...this.#about(time, metrics),
      requestError: error.code,
    }
  }

  /** Returns the members that every response has in addition to its status and body. */
  #about(txnTime: Micros, metrics: QueryMetrics | undefined): Omit<QueryResponse, 'status' | 'body'> {
    return {
      txnTime,
      metrics,
      database: this.facts?.database,
      place: this.place,
      caller: this.caller,
      named: this.facts?.named,
    }
  }

  #time(): Micros {
    return this.readTimestamp ?? this.#options.store.now()
  }

  /** Charges the costs of a completely evaluated query to its database. */
  #charged(metrics: QueryMetrics): QueryMetrics {
    const { rateLimits } = this.#options
    if (!rateLimits || !this.#isCharged || !this.facts) return metrics
    const { byteReadOps: read, byteWriteOps: write, computeOps: compute } = metrics
    rateLimits.charge(this.facts.database, { compute, read, write })
    return metrics
  }

  #metrics(
    facts: EvaluationFacts | undefined,
    counters: Readonly<TransactionCounters>,
    rateLimited: QueryMetrics['rateLimited'] = [],
  ): QueryMetrics {
    return {
      computeOps: facts?.computeOps ?? 1,
      byteReadOps: facts?.byteReadOps ?? 0,
      byteWriteOps: counters.writeOps,
      storageBytesRead: counters.readBytes,
      storageBytesWrite: counters.writeBytes,
      queryTimeMs: this.#budget.elapsedMs(),
      txnRetries: this.contended,
      rateLimited,
    }
  }
}

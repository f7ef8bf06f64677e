// Creates the response to a request from its latest evaluation. Also logs why requests fail.

import { assert } from '../base/assert.ts'
import type { Clock } from '../base/clock.ts'
import type { RequestError } from '../base/request-errors.ts'
import type { LanguageError } from '../model/failure.ts'
import type { RenderedResponse, ResponseRenderer } from '../model/language.ts'
import { type Session, timeoutError } from '../model/session.ts'
import type { NamedObject } from '../model/use-recorders.ts'
import type { Attempt } from '../storage/store/attempt.ts'
import {
  StoreUnavailableError,
  type Transaction,
  type TransactionCounters,
  type TransactionOutcome,
} from '../storage/store/store-contract.ts'
import type { DatabaseId, Micros } from '../values/value.ts'
import type {
  CallerMark,
  DatabasePlace,
  QueryMetrics,
  QueryRequest,
  QueryResponse,
} from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { RateLimited } from './operation-limits.ts'
import type { RequestKind } from './request-kind.ts'
import type { RequestTime } from './request-time.ts'

const noCosts: Readonly<TransactionCounters> = { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }

/**
 * Copied from the session of an evaluation. A session and its transaction take tens of kilobytes, which the copy lets
 * the runtime free while the commit is written to disk.
 */
interface EvaluationSummary {
  readonly database: DatabaseId
  readonly snapshotTime: Micros
  readonly computeOps: number
  readonly byteReadOps: number
  readonly readBytes: number
  readonly named: readonly NamedObject[]
}

export function summarize({
  byteReadOps,
  computeOps,
  database,
  named,
  transaction,
}: Session): EvaluationSummary {
  const { counters, snapshotTime } = transaction
  return { database, snapshotTime, computeOps, byteReadOps, readBytes: counters.readBytes, named: named.list }
}

/** Known as soon as a transaction has begun. */
interface TransactionStart {
  readonly readTimestamp: Micros
}

/** Known as soon as the caller is authenticated. */
interface AuthenticatedCall extends TransactionStart {
  readonly place: DatabasePlace
  /** Caller in the format of the query log. */
  readonly caller: CallerMark
}

/**
 * The state that the latest evaluation has reached. The response to a failed query contains what was known when it
 * failed.
 */
export type Progress =
  | { readonly state: 'not begun' }
  | ({ readonly state: 'begun' } & TransactionStart)
  | ({ readonly state: 'authenticated' } & AuthenticatedCall)
  | ({ readonly state: 'evaluated'; readonly evaluation: EvaluationSummary } & AuthenticatedCall)

/** Returns undefined until the evaluation has ended. */
export function evaluationOf(progress: Progress): EvaluationSummary | undefined {
  return progress.state === 'evaluated' ? progress.evaluation : undefined
}

/** All members except `status` and `body`. */
function membersOf(
  progress: Progress,
  txnTime: Micros,
  metrics: QueryMetrics | undefined,
): Omit<QueryResponse, 'status' | 'body'> {
  const evaluation = evaluationOf(progress)
  const { caller, place } = 'place' in progress ? progress : {}
  return { txnTime, metrics, database: evaluation?.database, place, caller, named: evaluation?.named }
}

/** Creates the response to one request, from the progress of its latest evaluation. */
export class Responses {
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  readonly #language: ResponseRenderer
  readonly #budget: RequestTime
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

  succeeded(
    { counters, result, retries, time }: TransactionOutcome<RenderedResponse>,
    progress: Progress,
  ): QueryResponse {
    const evaluation = evaluationOf(progress)
    const metrics = this.#charged(this.#metrics(evaluation, counters, { retries }), evaluation)
    const body = this.#language.complete(result.body, this.#request, { time, metrics })
    const { lesson, status } = result
    return { status, body, ...(lesson !== undefined && { lesson }), ...membersOf(progress, time, metrics) }
  }

  /** Becomes valid when another process has committed `attempt`. */
  uncommitted(
    attempt: Attempt<RenderedResponse>,
    again: (transaction: Transaction) => RenderedResponse,
    progress: Progress,
  ): QueryResponse {
    const { commitTime, counters, result } = attempt
    const members = membersOf(progress, commitTime, this.#metrics(evaluationOf(progress), counters))
    return { ...result, ...members, attempt: { ...attempt, result: undefined }, again }
  }

  /** The transaction of an explanation is never committed. */
  explanation(body: string, progress: Progress): QueryResponse {
    const evaluation = evaluationOf(progress)
    assert(evaluation !== undefined, 'an explanation ends an evaluation')
    const { snapshotTime: time } = evaluation
    const metrics = this.#charged(this.#metrics(evaluation, noCosts), evaluation)
    const completed = this.#language.complete(body, this.#request, { time, metrics })
    return { status: 200, body: completed, ...membersOf(progress, time, metrics) }
  }

  /**
   * Adds the time for forwarding the request to the query time of a response from the process that commits. That
   * process has already charged the costs.
   */
  forwarded(response: QueryResponse): QueryResponse {
    const { metrics } = response
    return metrics
      ? { ...response, metrics: { ...metrics, queryTimeMs: this.#budget.elapsedMs() } }
      : response
  }

  /**
   * Adds the wait for a slow-lane process to the query time. Charges the costs unless the response has a request error.
   */
  fromSlowLane(response: QueryResponse, progress: Progress): QueryResponse {
    if (!response.metrics) return { ...response, isSlow: true }
    const metrics = { ...response.metrics, queryTimeMs: this.#budget.elapsedMs() }
    if (response.requestError === 'time out') {
      // The slow-lane process does not know the complete query time, so the response is rendered again.
      return {
        ...response,
        ...this.#language.failed(timeoutError(), this.#request, { time: response.txnTime, metrics }),
        isSlow: true,
        metrics,
      }
    }
    return {
      ...response,
      isSlow: true,
      metrics: response.requestError ? metrics : this.#charged(metrics, evaluationOf(progress)),
    }
  }

  /** Responds to a query that failed with `error`. Includes the costs if `error.reportsCosts` is true. */
  rejected(error: LanguageError, progress: Progress): QueryResponse {
    const reported = error.reportsCosts ? evaluationOf(progress) : undefined
    const costs = { ...noCosts, readBytes: reported?.readBytes ?? 0 }
    const time = this.#time(progress)
    const metrics = this.#charged(this.#metrics(reported, costs), evaluationOf(progress))
    return {
      ...this.#language.rejected(error, this.#request, { time, metrics }),
      ...membersOf(progress, time, metrics),
    }
  }

  /**
   * Responds with a request error, such as `time out`. `retries`: attempts that have conflicted with other
   * transactions.
   */
  failed(error: RequestError, progress: Progress, retries = 0): QueryResponse {
    const rateLimited = error instanceof RateLimited ? error.kinds : []
    const unmetered = error.code === 'unauthorized' || error.code === 'internal server error'
    const time = this.#time(progress)
    const metrics = unmetered
      ? undefined
      : this.#metrics(evaluationOf(progress), noCosts, { retries, rateLimited })
    return {
      ...this.#language.failed(error, this.#request, { time, metrics }),
      ...membersOf(progress, time, metrics),
      requestError: error.code,
    }
  }

  #time(progress: Progress): Micros {
    return 'readTimestamp' in progress ? progress.readTimestamp : this.#options.store.now()
  }

  /** Charges the costs to the database, if the caller was authenticated. Returns `metrics`. */
  #charged(metrics: QueryMetrics, evaluation: EvaluationSummary | undefined): QueryMetrics {
    const { rateLimits } = this.#options
    if (!this.#isCharged || !evaluation) return metrics
    const { byteReadOps: read, byteWriteOps: write, computeOps: compute } = metrics
    rateLimits.charge(evaluation.database, { compute, read, write })
    return metrics
  }

  #metrics(
    evaluation: EvaluationSummary | undefined,
    counters: Readonly<TransactionCounters>,
    { rateLimited = [], retries = 0 }: { rateLimited?: QueryMetrics['rateLimited']; retries?: number } = {},
  ): QueryMetrics {
    return {
      computeOps: evaluation?.computeOps ?? 1,
      byteReadOps: evaluation?.byteReadOps ?? 0,
      byteWriteOps: counters.writeOps,
      storageBytesRead: counters.readBytes,
      storageBytesWrite: counters.writeBytes,
      queryTimeMs: this.#budget.elapsedMs(),
      txnRetries: retries,
      rateLimited,
    }
  }
}

interface FailureLogger {
  error(fields: object, text: string): void
}

/** Minimum milliseconds between two lines about the unavailable store. */
const linesEveryMs = 5_000

/**
 * Logs failed requests. While the store is unavailable, all requests fail, so the log gets a line only every few
 * seconds.
 */
export function failureLog(log: FailureLogger, clock: Pick<Clock, 'elapsedMs'>): (error: unknown) => void {
  let loggedMs = Number.NEGATIVE_INFINITY
  let requests = 0
  return error => {
    if (!(error instanceof StoreUnavailableError)) {
      log.error({ err: error }, 'a request failed')
      return
    }
    requests++
    const nowMs = clock.elapsedMs()
    if (nowMs - loggedMs < linesEveryMs) return
    log.error({ reason: error.message, requests }, 'requests get 503: the store is not available')
    loggedMs = nowMs
    requests = 0
  }
}

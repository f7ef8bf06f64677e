// What a client gets for a request, from what its latest evaluation came to: status, body, times and costs.

import { type QueryError, type RequestError, statusOf } from '../errors.ts'
import type { Evaluation } from '../query/evaluation.ts'
import type { Attempt, TransactionCounters, TransactionOutcome } from '../store/contract.ts'
import type { Micros } from '../values/value.ts'
import { fillTransactionTime } from '../values/wire.ts'
import type { QueryMetrics, QueryResponse } from './contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { queryErrorBody, requestErrorBody } from './error-body.ts'
import { RateLimited } from './rate-limits.ts'
import type { Rendered } from './request-kind.ts'
import type { TimeBudget } from './time-budget.ts'

const noCosts: Readonly<TransactionCounters> = { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }

/** Makes the response of one request. Who evaluates keeps its fields: responses to failed queries report them too. */
export class Responses {
  /** Undefined until it is known who asks. */
  evaluation: Evaluation | undefined
  /** Names of the database of the evaluation, and of those around it. */
  databasePath: readonly string[] | undefined
  /** The time of the latest transaction. */
  settledTime: Micros | undefined
  /** Attempts that met contention. */
  contended = 0
  readonly #options: EngineOptions
  readonly #budget: TimeBudget
  readonly #isCharged: boolean

  /** `isCharged`: its costs count against the limits of its database. */
  constructor(options: EngineOptions, budget: TimeBudget, isCharged: boolean) {
    this.#options = options
    this.#budget = budget
    this.#isCharged = isCharged
  }

  succeeded({ counters, result, retries, time }: TransactionOutcome<Rendered>): QueryResponse {
    this.contended = retries
    return {
      status: result.status,
      body: fillTransactionTime(result.body, time),
      txnTime: time,
      metrics: this.#charged(this.#metrics(this.evaluation, counters)),
      database: this.evaluation?.database,
      databasePath: this.databasePath,
    }
  }

  /** Of an engine that commits nothing: what the response is once another engine has committed the attempt. */
  uncommitted(attempt: Attempt<Rendered>): QueryResponse {
    const { commitTime, counters, result } = attempt
    return {
      ...result,
      txnTime: commitTime,
      metrics: this.#metrics(this.evaluation, counters),
      database: this.evaluation?.database,
      databasePath: this.databasePath,
      attempt: { ...attempt, result: undefined },
    }
  }

  /** Of an explanation, which ends its transaction without a commit. */
  explained(body: string): QueryResponse {
    const evaluation = this.evaluation as Evaluation
    return {
      status: 200,
      body,
      txnTime: evaluation.transaction.snapshotTime,
      metrics: this.#metrics(evaluation, noCosts),
      database: this.evaluation?.database,
      databasePath: this.databasePath,
    }
  }

  /** A response of the slow lane as this request's own: its time includes the waiting, its costs are charged here. */
  fromSlowLane(response: QueryResponse): QueryResponse {
    if (!response.metrics) return { ...response, isSlow: true }
    const metrics = { ...response.metrics, queryTimeMs: this.#budget.elapsedMs() }
    return { ...response, isSlow: true, metrics: response.requestError ? metrics : this.#charged(metrics) }
  }

  /** A query that failed by its own doing. Only `abort` leaves its costs standing. */
  refused({ errors }: QueryError): QueryResponse {
    const aborted = errors[0]?.code === 'transaction aborted' ? this.evaluation : undefined
    const readBytes = aborted?.transaction.counters.readBytes ?? 0
    return {
      status: statusOf(errors),
      body: queryErrorBody(errors),
      txnTime: this.#time(),
      metrics: this.#charged(this.#metrics(aborted, { ...noCosts, readBytes })),
      database: this.evaluation?.database,
      databasePath: this.databasePath,
    }
  }

  /** A request that failed as a whole. */
  failed(error: RequestError): QueryResponse {
    const rateLimited = error instanceof RateLimited ? error.kinds : []
    const unmetered = error.code === 'unauthorized' || error.code === 'internal server error'
    return {
      status: error.status,
      body: requestErrorBody(error),
      txnTime: this.#time(),
      metrics: unmetered ? undefined : this.#metrics(this.evaluation, noCosts, rateLimited),
      database: this.evaluation?.database,
      databasePath: this.databasePath,
      requestError: error.code,
    }
  }

  #time(): Micros {
    return this.settledTime ?? this.#options.timeOfDay()
  }

  /** Takes the costs of a query that was evaluated to its end from what its database may use. */
  #charged(metrics: QueryMetrics): QueryMetrics {
    const { rateLimits } = this.#options
    if (!rateLimits || !this.#isCharged || !this.evaluation) return metrics
    const { byteReadOps: read, byteWriteOps: write, computeOps: compute } = metrics
    rateLimits.charge(this.evaluation.database, { compute, read, write })
    return metrics
  }

  #metrics(
    evaluation: Evaluation | undefined,
    counters: Readonly<TransactionCounters>,
    rateLimited: QueryMetrics['rateLimited'] = [],
  ): QueryMetrics {
    return {
      computeOps: evaluation?.computeOps ?? 1,
      byteReadOps: evaluation?.byteReadOps ?? 0,
      byteWriteOps: counters.writeOps,
      storageBytesRead: counters.readBytes,
      storageBytesWrite: counters.writeBytes,
      queryTimeMs: this.#budget.elapsedMs(),
      txnRetries: this.contended,
      rateLimited,
    }
  }
}

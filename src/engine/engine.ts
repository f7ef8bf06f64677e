// One request's life: who asks, begin a transaction, parse, evaluate, commit, render. Reads run on a
// snapshot without waiting; writes run alone, in the writing transaction. Evaluation that has to wait for
// something throws `Pending`; the request waits and evaluates again with the answer remembered.

import type { Caller, RunPredicate } from '../auth/contract.ts'
import { type Watch, watched } from '../base/effort.ts'
import type { MemoryBound } from '../base/memory-bound.ts'
import { Memo, Pending } from '../base/pending.ts'
import type { Cancel, Timers } from '../base/timers.ts'
import { QueryError, RequestError, statusOf } from '../errors.ts'
import { limits } from '../limits.ts'
import { evaluate } from '../query/evaluate.ts'
import { Evaluation, type EvaluationHost, timedOut } from '../query/evaluation.ts'
import { parse } from '../query/language.ts'
import type { ParsedQuery } from '../query/parse.ts'
import {
  type Attempt,
  ContendedTransaction,
  type Store,
  StoreUnavailableError,
  type Transaction,
  type TransactionCounters,
  type TransactionOutcome,
  WriteNeeded,
} from '../store/contract.ts'
import { DocumentValue, type Micros } from '../values/value.ts'
import { fillTransactionTime } from '../values/wire.ts'
import { bounded } from './bounded.ts'
import { authorized, ownToken, type Task } from './caller-tasks.ts'
import type {
  Engine,
  EventStream,
  Principal,
  QueryAnswer,
  QueryMetrics,
  QueryRequest,
  StreamAnswer,
} from './contract.ts'
import { contentionText, queryErrorBody, requestErrorBody, unavailableText } from './error-body.ts'
import { Explained, explain } from './explain.ts'
import { databasePath, followNames, principalOf } from './principal.ts'
import { RateLimited, type RateLimits } from './rate-limits.ts'
import { readBody, readExplainRequest } from './read-body.ts'
import { renderResource } from './render-resource.ts'
import { fixedHold, type Hold, queueOf, type SlowLane, TooLong } from './slow-lane.ts'
import { runSlowly } from './slow-run.ts'
import { readStreamFields, type StreamOpener, streamSubject } from './streaming.ts'

/** Finds out who a credential belongs to; throws `unauthorized`. Predicates of memberships run as the caller given. */
type Identify = (
  authorization: string | undefined,
  transaction: Transaction,
  memo: Memo,
  predicatesOf: (caller: Caller) => RunPredicate,
) => Caller

interface EngineOptions {
  readonly store: Store
  readonly identify: Identify
  readonly host: EvaluationHost
  /** Microseconds since the Unix epoch. */
  readonly timeOfDay: () => Micros
  /** Absent: databases may use what they like. */
  readonly rateLimits?: RateLimits
  readonly streams: StreamOpener
  readonly timers: Timers
  /** Takes over what takes long; absent: everything is evaluated here. */
  readonly slowLane?: SlowLane
  /** Bounds what all queries under way hold. */
  readonly memory?: MemoryBound
  /** This engine is one of the slow lane: commits are left to the service. */
  readonly neverCommits?: boolean
  /** Called as often as the clock is looked at; ends the evaluation by throwing a RequestError. */
  readonly onLook?: () => void
  /** Told of broken invariants and other bugs, with the request that met them. */
  readonly onInternalError: (error: unknown) => void
}

/** For {@link Store.ready}: all that was committed anywhere until now. */
const everything = Number.POSITIVE_INFINITY

/** Whether a failure depends on what was read. */
function isResult(error: unknown): boolean {
  return error instanceof QueryError || (error instanceof RequestError && error.code === 'unauthorized')
}

/** Makes the engine of an open data folder. */
export function createEngine(options: EngineOptions): Engine {
  const { store } = options
  return {
    query: request => bounded(options.memory, request, () => new RequestRun(options, request).query()),
    openStream: (request, fields) => new RequestRun(options, request).openStream(fields),
    endStreams: () => options.streams.end(),
    ownToken: request => new RequestRun(options, request).run(ownToken),
    authorized: request => new RequestRun(options, request).run(authorized),
    explain: request => new RequestRun(options, request).explain(),
    ping: async scope => {
      if (scope === 'write' || scope === 'all') await store.probe()
      else if (scope === 'read') store.read(() => null)
    },
    whoIs: authorization => whoIs(options, authorization),
    databasesAlong: names => store.read(transaction => followNames(transaction, names)).result,
    now: options.timeOfDay,
  }
}

async function whoIs(
  options: EngineOptions,
  authorization: string | undefined,
): Promise<Principal | undefined> {
  const timeoutMs = limits.queryTimeoutDefaultMs
  const request: QueryRequest = { authorization, apiVersion: '4', body: undefined, timeoutMs }
  let principal: Principal | undefined
  const { status, requestError } = await new RequestRun(options, request).run(evaluation => {
    principal = principalOf(evaluation)
    return { status: 200, body: '' }
  })
  if (status === 200 || requestError === 'unauthorized') return principal
  throw new RequestError(requestError ?? 'internal server error', 'The credential could not be checked.')
}

/** Tries of a query in the slow lane whose client named no number: others commit all the time while it is evaluated. */
const slowRetriesDefault = 4 * limits.contentionRetriesDefault

class RequestRun {
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  readonly #memo = new Memo()
  /** By the clock of {@link EvaluationHost.now}, like the deadline: the time of day may be set meanwhile. */
  readonly #started: Micros
  readonly #deadline: Micros
  readonly #watch: Watch
  /** How long the evaluation under way may hold this process; undefined: until its deadline. */
  #hold: Hold | undefined
  /** What takes long is left to the slow lane. */
  #mayLeave = false
  /** What it makes cannot come from elsewhere: it gets little time instead. */
  #isUnmovable = false
  #parsed: ParsedQuery | undefined
  #mustWrite: boolean
  /** Its costs count against the limits of its database. */
  #isQuery = false
  /** Of the latest attempt; answers of failed queries report them. */
  #evaluation: Evaluation | undefined
  #databasePath: readonly string[] | undefined
  #settledTime: Micros | undefined
  /** Attempts that met contention. */
  #contended = 0

  constructor(options: EngineOptions, request: QueryRequest) {
    this.#options = options
    this.#request = request
    this.#started = options.host.now()
    this.#deadline = this.#started + request.timeoutMs * 1000
    this.#mustWrite = request.linearized === true
    this.#watch = {
      look: () => {
        if (options.host.now() > this.#deadline) throw timedOut()
        options.onLook?.()
        if (this.#hold?.isOver()) this.#leave()
      },
      beforeLongCall: () => {
        if (this.#hold) this.#leave()
      },
    }
  }

  query(): QueryAnswer | Promise<QueryAnswer> {
    this.#isQuery = true
    const { rateLimits, slowLane } = this.#options
    const { body = '' } = this.#request
    this.#mayLeave = slowLane !== undefined
    const isLong = this.#mayLeave && body.length > limits.shortBodyUnits
    this.#mustWrite ||= !isLong && this.#willWrite()
    return this.run(evaluation => {
      rateLimits?.check(evaluation.database, { compute: 1, read: 0, write: 0 })
      if (this.#mayLeave && (isLong || this.#hold?.isOver())) throw new TooLong()
      const parsed = this.#parse()
      if (parsed.effect === 'write' && !evaluation.transaction.writable && !this.#request.readOnly) {
        throw new WriteNeeded()
      }
      const value = evaluate(parsed.expression, undefined, evaluation)
      const created = value instanceof DocumentValue && value.created
      const body = renderResource(value, evaluation)
      if (this.#request.prettyBody && body.length > limits.longBodyBytes) this.#watch.beforeLongCall()
      rateLimits?.check(evaluation.database, {
        compute: evaluation.computeOps,
        read: evaluation.byteReadOps,
        // What is written is counted at the commit; until then a query that needed a writing transaction writes.
        write: evaluation.transaction.writable && !this.#request.linearized ? 1 : 0,
      })
      return { status: created ? 201 : 200, body }
    })
  }

  /** The share of an evaluation that begins now; of whom it is, will be known later. */
  #newHold(): Hold | undefined {
    if (this.#isUnmovable) return fixedHold(this.#options.host.now)
    if (!this.#mayLeave) return undefined
    return this.#options.slowLane?.hold(queueOf(undefined, this.#request.authorization ?? ''))
  }

  /** Gives the evaluation under way up: it takes too long for this process. */
  #leave(): never {
    if (this.#isUnmovable) throw timedOut()
    this.#hold?.wasted()
    throw new TooLong()
  }

  /** Has the query evaluated in the slow lane. Never rejects. */
  async #goSlow(task: Task): Promise<QueryAnswer> {
    const { host, rateLimits, slowLane, store, timers } = this.#options
    const { authorization = '', linearized, retriesMax = slowRetriesDefault } = this.#request
    const database = this.#evaluation?.database
    // It is parsed where it is evaluated.
    this.#parsed = undefined
    try {
      const answer = await runSlowly({
        slowLane: slowLane as SlowLane,
        store,
        retriesMax,
        timers,
        job: commitNotBefore => ({
          request: { ...this.#request, ...(commitNotBefore !== undefined && { commitNotBefore }) },
          queue: queueOf(database, authorization),
          snapshotTime: this.#settledTime ?? this.#started,
          timeoutMs: Math.max(0, (this.#deadline - host.now()) / 1000),
        }),
        checkCosts: ({ attempt, metrics }) => {
          if (database === undefined || metrics === undefined) return
          const { byteReadOps: read, computeOps: compute } = metrics
          rateLimits?.check(database, { compute, read, write: attempt && !linearized ? 1 : 0 })
        },
      })
      return this.#own(answer)
    } catch (error) {
      return this.#recover(error, task)
    }
  }

  /** An answer of the slow lane as this request's own: its time includes the waiting, its costs are charged here. */
  #own(answer: QueryAnswer): QueryAnswer {
    if (!answer.metrics) return { ...answer, isSlow: true }
    const metrics = { ...answer.metrics, queryTimeMs: this.#elapsedMs() }
    return { ...answer, isSlow: true, metrics: answer.requestError ? metrics : this.#charged(metrics) }
  }

  /**
   * Whether the query is sure to need a writing transaction, so that it is not evaluated in vain without one. A fault
   * in the query shows later: who asks is found out before.
   */
  #willWrite(): boolean {
    if (this.#request.readOnly || this.#request.authorization === undefined) return false
    try {
      return watched(this.#watch, () => this.#parse()).effect === 'write'
    } catch (error) {
      if (error instanceof QueryError || error instanceof RequestError) return false
      throw error
    }
  }

  /** Evaluates the query of the body as somebody else; ends without a commit. */
  explain(): QueryAnswer | Promise<QueryAnswer> {
    this.#isUnmovable = true
    return this.run(evaluation => explain(readExplainRequest(this.#request.body), evaluation))
  }

  #explained({ body }: Explained): QueryAnswer {
    const evaluation = this.#evaluation as Evaluation
    return {
      status: 200,
      body,
      txnTime: evaluation.transaction.snapshotTime,
      metrics: this.#metrics(evaluation, { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }),
      database: evaluation.database,
      databasePath: this.#databasePath,
    }
  }

  /** The stream begins with the very snapshot on which its expression was evaluated. */
  openStream(fields: string | undefined): StreamAnswer | Promise<StreamAnswer> {
    this.#isUnmovable = true
    let stream: EventStream | undefined
    const answer = this.run(evaluation => {
      const chosen = readStreamFields(fields)
      const value = evaluate(this.#parse().expression, undefined, evaluation)
      const subject = streamSubject(value, evaluation)
      stream = this.#options.streams.open({ subject, fields: chosen, evaluation })
      return { status: 200, body: '' }
    })
    const withStream = (given: QueryAnswer) => (stream === undefined ? given : { ...given, stream })
    return answer instanceof Promise ? answer.then(withStream) : withStream(answer)
  }

  /** Runs `task` to an answer, as often as it takes. Never throws, never rejects. */
  run(task: Task): QueryAnswer | Promise<QueryAnswer> {
    if (this.#mustWrite) return this.#write(task)
    const wait = this.#options.store.ready(this.#request.lastSeenTxn ?? 0)
    return wait === undefined ? this.#read(task) : this.#readAfter(wait, task)
  }

  /** Reads once the store holds what the client has seen. */
  async #readAfter(wait: Promise<void>, task: Task): Promise<QueryAnswer> {
    try {
      await this.#inTime(wait)
    } catch (error) {
      return this.#recover(error, task)
    }
    return this.#read(task)
  }

  #read(task: Task): QueryAnswer | Promise<QueryAnswer> {
    try {
      this.#hold = this.#newHold()
      const work = (transaction: Transaction) => this.#attempt(transaction, task)
      return this.#succeeded(this.#options.store.read(work, this.#request.lastSeenTxn))
    } catch (error) {
      return this.#recover(error, task)
    }
  }

  /** `current`: resolves when this machine's state holds everything that was committed anywhere when the request came. */
  async #write(task: Task, current?: Promise<void>): Promise<QueryAnswer> {
    const work = (transaction: Transaction) => this.#attempt(transaction, task)
    const { commitNotBefore, lastSeenTxn, retriesMax } = this.#request
    const { neverCommits, store } = this.#options
    this.#hold = this.#newHold()
    try {
      const wait = current ?? (neverCommits ? undefined : store.ready(lastSeenTxn ?? 0))
      if (wait !== undefined) await this.#inTime(wait)
      if (neverCommits) return this.#uncommitted(store.attempt(work, lastSeenTxn, commitNotBefore))
      const outcome = await store.write(work, {
        ...(lastSeenTxn !== undefined && { notBefore: lastSeenTxn }),
        ...(retriesMax !== undefined && { retriesMax }),
      })
      return this.#succeeded(outcome)
    } catch (error) {
      // A commit compares what was read with the newest state; a failure has not been compared with anything.
      const isFirst = isResult(error) && current === undefined && !neverCommits
      const wait = isFirst ? store.ready(everything) : undefined
      if (wait !== undefined) return this.#write(task, wait)
      return this.#recover(error, task)
    }
  }

  #attempt(transaction: Transaction, task: Task): ReturnType<Task> {
    return watched(this.#watch, () => this.#attemptWatched(transaction, task))
  }

  #attemptWatched(transaction: Transaction, task: Task): ReturnType<Task> {
    const { host, identify } = this.#options
    this.#settledTime = transaction.settledTime
    const evaluationFor = (caller: Caller) =>
      new Evaluation({
        host,
        transaction,
        caller,
        address: this.#request.address,
        apiVersion: this.#request.apiVersion,
        memo: this.#memo,
        deadline: this.#deadline,
        ...(this.#request.readOnly && { effectLimit: 'read', effectPlace: this.#request.readOnly }),
      })
    this.#evaluation = undefined
    this.#databasePath = undefined
    this.#memo.begin()
    const predicatesOf =
      (caller: Caller): RunPredicate =>
      (predicate, argument) =>
        host.runPredicate(evaluationFor(caller), predicate, argument)
    const caller = identify(this.#request.authorization, transaction, this.#memo, predicatesOf)
    // What it takes to know the caller is not the query's to pay.
    transaction.counters.readBytes = 0
    this.#evaluation = evaluationFor(caller)
    this.#databasePath = databasePath(transaction, caller.database)
    if (this.#hold && this.#mayLeave) this.#hold = this.#options.slowLane?.hold(queueOf(caller.database, ''))
    return task(this.#evaluation)
  }

  /** Of an engine that commits nothing: what the answer is once somebody else has. */
  #uncommitted(attempt: Attempt<ReturnType<Task>>): QueryAnswer {
    const { counters, result, commitTime } = attempt
    return {
      ...result,
      txnTime: commitTime,
      metrics: this.#metrics(this.#evaluation, counters),
      database: this.#evaluation?.database,
      databasePath: this.#databasePath,
      attempt: { ...attempt, result: undefined },
    }
  }

  #parse(): ParsedQuery {
    this.#parsed ??= parse(readBody(this.#request.body), this.#request.apiVersion)
    return this.#parsed
  }

  /** Goes on after an attempt that did not end in an answer, or answers its failure. */
  #recover(error: unknown, task: Task): QueryAnswer | Promise<QueryAnswer> {
    if (error instanceof Pending) return this.#waitFor(error, task)
    if (error instanceof TooLong) return this.#goSlow(task)
    if (error instanceof WriteNeeded) {
      this.#mustWrite = true
      return this.#write(task)
    }
    if (error instanceof ContendedTransaction) {
      this.#contended = error.attempts
      return this.#failed(new RequestError('contended transaction', contentionText))
    }
    if (error instanceof Explained) return this.#explained(error)
    if (error instanceof QueryError) return this.#refused(error)
    if (error instanceof RequestError) return this.#failed(error)
    if (error instanceof StoreUnavailableError) {
      this.#options.onInternalError(error)
      return this.#failed(new RequestError('service unavailable', unavailableText[error.outcome]))
    }
    if (isStackExhaustion(error)) {
      const description = `Call stack reached the maximum limit of ${limits.callDepthMax}.`
      return this.#refused(QueryError.of('stack overflow', description, []))
    }
    this.#options.onInternalError(error)
    return this.#failed(new RequestError('internal server error', 'The service met an internal error.'))
  }

  async #waitFor(pending: Pending, task: Task): Promise<QueryAnswer> {
    try {
      await this.#inTime(this.#memo.settle(pending))
    } catch (error) {
      return this.#recover(error, task)
    }
    return this.run(task)
  }

  /** Waits for `work`, but not past the time of the query. */
  async #inTime(work: Promise<void>): Promise<void> {
    const { host, timers } = this.#options
    let cancel: Cancel | undefined
    const late = new Promise<never>((_, reject) => {
      const refuse = () => reject(new RequestError('time out', 'Read timed out.'))
      cancel = timers.after(Math.max(0, this.#deadline - host.now()) / 1000, refuse)
    })
    try {
      await Promise.race([work, late])
    } finally {
      cancel?.()
    }
  }

  #succeeded(outcome: TransactionOutcome<ReturnType<Task>>): QueryAnswer {
    const { result, time, counters, retries } = outcome
    this.#contended = retries
    return {
      status: result.status,
      body: fillTransactionTime(result.body, time),
      txnTime: time,
      metrics: this.#charged(this.#metrics(this.#evaluation, counters)),
      database: this.#evaluation?.database,
      databasePath: this.#databasePath,
    }
  }

  /** A query that failed by its own doing. Only `abort` leaves its costs standing. */
  #refused({ errors }: QueryError): QueryAnswer {
    const aborted = errors[0]?.code === 'transaction aborted' ? this.#evaluation : undefined
    const readBytes = aborted?.transaction.counters.readBytes ?? 0
    return {
      status: statusOf(errors),
      body: queryErrorBody(errors),
      txnTime: this.#settledTime ?? this.#options.timeOfDay(),
      metrics: this.#charged(
        this.#metrics(aborted, { readBytes, writeBytes: 0, writeOps: 0, indexUnits: 0 }),
      ),
      database: this.#evaluation?.database,
      databasePath: this.#databasePath,
    }
  }

  /** A request that failed as a whole. */
  #failed(error: RequestError): QueryAnswer {
    const rateLimited = error instanceof RateLimited ? error.kinds : []
    const unmetered = error.code === 'unauthorized' || error.code === 'internal server error'
    const counters = { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 }
    return {
      status: error.status,
      body: requestErrorBody(error),
      txnTime: this.#settledTime ?? this.#options.timeOfDay(),
      metrics: unmetered ? undefined : this.#metrics(this.#evaluation, counters, rateLimited),
      database: this.#evaluation?.database,
      databasePath: this.#databasePath,
      requestError: error.code,
    }
  }

  /** Takes the costs of a query that was evaluated to its end from what its database may use. */
  #charged(metrics: QueryMetrics): QueryMetrics {
    const { rateLimits } = this.#options
    if (!rateLimits || !this.#isQuery || !this.#evaluation) return metrics
    const { byteReadOps: read, byteWriteOps: write, computeOps: compute } = metrics
    rateLimits.charge(this.#evaluation.database, { compute, read, write })
    return metrics
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round((this.#options.host.now() - this.#started) / 1000))
  }

  #metrics(
    evaluation: Evaluation | undefined,
    counters: TransactionCounters,
    rateLimited: QueryMetrics['rateLimited'] = [],
  ): QueryMetrics {
    return {
      computeOps: evaluation?.computeOps ?? 1,
      byteReadOps: evaluation?.byteReadOps ?? 0,
      byteWriteOps: counters.writeOps,
      storageBytesRead: counters.readBytes,
      storageBytesWrite: counters.writeBytes,
      queryTimeMs: this.#elapsedMs(),
      txnRetries: this.#contended,
      rateLimited,
    }
  }
}

/** The runtime's own stack ran out: deep nesting that the counted limits let through. */
function isStackExhaustion(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded'
}

// Runs a request: begins a transaction, authenticates the caller, evaluates the query and commits. Repeats these steps
// if the evaluation has to wait (`Pending`), has to write, needs a newer snapshot, or takes too long for this process.

import type { Arrival, FairTurns } from '../base/admission/fair-turns.ts'
import { assert } from '../base/assert.ts'
import { isStackExhaustion } from '../base/catch-error.ts'
import { withWatch } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { epoch } from '../base/micros.ts'
import { Memo, Pending } from '../base/pending.ts'
import { RequestError } from '../base/request-errors.ts'
import { wait } from '../base/timers.ts'
import type { Caller, RunPredicate } from '../model/auth/access-contract.ts'
import { LanguageError } from '../model/failure.ts'
import type { Language, RenderedResponse } from '../model/language.ts'
import { Session } from '../model/session.ts'
import {
  ContendedTransaction,
  SnapshotTooEarly,
  type Transaction,
  WriteNeeded,
} from '../storage/store/store-contract.ts'
import { budgetOwnerOf, markOf, placeOf } from './callers.ts'
import type { QueryRequest, QueryResponse, ResponseOrPromise } from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { ExplanationResult } from './explain-query.ts'
import type { RequestKind } from './request-kind.ts'
import { evaluationOf, type Progress, Responses, summarize } from './responses.ts'
import { queueOf, type SlowLane, SlowLaneNeeded } from './slow-lane-contract.ts'
import { runSlowly } from './slow-run.ts'
import { storeFailure } from './store-failures.ts'

/** An argument of {@link Store.ready}: wait for all commits that any machine has made up to now. */
const everything = Number.POSITIVE_INFINITY

/**
 * Retries of a query in the slow lane, if the client sets no maximum. Many other transactions commit during a long
 * evaluation.
 */
const slowRetriesDefault = 4 * limits.contentionRetriesDefault

/** Milliseconds before a read is retried whose snapshot is older than the request's `lastSeenTxn`. */
const snapshotRetryMs = 1

export function languageOf({ languages }: EngineOptions, { language: name }: QueryRequest): Language {
  const language = languages[name]
  assert(language !== undefined, 'a request is in a language that the service speaks')
  return language
}

/** Never throws, never rejects. */
export function runRequest(
  options: EngineOptions,
  request: QueryRequest,
  kind: RequestKind,
): ResponseOrPromise {
  return new RequestRun(options, request, kind).begin()
}

class RequestRun {
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  readonly #kind: RequestKind
  readonly #memo = new Memo()
  readonly #responses: Responses
  #progress: Progress = { state: 'not begun' }
  readonly #arrival: Arrival
  /**
   * The owner to which {@link FairTurns} charges the time of this request: the caller's database. Undefined until the
   * caller is authenticated; the client's address is charged until then.
   */
  #owner: string | undefined
  #mustWrite = false
  #hasRefreshed = false
  /** True if the refresh (see {@link #refreshFor}) was charged to the client's address. */
  #isRefreshCharged = false

  constructor(options: EngineOptions, request: QueryRequest, kind: RequestKind) {
    this.#options = options
    this.#request = request
    this.#kind = kind
    this.#responses = new Responses(options, request, languageOf(options, request), kind)
    this.#arrival = { credential: request.authorization ?? '', address: kind.budget.ticket.owner }
  }

  begin(): ResponseOrPromise {
    const { turns } = this.#options
    return turns?.mustWait(this.#arrival) === true ? this.#beginLater(turns) : this.#prepareAndRun()
  }

  #beginLater(turns: FairTurns): Promise<QueryResponse> {
    const { ticket } = this.#kind.budget
    return new Promise(resolve => {
      let end: (() => void) | undefined
      const leave = turns.wait(this.#arrival, () => {
        end?.()
        resolve(this.#prepareAndRun())
      })
      end = ticket.begin(cause => {
        leave()
        resolve(this.#recover(ticket.errorOf(cause)))
      })
    })
  }

  #prepareAndRun(): ResponseOrPromise {
    if (this.#kind.prepare) this.#measure(() => this.#kind.prepare?.())
    // In a worker, `kind.mustWrite` is true for linearized queries, and the worker forwards them to the committing
    // process. The worker runs other linearized requests itself, on a snapshot that contains every acknowledged commit.
    const isLinearized = this.#request.linearized === true && this.#options.forward === undefined
    this.#mustWrite = this.#kind.mustWrite === true || isLinearized
    return this.#run()
  }

  #measure<T>(work: () => T): T {
    const { turns } = this.#options
    return turns === undefined ? work() : turns.measure(this.#arrival, () => this.#owner, work)
  }

  #run(): ResponseOrPromise {
    if (this.#mustWrite) return this.#write()
    const wait = this.#options.store.ready(this.#request.lastSeenTxn ?? 0, { isLater: true })
    return wait === undefined ? this.#read() : this.#readAfter(wait)
  }

  /** Waits until the store contains the commits that the read needs. */
  async #readAfter(wait: Promise<void>): Promise<QueryResponse> {
    try {
      await this.#kind.budget.wait(wait)
    } catch (error) {
      return this.#recover(error)
    }
    return this.#read()
  }

  #read(): ResponseOrPromise {
    try {
      const outcome = this.#options.store.read(this.#work, this.#request.lastSeenTxn ?? epoch)
      return this.#responses.succeeded(outcome, this.#progress)
    } catch (error) {
      const wait = isUnauthorized(error) ? this.#refreshFor(error) : undefined
      // A failed refresh leaves open whether the secret is valid. The response is then 503 instead of 401, so that a
      // client does not discard a new secret.
      return wait === undefined ? this.#recover(error) : this.#readAfter(wait)
    }
  }

  /** Never rejects. */
  async #forward(forward: NonNullable<EngineOptions['forward']>): Promise<QueryResponse> {
    const { budget } = this.#kind
    budget.end()
    try {
      const response = await forward({ ...this.#request, timeoutMs: budget.remainingMs() }, budget.ticket)
      return this.#responses.forwarded(response)
    } catch (error) {
      return this.#recover(error)
    }
  }

  /** `current`: the promise of {@link #refreshFor}, for which the write waits. */
  async #write(current?: Promise<void>): Promise<QueryResponse> {
    const { lastSeenTxn, retriesMax, stampTime } = this.#request
    const { forward, neverCommits, store } = this.#options
    const { budget } = this.#kind
    if (forward) return this.#forward(forward)
    try {
      // The commit validates the read set against the newest state, so a write can read any snapshot that is not older
      // than `lastSeenTxn`.
      const needsNoWait = neverCommits || lastSeenTxn === undefined
      const wait = current ?? (needsNoWait ? undefined : store.ready(lastSeenTxn))
      if (wait !== undefined) await budget.wait(wait)
      if (neverCommits) {
        const attempt = store.attempt(this.#work, lastSeenTxn, stampTime)
        return this.#responses.uncommitted(attempt, this.#work, this.#progress)
      }
      const outcome = await store.write(this.#work, {
        ...(lastSeenTxn !== undefined && { lastSeen: lastSeenTxn }),
        ...(retriesMax !== undefined && { retriesMax }),
        memoryOwner: () => budget.ticket.owner,
      })
      return this.#responses.succeeded(outcome, this.#progress)
    } catch (error) {
      // A failed query does not commit, so its reads are not validated and may have been stale.
      const isResult = error instanceof LanguageError || isUnauthorized(error)
      const wait = isResult ? this.#refreshFor(error) : undefined
      return wait === undefined ? this.#recover(error) : this.#write(wait)
    }
  }

  /**
   * Fetches all commits of other machines after a failure, because one of them may make the request succeed. The caller
   * evaluates the query again after the promise resolves. Returns undefined for the second failure of a request, and in
   * a slow-lane process. For an unauthorized request, also returns undefined if the client's address has used up its
   * limit, so that unauthenticated clients cannot control how often this machine queries the store.
   */
  #refreshFor(error: unknown): Promise<void> | undefined {
    const { neverCommits, unknownSecrets, store } = this.#options
    const { address = '' } = this.#request
    if (this.#hasRefreshed || neverCommits) return undefined
    this.#hasRefreshed = true
    if (!isUnauthorized(error)) return store.ready(everything)
    this.#isRefreshCharged = unknownSecrets?.take(address, 1) ?? false
    return this.#isRefreshCharged ? store.ready(everything) : undefined
  }

  /** Never rejects. */
  async #moveToSlowLane(): Promise<QueryResponse> {
    const { forward, rateLimits, slowLane, store, timers } = this.#options
    const { authorization = '', linearized, retriesMax } = this.#request
    const { budget } = this.#kind
    const progress = this.#progress
    const database = evaluationOf(progress)?.database
    const queue = queueOf(database, authorization)
    budget.end()
    this.#kind.onMove?.()
    try {
      const response = await runSlowly({
        slowLane: slowLane as SlowLane,
        store,
        commitsElsewhere: forward !== undefined,
        retriesMax: retriesMax ?? slowRetriesDefault,
        // The lock is the writer lock of the store. If the client sets a maximum, no evaluation holds the lock.
        ...(retriesMax === undefined && { retriesBeforeLock: limits.contentionRetriesDefault }),
        timers,
        job: commitLeadMicros => ({
          request: this.#request,
          queue,
          ticket: budget.ticket,
          snapshotTime: 'readTimestamp' in progress ? progress.readTimestamp : epoch,
          timeoutMs: budget.remainingMs(),
          now: () => store.now(),
          commitLeadMicros,
        }),
        requireInTime: () => budget.requireInTime(),
        checkCosts: ({ metrics }, writes) => {
          if (database === undefined || metrics === undefined) return
          const { byteReadOps: read, computeOps: compute } = metrics
          rateLimits.check(database, { compute, read, write: writes && !linearized ? 1 : 0 })
        },
      })
      // The slow-lane process has done long work, such as a type check. This process remembers the result, so that it
      // does not do the same work for the next request with the same query.
      if (response.lesson !== undefined) languageOf(this.#options, this.#request).learn?.(response.lesson)
      this.#kind.onEvaluatedInSlowLane?.(queue, response.metrics?.queryTimeMs ?? 0)
      return this.#responses.fromSlowLane(response, progress)
    } catch (error) {
      return this.#recover(error)
    }
  }

  /**
   * Retries a read whose snapshot time would not be later than the client's `lastSeenTxn`. New snapshots must be
   * earlier than all commits in progress, so their times increase when these commits end.
   */
  async #readLater(): Promise<QueryResponse> {
    try {
      await this.#kind.budget.wait(wait(snapshotRetryMs, this.#options.timers))
    } catch (error) {
      return this.#recover(error)
    }
    return this.#run()
  }

  /**
   * If `pending` checks a password, a worker forwards the request, because the committing process limits the failed
   * password checks of all workers. That process then runs the complete query, so that a query with writes checks the
   * password only once.
   */
  #waitOrForward(pending: Pending): Promise<QueryResponse> {
    const { forward } = this.#options
    const isForwarded = forward !== undefined && pending.isLimited && this.#kind.isForwardable
    return isForwarded ? this.#forward(forward) : this.#waitFor(pending)
  }

  async #waitFor(pending: Pending): Promise<QueryResponse> {
    try {
      await this.#kind.budget.wait(this.#memo.resolve(pending))
    } catch (error) {
      return this.#recover(error)
    }
    return this.#run()
  }

  readonly #work = (transaction: Transaction): RenderedResponse =>
    this.#measure(() => withWatch(this.#kind.budget.watch, () => this.#evaluate(transaction)))

  #evaluate(transaction: Transaction): RenderedResponse {
    const { identifier } = this.#options
    const { budget } = this.#kind
    budget.begin()
    const begun = { readTimestamp: transaction.readTimestamp }
    this.#progress = { state: 'begun', ...begun }
    this.#memo.begin()
    const predicatesOf =
      (caller: Caller): RunPredicate =>
      (predicate, argument, about) =>
        this.#sessionFor(caller, transaction).decides(predicate, argument, about)
    const caller = identifier.identify(this.#request.authorization, transaction, this.#memo, predicatesOf)
    if (this.#isRefreshCharged) {
      // The credential was found after the refresh, so the charge to the address is reversed.
      this.#isRefreshCharged = false
      this.#options.unknownSecrets?.take(this.#request.address ?? '', -1)
    }
    // The costs of authentication are not charged to the query.
    transaction.counters.readBytes = 0
    const session = this.#sessionFor(caller, transaction)
    const place = placeOf(transaction, caller.database)
    const authenticated = { ...begun, place, caller: markOf(caller) }
    this.#progress = { state: 'authenticated', ...authenticated }
    this.#owner = queueOf(caller.database)
    budget.countFor(this.#owner)
    budget.ticket.regroup(budgetOwnerOf(caller, this.#request.address))
    try {
      const rendered = this.#kind.task(session)
      // The last check of the deadline: after this line, only the store determines whether the request succeeds.
      budget.requireInTime()
      budget.end()
      return rendered
    } catch (error) {
      if (error instanceof LanguageError) budget.requireInTime()
      throw error
    } finally {
      this.#progress = { state: 'evaluated', ...authenticated, evaluation: summarize(session) }
    }
  }

  #sessionFor(caller: Caller, transaction: Transaction): Session {
    const { address, dialect, readOnlyPlace } = this.#request
    return new Session({
      host: this.#options.host,
      transaction,
      caller,
      address,
      dialect,
      accessOptions: languageOf(this.#options, this.#request).accessOptions,
      memo: this.#memo,
      deadline: this.#kind.budget.deadline,
      ...(readOnlyPlace && { effectLimit: 'read', effectPlace: readOnlyPlace }),
    })
  }

  /** Ends the time measurement of a failed request. */
  #ended(response: QueryResponse): QueryResponse {
    this.#kind.budget.end()
    return response
  }

  /** Continues the request after an evaluation threw `error`, or returns the response to the failed request. */
  #recover(error: unknown): ResponseOrPromise {
    if (error instanceof Pending) return this.#waitOrForward(error)
    if (error instanceof SlowLaneNeeded) return this.#moveToSlowLane()
    if (error instanceof SnapshotTooEarly) return this.#readLater()
    if (error instanceof WriteNeeded) {
      this.#mustWrite = true
      return this.#write()
    }
    if (error instanceof ExplanationResult) return this.#responses.explanation(error.body, this.#progress)
    if (error instanceof LanguageError) return this.#ended(this.#responses.rejected(error, this.#progress))
    if (error instanceof RequestError) {
      // Version 10 reports an invalid body even to clients without a valid credential.
      const fault = error.code === 'unauthorized' ? this.#kind.publicFault?.() : undefined
      return this.#ended(this.#responses.failed(fault ?? error, this.#progress))
    }
    if (error instanceof ContendedTransaction) {
      return this.#responses.failed(storeFailure(error) as RequestError, this.#progress, error.attempts)
    }
    if (isStackExhaustion(error)) {
      // The stack of a slow-lane process is large enough for every query within the limits of the language.
      if (this.#kind.budget.mayMove) return this.#moveToSlowLane()
      return this.#responses.rejected(
        languageOf(this.#options, this.#request).stackOverflow(),
        this.#progress,
      )
    }
    this.#options.onInternalError(error)
    const failure =
      storeFailure(error) ??
      new RequestError('internal server error', msg`The service met an internal error.`)
    return this.#responses.failed(failure, this.#progress)
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof RequestError && error.code === 'unauthorized'
}

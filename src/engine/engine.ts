// Creates the engine, and defines its kinds of requests. Each kind has a task and a time budget. `request-run.ts`
// contains the steps that all kinds have in common, from the credential to the response. Long requests move to the slow
// lane: processes that evaluate long queries (slow-lane-contract.ts).

import { MemoryBudget } from '../base/admission/memory-budget.ts'
import { megabyte } from '../base/bytes.ts'
import { watched } from '../base/effort.ts'
import { jsonText } from '../base/json-encoding.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { LanguageError } from '../model/failure.ts'
import type { Language, Query, RenderedResponse } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import { viewDocument } from '../model/view-document.ts'
import { WriteNeeded } from '../storage/store/store-contract.ts'
import { encodeGlobalId } from '../values/names.ts'
import { type DatabaseId, native, Ref } from '../values/value.ts'
import { followNames, namedCaller, principalOf } from './callers.ts'
import type {
  Engine,
  EventStream,
  Principal,
  QueryRequest,
  QueryResponse,
  StreamResponse,
} from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { explain } from './explain-query.ts'
import type { Costs } from './operation-limits.ts'
import type { RequestKind, Task } from './request-kind.ts'
import { languageOf, runRequest } from './request-run.ts'
import { RequestTime } from './request-time.ts'
import { Responses } from './responses.ts'
import { queueOf, TooLong } from './slow-lane-contract.ts'
import { collectionSize, indexSize } from './stored-size.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const engineLimits = {
  /** Milliseconds after which reading one page of a stream fails; own limit. */
  streamPageMs: 60_000,
} as const

// The memory of running queries is limited. The memory of a query is estimated from the length of its text. A query
// that would exceed the limit is rejected.

/** Estimated bytes of a query in addition to its text: the request, its promises, its response. */
const bytesPerQuery = 8192
/** Estimated bytes for each UTF-16 code unit of a query's text: the text and the parsed expression. */
const bytesPerUnit = 16
/**
 * Estimated bytes for each byte of a long body ({@link QueryRequest.longBody}). This process sends a long body to the
 * slow lane without parsing the body. If there is no slow lane, this process decodes the body to a text.
 */
const bytesPerLongByte = 4

/** Creates the memory limit for all running queries of a process. */
export function queryMemory(maxMb: number): MemoryBudget {
  const text = msg`Queries under way take too much memory together. Max: ${maxMb} MB.`
  return new MemoryBudget({
    max: maxMb * megabyte,
    refusal: () => new RequestError('too many requests', text),
  })
}

/**
 * Runs a query within the limit of `memory`. A query that would exceed the limit gets a response with status 429. No
 * error is thrown, because the query may have been forwarded by another process.
 */
function bounded(
  options: EngineOptions,
  request: QueryRequest,
  run: () => QueryResponse | Promise<QueryResponse>,
): QueryResponse | Promise<QueryResponse> {
  const { body = '', longBody } = request
  const longBytes = longBody?.length ?? 0
  let release: () => void
  try {
    release = options.memory.reserve(
      bytesPerQuery + body.length * bytesPerUnit + longBytes * bytesPerLongByte,
    )
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const budget = new RequestTime(options, request, 'goes on')
    return new Responses(options, request, languageOf(options, request), { budget }).failed(error, {
      state: 'parsed',
    })
  }
  const response = run()
  if (response instanceof Promise) return response.finally(release)
  release()
  return response
}

/** Creates the engine of an open store. */
export function createEngine(options: EngineOptions): Engine {
  const { store } = options
  const runTask = (request: QueryRequest, task: Task) => {
    const budget = new RequestTime(options, request, 'goes on')
    return runRequest(options, request, { task, budget })
  }
  return {
    query: request => bounded(options, request, () => runQuery(options, request)),
    openStream: (request, fields) => openStream(options, request, fields),
    endStreams: () => options.streams.end(),
    ownToken: request => runTask(request, ownToken(languageOf(options, request))),
    authorized: request => runTask(request, authorized),
    explain: request => bounded(options, request, () => runExplanation(options, request)),
    indexSize: request => bounded(options, request, () => runSize(options, request, indexSize)),
    collectionSize: request => bounded(options, request, () => runSize(options, request, collectionSize)),
    ping: async scope => {
      if (scope === 'write' || scope === 'all') await store.probe()
      else if (scope === 'read') store.read(() => null)
    },
    whoIs: async authorization => {
      const timeoutMs = limits.queryTimeoutDefaultMs
      const request: QueryRequest = {
        authorization,
        language: '4',
        dialect: '4',
        body: undefined,
        timeoutMs,
      }
      let principal: Principal | undefined
      const { status, requestError } = await runTask(request, session => {
        principal = principalOf(session)
        return { status: 200, body: '' }
      })
      if (status === 200 || requestError === 'unauthorized') return principal
      throw new RequestError(
        requestError ?? 'internal server error',
        msg`The credential could not be checked.`,
      )
    },
    nameOf: (caller, database) =>
      store.read(transaction => namedCaller(caller, database, transaction)).result,
    databasesAlong: names => store.read(transaction => followNames(transaction, names)).result,
    completed: (request, { body, metrics }, time) =>
      languageOf(options, request).complete(body, request, { time, metrics }),
    exhausted: database => options.rateLimits.exhausted(database),
    charge: (database, costs) => options.rateLimits.charge(database, costs),
    now: () => store.now(),
  }
}

/** Returns the document of the caller's token. */
const ownToken =
  (language: Language): Task =>
  session => {
    const { credential } = session.caller
    const isToken = credential instanceof Ref && credential.collection === native.tokens
    const version = isToken ? session.transaction.get(credential) : undefined
    if (!version) throw new RequestError('not found', msg`Not Found`)
    return language.render(viewDocument(version, session), session)
  }

/** Returns the account and database of a credential. */
const authorized: Task = ({ database }) => ({
  status: 200,
  body: JSON.stringify({ account: '0', global_id: encodeGlobalId(database) }),
})

function runQuery(options: EngineOptions, given: QueryRequest): QueryResponse | Promise<QueryResponse> {
  const request = options.slowLane === undefined ? withText(given) : given
  return runRequest(options, request, new QueryKind(options, request))
}

/** Returns the request with its query as text: a long body is decoded. */
function withText(request: QueryRequest): QueryRequest {
  const { longBody, ...rest } = request
  return longBody === undefined ? request : { ...rest, body: jsonText(longBody.joined()) }
}

/** A query. The text is parsed when the parsed query is first needed. */
class QueryKind implements RequestKind {
  readonly budget: RequestTime
  readonly isCharged = true
  readonly isForwardable = true
  readonly mustWrite: boolean
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  readonly #isLong: boolean
  /** True if the previous evaluation of the query took long. */
  readonly #wasLong: boolean
  #parsed: Query | undefined

  constructor(options: EngineOptions, request: QueryRequest) {
    this.#options = options
    this.#request = request
    this.budget = new RequestTime(options, request, 'moves')
    this.#wasLong = options.slowLane?.longQueries.has(request) === true
    const effect = this.#effect()
    this.#isLong = effect === 'long'
    this.mustWrite = effect === 'writes'
  }

  /** Classifies the query before its evaluation. Undefined: only the evaluation shows whether the query writes. */
  #effect(): 'writes' | 'long' | undefined {
    // Nearly all long bodies are writes with much data. So a process that forwards writes also forwards long bodies
    // without parsing them.
    const forwards = this.#options.forward !== undefined
    if (this.#request.longBody !== undefined) return forwards ? 'writes' : 'long'
    // A query whose previous evaluation took long moves to the slow lane without being parsed here. A process that
    // forwards writes parses the query first, to find out whether the query writes.
    return this.#wasLong && !forwards ? undefined : this.#foreseen()
  }

  task(session: Session): RenderedResponse {
    this.#options.rateLimits.check(session.database, { compute: 1, read: 0, write: 0 })
    if (this.#isLong || this.#mayBeLong(session.database) || this.budget.isUsedUp) throw new TooLong()
    return this.#evaluate(this.#query(), session)
  }

  #mayBeLong(database: DatabaseId): boolean {
    return this.#wasLong && this.#options.slowLane?.isCrowded(queueOf(database, '')) === false
  }

  faultForAnybody(): RequestError | undefined {
    return languageOf(this.#options, this.#request).faultForAnybody?.(withText(this.#request))
  }

  /** Frees the parsed query, because the process that evaluates the query parses it again. */
  onMove(): void {
    this.#parsed = undefined
    if (this.#request.longBody === undefined) this.#options.slowLane?.longQueries.add(this.#request)
  }

  onEvaluatedThere(queue: string, ms: number): void {
    this.#options.slowLane?.longQueries.evaluated(this.#request, queue, ms)
  }

  #query(): Query {
    this.#parsed ??= languageOf(this.#options, this.#request).parse(this.#request)
    return this.#parsed
  }

  /**
   * Parses a query before its evaluation. Returns `writes` if the query needs a writing transaction. Returns `long` if
   * parsing the query takes too long for this process, or if the evaluation certainly will. Otherwise, returns
   * undefined. This includes invalid queries, because their errors are reported only after authentication.
   */
  #foreseen(): 'writes' | 'long' | undefined {
    const { authorization, linearized, readOnly } = this.#request
    if (linearized) return 'writes'
    if (readOnly || authorization === undefined) return undefined
    this.budget.begin()
    try {
      const { effect, isLong } = watched(this.budget.watch, () => this.#query())
      const isWrite = effect === 'write'
      if (isLong && this.budget.mayMove && !(isWrite && this.#options.forward)) return 'long'
      return isWrite ? 'writes' : undefined
    } catch (error) {
      if (error instanceof TooLong) return 'long'
      if (error instanceof LanguageError || error instanceof RequestError) return undefined
      throw error
    }
  }

  #evaluate(query: Query, session: Session): RenderedResponse {
    const { linearized, prettyBody, readOnly } = this.#request
    const { database, transaction } = session
    if (query.effect === 'write' && !transaction.writable && !readOnly) throw new WriteNeeded()
    const rendered = query.evaluate(session)
    if (prettyBody && rendered.body.length > limits.longBodyBytes) this.budget.watch.beforeLongCall()
    this.#options.rateLimits.check(database, {
      compute: session.computeOps,
      read: session.byteReadOps,
      // Writes are counted at the commit. Before the commit, a query in a writing transaction is checked as one write.
      write: transaction.writable && !linearized ? 1 : 0,
    })
    return rendered
  }
}

/** Runs an explanation. A long explanation moves to the slow lane, like a long query. */
function runExplanation(options: EngineOptions, given: QueryRequest): QueryResponse | Promise<QueryResponse> {
  const requested = options.slowLane === undefined ? withText(given) : given
  const request = { ...requested, isExplanation: true }
  const costs = { compute: 1, read: 0, write: 0 }
  return runMovable(options, request, costs, session => explain(request, options.languages, session))
}

/**
 * Measures one page of an index or a collection. A page has a limited number of rows, so the request never moves to the
 * slow lane.
 */
function runSize(
  options: EngineOptions,
  given: QueryRequest,
  size: (request: QueryRequest) => Task,
): QueryResponse | Promise<QueryResponse> {
  const request = withText(given)
  return runRequest(options, request, {
    budget: new RequestTime(options, request, 'goes on'),
    isCharged: true,
    task: session => {
      options.rateLimits.check(session.database, { compute: 1, read: 1, write: 0 })
      return size(request)(session)
    },
  })
}

/**
 * Reads a page of an open stream. If reading the page takes long, the request moves to the slow lane. The costs are
 * charged to the database. If a rate limit is exhausted, the request is rejected before any read.
 */
function runStreamPage(
  options: EngineOptions,
  { lastSeenTxn: _, ...opening }: QueryRequest,
  body: string,
): QueryResponse | Promise<QueryResponse> {
  const pageOptions = { ...opening.options, endpoint: 'stream page' }
  const request: QueryRequest = {
    ...opening,
    body,
    options: pageOptions,
    timeoutMs: engineLimits.streamPageMs,
  }
  return runMovable(options, request, { compute: 1, read: 1, write: 0 }, session =>
    languageOf(options, request).parse(request).evaluate(session),
  )
}

/**
 * Runs a request that is not a query. The request moves to the slow lane if the evaluation takes long. `costs`: the
 * minimal costs of the request.
 */
function runMovable(
  options: EngineOptions,
  request: QueryRequest,
  costs: Costs,
  evaluate: Task,
): QueryResponse | Promise<QueryResponse> {
  const budget = new RequestTime(options, request, 'moves')
  const task: Task = session => {
    options.rateLimits.check(session.database, costs)
    if (request.longBody !== undefined || budget.isUsedUp) throw new TooLong()
    return evaluate(session)
  }
  const isForwardable = request.isExplanation === true
  return runRequest(options, request, { budget, isCharged: true, isForwardable, task })
}

/** Opens a stream. Its events begin after the snapshot on which the stream's expression is evaluated. */
function openStream(
  options: EngineOptions,
  request: QueryRequest,
  fields: string | undefined,
): StreamResponse | Promise<StreamResponse> {
  let stream: EventStream | undefined
  const response = runRequest(options, request, {
    budget: new RequestTime(options, request, 'fails'),
    task: session => {
      const order = languageOf(options, request).streamOrder(request, fields, session)
      const nextPage = (body: string) => runStreamPage(options, request, body)
      stream = options.streams.open({ order, session, nextPage })
      return { status: 200, body: '' }
    },
    faultForAnybody: () => languageOf(options, request).faultForAnybody?.(request),
  })
  const withStream = (given: QueryResponse) => (stream === undefined ? given : { ...given, stream })
  return response instanceof Promise ? response.then(withStream) : withStream(response)
}

// Creates the engine, and defines its kinds of requests, each with a task and a time budget. `request-run.ts` has the
// steps that all kinds share. Long requests move to the slow lane: processes that evaluate long queries
// (slow-lane-contract.ts).

import { Ticket } from '../base/admission/ticket.ts'
import { withWatch } from '../base/effort.ts'
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
  ResponseOrPromise,
  StreamResponse,
} from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'
import { explain } from './explain-query.ts'
import type { Costs } from './operation-limits.ts'
import { bytesOfQuery, withQueryMemory } from './query-memory.ts'
import type { RequestKind, Task } from './request-kind.ts'
import { languageOf, runRequest } from './request-run.ts'
import { RequestTime } from './request-time.ts'
import { queueOf, SlowLaneNeeded } from './slow-lane-contract.ts'
import { collectionPosition, collectionSize, indexSize, type SizeTask } from './stored-size.ts'

const engineLimits = {
  /** Milliseconds after which reading one page of a stream fails; own limit. */
  streamPageMs: 60_000,
} as const

export function createEngine(options: EngineOptions): Engine {
  const { store } = options
  const newTicket = ({ address = '' }: QueryRequest) => new Ticket(address)
  const runTask = (request: QueryRequest, ticket: Ticket, task: Task) => {
    ticket.endsWithClient = true
    const budget = new RequestTime(options, request, 'goes on', ticket)
    return runRequest(options, request, { task, budget })
  }
  const measuring =
    (size: SizeTask): Engine['indexSize'] =>
    (request, ticket = newTicket(request)) =>
      runSize(options, request, ticket, size)
  return {
    query: (request, ticket = newTicket(request)) =>
      withQueryMemory(options, request, ticket, () => runQuery(options, request, ticket)),
    openStream: (request, fields, ticket = newTicket(request)) =>
      openStream(options, request, fields, ticket),
    endStreams: () => options.streams.end(),
    ownToken: (request, ticket = newTicket(request)) =>
      runTask(request, ticket, ownToken(languageOf(options, request))),
    authorized: (request, ticket = newTicket(request)) => runTask(request, ticket, authorized),
    explain: (request, ticket = newTicket(request)) =>
      withQueryMemory(options, request, ticket, () => runExplanation(options, request, ticket)),
    indexSize: measuring(indexSize),
    collectionSize: measuring(collectionSize),
    collectionPosition: measuring(collectionPosition),
    withMemory: async (ticket, units, work) => {
      const release = ticket.hold(options.memory, bytesOfQuery(units))
      try {
        return await ticket.inSteps(work)
      } finally {
        release()
      }
    },
    ping: async checks => {
      if (checks === 'write' || checks === 'all') await store.probe()
      else if (checks === 'read') store.read(() => null)
    },
    whoIs: async (authorization, ticket = new Ticket('')) => {
      const timeoutMs = limits.queryTimeoutDefaultMs
      const request = { authorization, language: '4', dialect: '4', body: undefined, timeoutMs } as const
      let principal: Principal | undefined
      const { status, requestError } = await runTask(request, ticket, session => {
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

const ownToken =
  (language: Language): Task =>
  session => {
    const { credential } = session.caller
    const isToken = credential instanceof Ref && credential.collection === native.tokens
    const version = isToken ? session.transaction.get(credential) : undefined
    if (!version) throw new RequestError('not found', msg`Not Found`)
    return language.render(viewDocument(version, session), session)
  }

const authorized: Task = ({ database }) => ({
  status: 200,
  body: JSON.stringify({ account: '0', global_id: encodeGlobalId(database) }),
})

function runQuery(options: EngineOptions, given: QueryRequest, ticket: Ticket): ResponseOrPromise {
  const request = options.slowLane === undefined ? withText(given) : given
  return runRequest(options, request, new QueryKind(options, request, ticket))
}

/** Decodes a long body. */
function withText(request: QueryRequest): QueryRequest {
  if (request.longBody === undefined) return request
  const { longBody, ...rest } = request
  return { ...rest, body: jsonText(longBody.joined()) }
}

/** Parses the text only when the parsed query is first needed. */
class QueryKind implements RequestKind {
  readonly budget: RequestTime
  readonly isCharged = true
  readonly isForwardable = true
  mustWrite = false
  readonly #options: EngineOptions
  readonly #request: QueryRequest
  #isLong = false
  /** The previous evaluation took long. */
  #wasLong = false
  #parsed: Query | undefined

  constructor(options: EngineOptions, request: QueryRequest, ticket: Ticket) {
    this.#options = options
    this.#request = request
    this.budget = new RequestTime(options, request, 'moves', ticket)
  }

  prepare(): void {
    this.#wasLong = this.#options.slowLane?.longQueries.has(this.#request) === true
    const outcome = this.#classify()
    this.#isLong = outcome === 'long'
    this.mustWrite = outcome === 'writes'
    this.budget.ticket.endsWithClient =
      this.#request.readOnlyPlace !== undefined || this.#parsed?.onlyReads === true
  }

  /** Undefined: only the evaluation shows whether the query writes. */
  #classify(): 'writes' | 'long' | undefined {
    // Nearly all long bodies are writes with much data, so a process that forwards writes also forwards long bodies
    // without parsing them.
    const forwards = this.#options.forward !== undefined
    if (this.#request.longBody !== undefined) return forwards ? 'writes' : 'long'
    // A query that was long usually moves to the slow lane without being parsed here. A process that forwards writes
    // first parses it, to find out whether it writes.
    return this.#wasLong && !forwards ? undefined : this.#classifyByParsing()
  }

  task(session: Session): RenderedResponse {
    this.#options.rateLimits.check(session.database, { compute: 1, read: 0, write: 0 })
    if (this.#isLong || this.#movesAtOnce(session.database) || this.budget.isUsedUp)
      throw new SlowLaneNeeded()
    return this.#evaluate(this.#query(), session)
  }

  /** A query that was long is evaluated here if many queries of its database already wait for the slow lane. */
  #movesAtOnce(database: DatabaseId): boolean {
    return this.#wasLong && this.#options.slowLane?.isCrowded(queueOf(database)) === false
  }

  publicFault(): RequestError | undefined {
    return languageOf(this.#options, this.#request).publicFault?.(withText(this.#request))
  }

  /** Frees the parsed query, which the other process parses again. */
  onMove(): void {
    this.#parsed = undefined
    if (this.#request.longBody === undefined) this.#options.slowLane?.longQueries.add(this.#request)
  }

  onEvaluatedInSlowLane(queue: string, ms: number): void {
    this.#options.slowLane?.longQueries.evaluated(this.#request, queue, ms)
  }

  #query(): Query {
    this.#parsed ??= languageOf(this.#options, this.#request).parse(this.#request)
    return this.#parsed
  }

  /**
   * Parses a query before its evaluation. `writes`: it needs a writing transaction. `long`: parsing takes too long for
   * this process, or the evaluation certainly will. Returns undefined for all others, including invalid queries,
   * because their errors are reported only after authentication.
   */
  #classifyByParsing(): 'writes' | 'long' | undefined {
    const { authorization, linearized, readOnlyPlace } = this.#request
    if (linearized) return 'writes'
    if (readOnlyPlace || authorization === undefined) return undefined
    this.budget.begin()
    try {
      const { effect, isLong } = withWatch(this.budget.watch, () => this.#query())
      const isWrite = effect === 'write'
      if (isLong && this.budget.mayMove && !(isWrite && this.#options.forward)) return 'long'
      return isWrite ? 'writes' : undefined
    } catch (error) {
      if (error instanceof SlowLaneNeeded) return 'long'
      if (error instanceof LanguageError || error instanceof RequestError) return undefined
      throw error
    }
  }

  #evaluate(query: Query, session: Session): RenderedResponse {
    const { linearized, prettyBody, readOnlyPlace } = this.#request
    const { database, transaction } = session
    if (query.effect === 'write' && !transaction.writable && !readOnlyPlace) throw new WriteNeeded()
    const rendered = query.evaluate(session)
    // The slow lane indents long bodies.
    if (prettyBody && rendered.body.length > limits.longBodyBytes) this.budget.watch.beforeLongCall()
    this.#options.rateLimits.check(database, {
      compute: session.computeOps,
      read: session.byteReadOps,
      // Write operations are counted at the commit. Before, a query in a writing transaction is checked as one write.
      write: transaction.writable && !linearized ? 1 : 0,
    })
    return rendered
  }
}

/** Moves to the slow lane if it takes long, like a query. */
function runExplanation(options: EngineOptions, given: QueryRequest, ticket: Ticket): ResponseOrPromise {
  const requested = options.slowLane === undefined ? withText(given) : given
  const request = { ...requested, isExplanation: true }
  const costs = { compute: 1, read: 0, write: 0 }
  return runMovable(options, request, ticket, costs, session => explain(request, options.languages, session))
}

/** A page has a limited number of rows, so the request never moves to the slow lane. */
function runSize(
  options: EngineOptions,
  given: QueryRequest,
  ticket: Ticket,
  size: SizeTask,
): ResponseOrPromise {
  const request = withText(given)
  ticket.endsWithClient = true
  const budget = new RequestTime(options, request, 'goes on', ticket)
  const task: Task = session => {
    options.rateLimits.check(session.database, { compute: 1, read: 1, write: 0 })
    return size(request, session)
  }
  return withQueryMemory(options, given, ticket, () =>
    runRequest(options, request, { budget, isCharged: true, task }),
  )
}

/**
 * Reads a page of an open stream; a long read moves to the slow lane. The costs are charged to the database. With an
 * exhausted rate limit, the request is rejected before any read.
 */
function runStreamPage(
  options: EngineOptions,
  { lastSeenTxn: _, ...opening }: QueryRequest,
  body: string,
): ResponseOrPromise {
  const pageOptions = { ...opening.options, endpoint: 'stream page' }
  const request: QueryRequest = {
    ...opening,
    body,
    options: pageOptions,
    timeoutMs: engineLimits.streamPageMs,
  }
  const ticket = new Ticket(request.address ?? '')
  return runMovable(options, request, ticket, { compute: 1, read: 1, write: 0 }, session =>
    languageOf(options, request).parse(request).evaluate(session),
  )
}

/**
 * Runs a request that is no query, and moves it to the slow lane if it takes long. `costs`: the minimal costs of the
 * request.
 */
function runMovable(
  options: EngineOptions,
  request: QueryRequest,
  ticket: Ticket,
  costs: Costs,
  evaluate: Task,
): ResponseOrPromise {
  ticket.endsWithClient = true
  const budget = new RequestTime(options, request, 'moves', ticket)
  const task: Task = session => {
    options.rateLimits.check(session.database, costs)
    if (request.longBody !== undefined || budget.isUsedUp) throw new SlowLaneNeeded()
    return evaluate(session)
  }
  const isForwardable = request.isExplanation === true
  return runRequest(options, request, { budget, isCharged: true, isForwardable, task })
}

/** Events begin after the snapshot on which the stream's expression is evaluated. */
function openStream(
  options: EngineOptions,
  request: QueryRequest,
  fields: string | undefined,
  ticket: Ticket,
): StreamResponse | Promise<StreamResponse> {
  ticket.endsWithClient = true
  let stream: EventStream | undefined
  const response = runRequest(options, request, {
    budget: new RequestTime(options, request, 'fails', ticket),
    task: session => {
      const order = languageOf(options, request).streamOrder(request, fields, session)
      const nextPage = (body: string) => runStreamPage(options, request, body)
      stream = options.streams.open({ address: request.address, order, session, nextPage })
      return { status: 200, body: '' }
    },
    publicFault: () => languageOf(options, request).publicFault?.(request),
  })
  const withStream = (given: QueryResponse) => (stream === undefined ? given : { ...given, stream })
  return response instanceof Promise ? response.then(withStream) : withStream(response)
}

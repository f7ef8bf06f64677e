// Combines the parts of version 10 into the `Language` that the engine, stored code and the query log use.

import { catchError } from '../base/catch-error.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { epoch } from '../base/micros.ts'
import { RequestError } from '../base/request-errors.ts'
import { LanguageError } from '../model/failure.ts'
import type { LanguageRequest, NamedLanguage, Query, RenderedResponse } from '../model/language.ts'
import { isStaged } from '../model/schema/schema-files.ts'
import type { Session } from '../model/session.ts'
import type { Micros, Value as Stored } from '../values/value.ts'
import { Call } from './call.ts'
import { CheckQuery, isCheckEnabled, readCheck } from './check-query.ts'
import {
  EnvironmentQuery,
  failedEnvironment,
  forbiddenEnvironment,
  isEnvironmentRequest,
} from './environment-query.ts'
import { Interpreter } from './evaluate/interpreter.ts'
import { eventStreamOrder, FeedQuery, StreamPageQuery } from './events/event-queries.ts'
import { readEventRequest } from './events/event-request.ts'
import { callerQuery, dataOf, describeFailure, explanationBody, readExplanation } from './explanation.ts'
import { type Diagnostic, faultOf, invalidQuery, QueryFailure } from './failure/query-failure.ts'
import { summaryOf } from './failure/summary.ts'
import { bindTemplate } from './formats/decode.ts'
import { renderResult } from './formats/result.ts'
import { indexSuggestionsOf } from './index-suggestions.ts'
import { isLanguageWord, shapeOf } from './query-shape.ts'
import { decodeArguments, programOf, type QueryBody, readQueryBody } from './request.ts'
import {
  beginningOfFailure,
  beginningOfResult,
  completeBody,
  eventFailureResponse,
  eventRequestErrorResponse,
  isBeginningOfResult,
  type RequestOptions,
  requestErrorResponse,
  splitVersion,
  timeMark,
} from './response.ts'
import { refreshStoredFiles } from './schema/push/current-files.ts'
import {
  completeSchemaBody,
  failedSchemaRequest,
  isSchemaRequest,
  rejectedSchemaRequest,
  SchemaQuery,
} from './schema/push/schema-query.ts'
import { StagedWorld } from './schema/push/staged-world.ts'
import { readSignature } from './schema/signatures.ts'
import type { Program } from './syntax/nodes.ts'
import { Source } from './syntax/source.ts'
import type { Struct, Value } from './value.ts'
import { DataWorld } from './world/data-world.ts'
import { logLinesOf, queryName, visibleTo } from './world/log-output.ts'
import { type CheckOutcome, checkOnce, rememberCheck } from './world/remembered-checks.ts'
import { storedCode } from './world/stored-code.ts'
import { namesOf } from './world/wire-names.ts'

/** Ends a failed query. `beginning` is the start of the body, to which `completeBody` adds the costs. */
class FailedQuery extends LanguageError {
  override name = 'FailedQuery'
  readonly failure: QueryFailure
  readonly beginning: string
  readonly schemaVersion: Micros
  /** See {@link RenderedResponse.lesson}. */
  readonly lesson: string | undefined

  constructor(failure: QueryFailure, beginning: string, schemaVersion: Micros, lesson: string | undefined) {
    super(failure.message)
    this.failure = failure
    this.beginning = beginning
    this.schemaVersion = schemaVersion
    this.lesson = lesson
  }

  get aborted(): Stored | undefined {
    return this.failure.aborted
  }

  override get reportsCosts(): boolean {
    return true
  }
}

/** A query from a request to the query endpoint, or from a request for an explanation. */
class FqlQuery implements Query {
  readonly #body: QueryBody
  readonly #options: RequestOptions
  #parsed: Program | undefined

  constructor(body: QueryBody, options: RequestOptions) {
    this.#body = body
    this.#options = options
  }

  /** The syntax tree. Throws a QueryFailure if the query cannot be parsed. */
  get #program(): Program {
    this.#parsed ??= programOf(this.#body.query)
    return this.#parsed
  }

  /** `pure` if the query cannot be parsed. `evaluate` reports the parse errors later, after authentication. */
  get effect(): Query['effect'] {
    const effect = () => (this.#program.mayWrite ? 'write' : 'read')
    return catchError(QueryFailure, effect, () => 'pure')
  }

  get onlyReads(): boolean {
    const onlyReads = () => {
      const { mayCallFunctions, mayWrite } = this.#program
      return !mayWrite && !mayCallFunctions
    }
    return catchError(QueryFailure, onlyReads, () => true)
  }

  evaluate(session: Session): RenderedResponse {
    const { format = 'simple' } = this.#options
    const logLines = logLinesOf(session)
    const hints: Diagnostic[] | undefined = this.#options.hints === 'true' ? [] : undefined
    const schemaVersion = session.transaction.catalogue.schemaVersion(session.database)
    const { query, arguments: given } = this.#body
    const active = new DataWorld(session)
    const world = isStaged(session) ? new StagedWorld(session, active) : active
    // Names in arguments and template values refer to the active schema, even if the query uses the staged schema.
    const names = namesOf(active)
    const args = decodeArguments(given, format !== 'simple', names)
    const interpreter = new Interpreter(session, world, { logLines, hints })
    let outcome: CheckOutcome | undefined
    try {
      const program = this.#program
      const placeholders = bindTemplate(query, program.source, names)
      outcome = this.#check(program, args, placeholders, session)
      const { errors = [], type, warnings = [] } = outcome?.checked ?? {}
      if (errors.length > 0) throw invalidQuery(errors)
      const result = interpreter.run(program, args, placeholders)
      world.finish()
      if (world.changesSchema) refreshStoredFiles(session)
      const data = render(result, format, interpreter)
      const lines = [...warnings, ...logLines, ...(hints ?? [])]
      return {
        status: 200,
        body: beginningOfResult(data, type, summaryOf(visibleTo(session, lines)), schemaVersion),
        lesson: outcome?.report,
      }
    } catch (error) {
      if (!(error instanceof QueryFailure)) throw error
      const abort = error.abort === undefined ? undefined : render(error.abort.value, format, interpreter)
      const warnings = outcome?.checked.warnings ?? []
      const lines = [...warnings, ...error.diagnostics, ...logLines, ...(hints ?? [])]
      const summary = summaryOf(visibleTo(session, lines))
      throw new FailedQuery(error, beginningOfFailure(error, abort, summary), schemaVersion, outcome?.report)
    }
  }

  /** Checks the types of the query. Returns undefined if neither the request nor the database enables the check. */
  #check(
    program: Program,
    args: Struct,
    placeholders: readonly Value[],
    session: Session,
  ): CheckOutcome | undefined {
    const { typecheck } = this.#options
    // The option `true` applies only to the query itself. For a schema that the query writes, the database decides.
    session.typecheck = typecheck === 'false' ? false : undefined
    if (!isCheckEnabled(typecheck, session)) return undefined
    return checkOnce({ query: this.#body.query, program, args, placeholders }, session)
  }

  value(session: Session): Stored {
    const [beginning] = splitVersion(this.evaluate(session).body)
    return dataOf(beginning, session.transaction.snapshotTime)
  }
}

/** Evaluates an expression outside of a query, such as `as` in a request for an explanation. */
function evaluateOutside({ query }: QueryBody, session: Session): Value {
  const world = new DataWorld(session)
  const program = programOf(query)
  const placeholders = bindTemplate(query, program.source, namesOf(world))
  return new Interpreter(session, world).run(program, new Map(), placeholders)
}

function render(value: Value, format: string, interpreter: Interpreter): string {
  const call = new Call(interpreter, undefined, new Source(queryName, ''), undefined)
  return renderResult(value, format, timeMark, call)
}

function optionsOf({ options = {} }: LanguageRequest): RequestOptions {
  return options
}

function stackOverflow(): QueryFailure {
  const message = msg`number of stack frames exceeded limit of ${limits.v10CallDepthMax}`
  return new QueryFailure('stack_overflow', message, [{ name: 'error', message, span: undefined }])
}

export const version10: NamedLanguage<'10'> = {
  code: storedCode,
  accessOptions: { identityNeedsRole: true },
  readSignature,
  parse: request => {
    if (isSchemaRequest(request)) return new SchemaQuery(request)
    if (isEnvironmentRequest(request)) return new EnvironmentQuery()
    const options = optionsOf(request)
    if (options.endpoint === 'check') return new CheckQuery(request.body, options)
    if (options.endpoint === 'feed') return new FeedQuery(readEventRequest(request.body, 'feed'))
    if (options.endpoint === 'stream page') return new StreamPageQuery(readEventRequest(request.body, 'feed'))
    return new FqlQuery(readQueryBody(request.body), options)
  },
  publicFault(request) {
    if (isSchemaRequest(request) || isEnvironmentRequest(request)) return undefined
    const { endpoint } = optionsOf(request)
    const read = (): undefined => {
      if (endpoint === undefined) readQueryBody(request.body)
      else if (endpoint === 'check') readCheck(request.body)
      else readEventRequest(request.body, endpoint === 'stream' ? 'stream' : 'feed')
    }
    return catchError(RequestError, read, error => error)
  },
  render: () => {
    throw new RequestError('bad request', msg`This endpoint does not support version 10.`)
  },
  complete(body, request, ending) {
    if (isSchemaRequest(request)) return completeSchemaBody(body, ending.time)
    if (optionsOf(request).endpoint !== undefined || !isBeginningOfResult(body)) return body
    const [beginning, schemaVersion] = splitVersion(body)
    return completeBody(beginning, schemaVersion, ending, optionsOf(request))
  },
  rejected(error, request, ending) {
    if (isSchemaRequest(request)) return rejectedSchemaRequest(error)
    if (isEnvironmentRequest(request)) return forbiddenEnvironment(error)
    const failed = error instanceof FailedQuery ? error : undefined
    // A query of version 10 throws no other errors of a language. The compiler does not know this.
    const failure = failed?.failure ?? (error instanceof QueryFailure ? error : stackOverflow())
    if (optionsOf(request).endpoint !== undefined) return eventFailureResponse(failure)
    const beginning =
      failed?.beginning ?? beginningOfFailure(failure, undefined, summaryOf(failure.diagnostics))
    return {
      status: 400,
      body: completeBody(beginning, failed?.schemaVersion ?? epoch, ending, optionsOf(request)),
      fault: faultOf(failure),
      lesson: failed?.lesson,
    }
  },
  learn: rememberCheck,
  failed(error, request, { metrics }) {
    if (isSchemaRequest(request)) return failedSchemaRequest(error)
    if (isEnvironmentRequest(request)) return failedEnvironment(error)
    const options = optionsOf(request)
    return options.endpoint === undefined || options.endpoint === 'check'
      ? requestErrorResponse(error, metrics, options)
      : eventRequestErrorResponse(error, metrics)
  },
  stackOverflow,
  parseExplanation({ body }) {
    const explanation = readExplanation(body)
    if (explanation === undefined) return undefined
    const { as, query } = explanation
    return {
      query: new FqlQuery(query, { typecheck: 'false' }),
      as: as === undefined ? undefined : callerQuery(as, evaluateOutside),
      indexSuggestions: () => indexSuggestionsOf(programOf(query.query)),
      dialect: '10',
    }
  },
  renderExplanation(explanation, session) {
    return { status: 200, body: explanationBody(explanation, session) }
  },
  describe: error => [describeFailure(error instanceof FailedQuery ? error.failure : error)],
  streamOrder(request, _parameter, session) {
    if (optionsOf(request).endpoint === 'stream') return eventStreamOrder(request, session)
    throw new RequestError('bad request', msg`Streams of version 10 are opened at /stream/1.`)
  },
  shape: shapeOf,
  isWord: isLanguageWord,
}

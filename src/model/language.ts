// The interface between the engine and a query language. A language parses requests, evaluates queries, and renders
// responses and errors. The engine does everything else in the same way for all languages: transactions, retries,
// limits, and the slow lane (the background query workers).

import { msg, type Template } from '../base/message.ts'
import type { RequestError } from '../base/request-errors.ts'
import type { LanguageName } from '../values/code.ts'
import type { Micros, ObjectValue, Value } from '../values/value.ts'
import type { AccessOptions } from './auth/access-contract.ts'
import type { Effect } from './code-interface.ts'
import type { LanguageError } from './failure.ts'
import type { CodeLanguage, ReadSignature, Session } from './session.ts'
import type { StreamOrder } from './streaming.ts'
import type { SetUse } from './use-recorders.ts'

/** The parts of a request that a language reads. Contains plain data only. */
export interface LanguageRequest {
  /** The version of the language, as clients name it. */
  readonly dialect: string
  /** The text of the query; undefined if the client sent none. */
  readonly body: string | undefined
  /** Further options from the HTTP headers. The language defines the names of these options. */
  readonly options?: Readonly<Record<string, string>>
}

/** The status and the body of a response. */
export interface RenderedResponse {
  readonly status: number
  readonly body: string
  /** The error for the query log; undefined if the response is not an error. */
  readonly fault?: Fault
}

/** The numbers that a response reports about its query. */
export interface QueryMetrics {
  readonly computeOps: number
  readonly byteReadOps: number
  readonly byteWriteOps: number
  readonly storageBytesRead: number
  readonly storageBytesWrite: number
  readonly queryTimeMs: number
  /** The number of times that the query was evaluated again because it conflicted with another transaction. */
  readonly txnRetries: number
  /** The kinds of operations whose rate limit the query exceeded. */
  readonly rateLimited: readonly ('compute' | 'read' | 'write')[]
}

/** Facts about a request that are known only after its evaluation. */
interface Ending {
  /** The commit time, or the time of the snapshot if the request committed nothing. */
  readonly time: Micros
  /** Undefined if the response reports no costs. */
  readonly metrics: QueryMetrics | undefined
}

/**
 * An error for the query log. People who read the query log must not see data of clients. Therefore each template keeps
 * quoted values apart from the text. Contains plain data only.
 */
export interface Fault {
  readonly code: string
  /** The text of the error. Empty if the text comes from the client. */
  readonly text: Template
  /**
   * The position in the query. Either steps separated by `/`, or the name of a source with line and column. Empty if
   * the error has no position.
   */
  readonly position: Template
}

/** Returns the fault for a request that fails before or outside of evaluation. `name` is the language's error code. */
export function requestFault({ code, template }: RequestError, name: string = code): Fault {
  return { code: name, text: template, position: msg`` }
}

/** A parsed query. It can be evaluated any number of times. */
export interface Query {
  /**
   * The strongest effect of the query's own text. The effects of called functions are known only when the query runs.
   */
  readonly effect: Effect
  /** True if this query certainly takes longer than one query may block the process that serves all queries. */
  readonly isLong?: boolean
  /**
   * Evaluates the query, and renders its result while the snapshot is open. The body contains marks in place of values
   * that depend on the commit. {@link Language.complete} replaces the marks.
   */
  evaluate(session: Session): RenderedResponse
  /** Evaluates the query and returns its value without rendering. */
  value(session: Session): Value
}

/** The parsed body of a request for an explanation. */
export interface Explanation {
  /** The query to explain. */
  readonly query: Query
  /**
   * A query that returns the caller whose access is explained: the name of a built-in role, or a reference. Undefined
   * if the explanation is about the caller who sent the request.
   */
  readonly as: Query | undefined
  /**
   * Returns the filters and sort orders in the text of the query. Call this function only if the query can be parsed.
   */
  readonly setUses: () => readonly SetUse[]
  /** The version of the language that the query is written in. */
  readonly dialect: string
}

/** Parses requests and opens streams. The methods throw RequestErrors, and LanguageErrors of the language. */
interface QueryParser {
  /** Options of this language for access decisions. */
  readonly accessOptions?: AccessOptions
  /** Parses the query of a request. Throws if the query is invalid. */
  parse(request: LanguageRequest): Query
  /**
   * Returns an error in the request that is reported even to callers without a valid credential. Absent if the language
   * has no such errors.
   */
  faultForAnybody?(request: LanguageRequest): RequestError | undefined
  /**
   * Evaluates a query that opens a stream, and returns the description of the stream. `parameter`: the URL parameter
   * that lists the fields of events.
   */
  streamOrder(request: LanguageRequest, parameter: string | undefined, session: Session): StreamOrder
  /** Returns the error for a query that overflows the stack of the runtime. */
  stackOverflow(): LanguageError
}

/** Renders responses. */
export interface ResponseRenderer {
  /** Renders a value as the body of a response. */
  render(value: Value, session: Session): RenderedResponse
  /**
   * Replaces the marks in `body` by facts that are known only after the evaluation. `body` is a result of {@link
   * Query.evaluate} or {@link render}.
   */
  complete(body: string, request: LanguageRequest, ending: Ending): string
  /** Renders the response to a query that failed with an error of the language. */
  rejected(error: LanguageError, request: LanguageRequest, ending: Ending): RenderedResponse
  /** Renders the response to a request that failed as a whole. */
  failed(error: RequestError, request: LanguageRequest, ending: Ending): RenderedResponse
}

/** Parses and renders explanations of access decisions and plans. */
export interface ExplanationRenderer {
  /**
   * Parses the body of a request for an explanation. Returns undefined if the query to explain is in another language.
   * Throws if the body is invalid.
   */
  parseExplanation(request: LanguageRequest): Explanation | undefined
  /** Renders an explanation as the body of a response. */
  renderExplanation(explanation: ObjectValue, session: Session): RenderedResponse
  /** Returns one value for each fault of `error`, for an explanation. */
  describe(error: LanguageError): readonly Value[]
}

/** Removes the data of clients from texts for the query log. */
interface QueryRedaction {
  /**
   * Returns the shape of a query for the query log: its text without any data that a person could have typed. The
   * result is escaped for use inside a JSON string. `names` contains names of schema objects. In the result, a mark
   * replaces each of these names (`src/values/names.ts`).
   */
  shape(text: string, names?: readonly string[]): string
  /** Returns whether `word` belongs to the language. The query log stores such words even if an error quotes them. */
  isWord(word: string): boolean
}

/** The complete interface of a query language. Each consumer uses only one of the four interfaces. */
export interface Language extends QueryParser, ResponseRenderer, ExplanationRenderer, QueryRedaction {}

/** A language with its name, and with the functions for its stored code. */
export interface NamedLanguage<L extends LanguageName> extends Language {
  readonly code: CodeLanguage<L>
  /** Parses the declared type of a field. Absent if the language has no declared types. */
  readonly readSignature?: ReadSignature
}

/** The languages that a service supports. */
export type Languages = { readonly [L in LanguageName]?: NamedLanguage<L> }

// The interface between the engine and a query language. A language parses requests, evaluates queries, and renders
// responses and errors. Transactions, retries, limits and the slow lane (the background query workers) are independent
// of the language.

import { msg, type Template } from '../base/message.ts'
import type { RequestError } from '../base/request-errors.ts'
import type { CodeLanguageName } from '../values/code.ts'
import type { Micros, ObjectValue, Value } from '../values/value.ts'
import type { AccessOptions } from './auth/access-contract.ts'
import type { Effect } from './code-interface.ts'
import type { LanguageError } from './failure.ts'
import type { CodeLanguage, ReadSignature, Session } from './session.ts'
import type { StreamOrder } from './streaming.ts'
import type { SetUse } from './use-recorders.ts'

/** The parts of a request that a language reads. Contains only plain data. */
export interface LanguageRequest {
  /** The requested version of the language. */
  readonly dialect: string
  /** The body of the request. Undefined if the body is missing. */
  readonly body: string | undefined
  /** Options from HTTP headers. The language defines the names. */
  readonly options?: Readonly<Record<string, string>>
}

/** The status and the body of a response. */
export interface RenderedResponse {
  readonly status: number
  readonly body: string
  /** The error for the query log. Undefined for a successful response. */
  readonly fault?: Fault
  /** If the query runs in the slow lane: for {@link QueryParser.learn} in the service. */
  readonly lesson?: string | undefined
}

/** The metrics of a query in a response. */
export interface QueryMetrics {
  readonly computeOps: number
  readonly byteReadOps: number
  readonly byteWriteOps: number
  readonly storageBytesRead: number
  readonly storageBytesWrite: number
  readonly queryTimeMs: number
  /** The number of retries after conflicts with other transactions. */
  readonly txnRetries: number
  /** The operations whose rate limit was exceeded. */
  readonly rateLimited: readonly ('compute' | 'read' | 'write')[]
}

/** Facts that are known after the evaluation of a request. */
interface Ending {
  /** The commit time, or the snapshot time of a read-only request. */
  readonly time: Micros
  /** Undefined if the response reports no costs. */
  readonly metrics: QueryMetrics | undefined
}

/**
 * An error for the query log. Readers of the log must not see the data of clients, so templates separate quoted values
 * from the text. Contains only plain data.
 */
export interface Fault {
  readonly code: string
  /** The text of the error. Empty if the client chose the text. */
  readonly text: Template
  /**
   * The position in the query: steps separated by `/`, or the name of a source with line and column. Empty if the error
   * has no position.
   */
  readonly position: Template
}

/** Returns the fault for a {@link RequestError}. `name` is the error code of the language. */
export function requestFault({ code, template }: RequestError, name: string = code): Fault {
  return { code: name, text: template, position: msg`` }
}

/** A parsed query. A query can be evaluated several times. */
export interface Query {
  /**
   * The strongest effect of the query, without the effects of called user functions. The effects of user functions are
   * known only when the query runs.
   */
  readonly effect: Effect
  /** True if the query certainly writes nothing, not even through user functions. */
  readonly onlyReads?: boolean
  /** True if the query certainly takes too long to run in the process that serves all requests. */
  readonly isLong?: boolean
  /**
   * Evaluates the query, and renders its result while the snapshot is open. Values that depend on the commit are
   * rendered as marks, which {@link Language.complete} replaces.
   */
  evaluate(session: Session): RenderedResponse
  value(session: Session): Value
}

/** The parsed body of a request for an explanation. */
export interface Explanation {
  /** The query to explain. */
  readonly query: Query
  /**
   * A query for the caller whose access is explained. The result is the name of a built-in role, or a reference.
   * Undefined if the access of the request's own caller is explained.
   */
  readonly as: Query | undefined
  /** Returns the filters and sort orders in the query. The query must be valid. */
  readonly setUses: () => readonly SetUse[]
  /** The version of the query's language. */
  readonly dialect: string
}

/** Parses requests and opens streams. The methods throw RequestErrors and LanguageErrors. */
interface QueryParser {
  /** The rules of this language for permission decisions. */
  readonly accessOptions?: AccessOptions
  /** Parses the query of a request. Throws if the query is invalid. */
  parse(request: LanguageRequest): Query
  /**
   * Returns the error of a request if this error is reported even to clients without a valid credential. Absent if all
   * errors are reported only after authentication.
   */
  faultForAnybody?(request: LanguageRequest): RequestError | undefined
  /**
   * Evaluates a query that opens a stream, and returns the description of the stream. `parameter` is the URL parameter
   * with the fields of events.
   */
  streamOrder(request: LanguageRequest, parameter: string | undefined, session: Session): StreamOrder
  /**
   * Remembers results of a query that ran in the slow lane, such as a long check of its types. So the service does not
   * begin the same work when the query is repeated.
   */
  learn?(lesson: string): void
  /** Returns the error for a query that overflows the native stack. */
  stackOverflow(): LanguageError
}

/** Renders responses. */
export interface ResponseRenderer {
  render(value: Value, session: Session): RenderedResponse
  /**
   * Replaces the marks in `body` by the facts in `ending`. `body` is a result of {@link Query.evaluate} or {@link
   * render}.
   */
  complete(body: string, request: LanguageRequest, ending: Ending): string
  /** Renders the response to a query that failed with a {@link LanguageError}. */
  rejected(error: LanguageError, request: LanguageRequest, ending: Ending): RenderedResponse
  /** Renders the response to a request that failed with a {@link RequestError}. */
  failed(error: RequestError, request: LanguageRequest, ending: Ending): RenderedResponse
}

/** Parses requests for explanations of permission decisions and plans, and renders the explanations. */
export interface ExplanationRenderer {
  /**
   * Parses the body of a request for an explanation. Returns undefined if the query is in another language. Throws if
   * the body is invalid.
   */
  parseExplanation(request: LanguageRequest): Explanation | undefined
  renderExplanation(explanation: ObjectValue, session: Session): RenderedResponse
  /** Converts the faults of `error` to values for an explanation. */
  describe(error: LanguageError): readonly Value[]
}

/** Removes the data of clients from texts for the query log. */
interface QueryRedaction {
  /**
   * Returns the shape of a query for the query log: the text without the data of clients. The shape is escaped for use
   * inside a JSON string. `names` contains names of schema objects. In the shape, marks replace these names
   * (src/values/names.ts).
   */
  shape(text: string, names?: readonly string[]): string
  /** Returns whether `word` is a word of the language. Quoted words of the language remain in the query log. */
  isWord(word: string): boolean
}

export interface Language extends QueryParser, ResponseRenderer, ExplanationRenderer, QueryRedaction {}

/** A language with the functions for its stored code. */
export interface NamedLanguage<L extends CodeLanguageName> extends Language {
  readonly code: CodeLanguage<L>
  /** Parses the declared type of a field. Absent if the language has no type declarations. */
  readonly readSignature?: ReadSignature
}

/** The languages that a service supports. */
export type Languages = { readonly [L in CodeLanguageName]?: NamedLanguage<L> } & {
  readonly graphql?: Language
}

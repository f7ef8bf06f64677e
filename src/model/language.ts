// The interface between the engine and a query language. Transactions, retries, limits and the slow lane (the
// background query workers) are independent of the language.

import { msg, type Template } from '../base/message.ts'
import type { RequestError } from '../base/request-errors.ts'
import type { CodeLanguageName } from '../values/code.ts'
import type { Micros, ObjectValue, Value } from '../values/value.ts'
import type { AccessOptions } from './auth/access-contract.ts'
import type { Effect } from './code-interface.ts'
import type { LanguageError } from './failure.ts'
import type { CodeLanguage, ReadSignature, Session } from './session.ts'
import type { StreamOrder } from './streaming.ts'
import type { IndexSuggestion } from './use-recorders.ts'

/** The parts of a request that a language reads. Contains only plain data. */
export interface LanguageRequest {
  /** The requested version of the language. */
  readonly dialect: string
  /** Undefined if the body is missing. */
  readonly body: string | undefined
  /** Options from HTTP headers. The language defines the names. */
  readonly options?: Readonly<Record<string, string>>
}

export interface RenderedResponse {
  readonly status: number
  readonly body: string
  /** The error for the query log. Undefined for a successful response. */
  readonly fault?: ResponseFault
  /**
   * A result of the query that {@link QueryParser.learn} can remember. If the query ran in the slow lane, the process
   * that serves requests calls `learn`.
   */
  readonly lesson?: string | undefined
}

export interface QueryMetrics {
  readonly computeOps: number
  readonly byteReadOps: number
  readonly byteWriteOps: number
  readonly storageBytesRead: number
  readonly storageBytesWrite: number
  readonly queryTimeMs: number
  /** The number of retries after conflicts with other transactions. */
  readonly txnRetries: number
  /** Operations whose rate limit was exceeded. */
  readonly rateLimited: readonly ('compute' | 'read' | 'write')[]
}

/** Values that are known only after the evaluation of a request. */
interface Ending {
  /** The commit time, or the snapshot time of a read-only request. */
  readonly time: Micros
  /** Undefined if the response reports no costs. */
  readonly metrics: QueryMetrics | undefined
}

/**
 * The error of a response, for the query log. Readers of the log must not see the data of clients, so templates
 * separate quoted values from the text. Contains only plain data.
 */
export interface ResponseFault {
  readonly code: string
  /** The text of the error. Empty if the client chose the text. */
  readonly text: Template
  /** Steps in the query separated by `/`, or the name of a source with line and column. Empty without a position. */
  readonly position: Template
}

/** `name` is the error code that clients of the language see. */
export function requestFault({ code, template }: RequestError, name: string = code): ResponseFault {
  return { code: name, text: template, position: msg`` }
}

/** A query, which can be evaluated several times. */
export interface Query {
  /** The strongest effect, without called user functions, whose effects are known only when the query runs. */
  readonly effect: Effect
  /** The query certainly writes nothing, not even through user functions. */
  readonly onlyReads?: boolean
  /** The query certainly takes too long to run in the process that serves all requests. */
  readonly isLong?: boolean
  /**
   * Evaluates the query, and renders its result while the snapshot is open. Values that depend on the commit are
   * rendered as placeholders, which {@link Language.complete} replaces.
   */
  evaluate(session: Session): RenderedResponse
  value(session: Session): Value
}

/** The parsed body of a request for an explanation. */
export interface Explanation {
  readonly query: Query
  /**
   * Returns the caller whose access is explained: the name of a built-in role, or a reference. Undefined for the
   * request's own caller.
   */
  readonly as: Query | undefined
  /** Returns an index for each filter and sort order in the query. The query must be valid. */
  readonly indexSuggestions: () => readonly IndexSuggestion[]
  readonly dialect: string
}

/** The methods throw RequestErrors and LanguageErrors. */
interface QueryParser {
  /** The rules of this language for permission decisions. */
  readonly accessOptions?: AccessOptions
  /** Throws if the query is invalid. */
  parse(request: LanguageRequest): Query
  /**
   * An error that is reported even to clients without a valid credential. Absent if all errors are reported only after
   * authentication.
   */
  publicFault?(request: LanguageRequest): RequestError | undefined
  /** Evaluates a query that opens a stream. `parameter` is the URL parameter with the fields of events. */
  streamOrder(request: LanguageRequest, parameter: string | undefined, session: Session): StreamOrder
  /**
   * Remembers results of a query that ran in the slow lane, such as a long check of its types, so that the service does
   * not begin the same work again.
   */
  learn?(lesson: string): void
  /** Returns the error for a query that overflows the native stack. */
  stackOverflow(): LanguageError
}

export interface ResponseRenderer {
  render(value: Value, session: Session): RenderedResponse
  /** Replaces the placeholders in `body`, a result of {@link Query.evaluate} or {@link render}, by the values in `ending`. */
  complete(body: string, request: LanguageRequest, ending: Ending): string
  /** The query failed. */
  rejected(error: LanguageError, request: LanguageRequest, ending: Ending): RenderedResponse
  /** The request failed as a whole. */
  failed(error: RequestError, request: LanguageRequest, ending: Ending): RenderedResponse
}

/** Explains permission decisions and plans. */
export interface ExplanationRenderer {
  /** Returns undefined if the query is in another language. Throws if the body is invalid. */
  parseExplanation(request: LanguageRequest): Explanation | undefined
  renderExplanation(explanation: ObjectValue, session: Session): RenderedResponse
  /** Converts the faults of `error` to values for an explanation. */
  describe(error: LanguageError): readonly Value[]
}

interface QueryRedaction {
  /**
   * The text of a query without the data of clients, escaped for use inside a JSON string. `names` contains names of
   * schema objects, which marks replace (src/values/names.ts).
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

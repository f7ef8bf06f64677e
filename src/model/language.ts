// The interface between the engine and a language: parse a request, evaluate the query, render status and body, render
// errors. Everything else is the same for all languages: transactions, retries, limits, the slow lane.

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

/** The parts of a request that a language reads. A plain value. */
export interface LanguageRequest {
  /** The version of the language, as clients name it. */
  readonly dialect: string
  /** The text of the query; undefined if the client sent none. */
  readonly body: string | undefined
  /** Further options from the headers, by names that the language defines. */
  readonly options?: Readonly<Record<string, string>>
}

/** The status and the body of a response. */
export interface RenderedResponse {
  readonly status: number
  readonly body: string
  /** For the query log, if the response is an error. */
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
  /** Attempts that conflicted with other transactions. */
  readonly txnRetries: number
  /** The kinds of operations whose rate limit the query exceeded. */
  readonly rateLimited: readonly ('compute' | 'read' | 'write')[]
}

/** Facts that are known when a request is over. */
interface Ending {
  /** The time of the commit, or of the snapshot. */
  readonly time: Micros
  /** Undefined if the request reports no costs. */
  readonly metrics: QueryMetrics | undefined
}

/**
 * An error for the query log, whose readers must not see data. The template separates quoted values from the text. A
 * plain value.
 */
export interface Fault {
  readonly code: string
  /** Empty if the text comes from the client. */
  readonly text: Template
  /**
   * The position in the query: steps separated by `/`, or a source with line and column. Empty if the error has no
   * position.
   */
  readonly position: Template
}

/** Returns the fault of a request that failed as a whole. `name` is the error code that the language uses. */
export function requestFault({ code, template }: RequestError, name: string = code): Fault {
  return { code: name, text: template, position: msg`` }
}

/** A parsed query. It can be evaluated any number of times. */
export interface Query {
  /**
   * The strongest effect of the query's own text. The effects of called functions are known only when the query runs.
   */
  readonly effect: Effect
  /** True if the query certainly takes longer than a query may block the process that serves all other queries. */
  readonly isLong?: boolean
  /**
   * Evaluates the query, and renders its result while the snapshot is open. Values that depend on the commit are marks
   * until {@link Language.complete} replaces them.
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
   * A query whose value is the caller to assume in the explanation: the name of a built-in role, or a reference.
   * Undefined for the real caller.
   */
  readonly as: Query | undefined
  /** The filters and orders in the text of the query. May be called only if the query can be parsed. */
  readonly setUses: () => readonly SetUse[]
  /** The version of the language that the query is written in. */
  readonly dialect: string
}

/** Parses requests and opens streams. The functions throw LanguageErrors of the language, and RequestErrors. */
interface QueryParser {
  /** Options of this language for access decisions. */
  readonly accessOptions?: AccessOptions
  /** Parses the query of a request. Throws if the query is invalid. */
  parse(request: LanguageRequest): Query
  /**
   * Finds a fault that even callers without a valid credential may learn. Absent if the language has no such faults.
   */
  faultForAnybody?(request: LanguageRequest): RequestError | undefined
  /** Evaluates a query that opens a stream. `parameter`: the URL's list of fields that events show. */
  streamOrder(request: LanguageRequest, parameter: string | undefined, session: Session): StreamOrder
  /** The error of a query that overflows the stack of the runtime. */
  stackOverflow(): LanguageError
}

/** Renders responses. */
export interface ResponseRenderer {
  /** Renders a value as the body of a response. */
  render(value: Value, session: Session): RenderedResponse
  /**
   * Replaces the marks in a body of {@link Query.evaluate} or {@link render} by facts that are known only when the
   * request is over.
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
   * Parses the body of a request for an explanation. Undefined if the query in it is in another language. Throws if the
   * body is invalid.
   */
  parseExplanation(request: LanguageRequest): Explanation | undefined
  /** Renders an explanation as the body of a response. */
  renderExplanation(explanation: ObjectValue, session: Session): RenderedResponse
  /** Describes an error for an explanation: one value for each fault. */
  describe(error: LanguageError): readonly Value[]
}

/** Removes the data of clients from texts for the query log. */
interface QueryRedaction {
  /**
   * Returns the shape of a query for the query log: its text without any data that a person could have typed. The
   * result is escaped for use inside a JSON string. Marks replace the names of schema objects in `names`
   * (`src/values/names.ts`).
   */
  shape(text: string, names?: readonly string[]): string
  /** Returns whether a word belongs to the language. The query log stores such words even if an error quotes them. */
  isWord(word: string): boolean
}

/** A language of requests. Each consumer uses only one of these interfaces. */
export interface Language extends QueryParser, ResponseRenderer, ExplanationRenderer, QueryRedaction {}

/** A language with its name, and with the functions for its stored code. */
export interface NamedLanguage<L extends LanguageName> extends Language {
  readonly code: CodeLanguage<L>
  /** Parses the types of fields, if the language has declared types. */
  readonly readSignature?: ReadSignature
}

/** The languages that a service supports. */
export type Languages = { readonly [L in LanguageName]?: NamedLanguage<L> }

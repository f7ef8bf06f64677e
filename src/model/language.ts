// A language as the engine has it: from the text of a request to what can be evaluated, from that to a status and a body, and
// how failures look. Everything between is the same for all languages: transactions, retries, limits, the slow lane.

import type { RequestError } from '../base/errors.ts'
import { msg, type Template } from '../base/message.ts'
import type { LanguageName } from '../values/code.ts'
import type { Micros, ObjectValue, Value } from '../values/value.ts'
import type { AccessOptions } from './auth/contract.ts'
import type { Effect } from './effect.ts'
import type { LanguageError } from './failure.ts'
import type { CodeLanguage, ReadSignature, Session } from './session.ts'
import type { SetUse } from './set-uses.ts'
import type { StreamOrder } from './streaming.ts'

/** What a language reads of a request. A plain value. */
export interface LanguageRequest {
  /** The version of the language, as its clients name it. */
  readonly dialect: string
  /** The text of the query; undefined when none was sent. */
  readonly body: string | undefined
  /** What else its headers ask for, in the words of its language. */
  readonly options?: Readonly<Record<string, string>>
}

/** The status and the body of a response. */
export interface Rendered {
  readonly status: number
  readonly body: string
  /** For the query log, where it is an error. */
  readonly fault?: Fault
}

/** The numbers that a response tells of its query. */
export interface QueryMetrics {
  readonly computeOps: number
  readonly byteReadOps: number
  readonly byteWriteOps: number
  readonly storageBytesRead: number
  readonly storageBytesWrite: number
  readonly queryTimeMs: number
  /** Attempts that met contention: others had written what they had read. */
  readonly txnRetries: number
  /** Those of `compute`, `read`, `write` whose rate limit was hit. */
  readonly rateLimited: readonly ('compute' | 'read' | 'write')[]
}

/** What is known of a request when it is over. */
interface Ending {
  /** Of the commit, or of the snapshot. */
  readonly time: Micros
  /** Absent where the request has cost nothing that is told. */
  readonly metrics: QueryMetrics | undefined
}

/** An error for readers who must not see data: quoted values are stored apart from the text. A plain value. */
export interface Fault {
  readonly code: string
  /** Empty if the text is the client's own. */
  readonly text: Template
  /** Where in the query: steps with `/` between them, or a source with line and column. Empty: nowhere in it. */
  readonly position: Template
}

/** The fault of a request that failed as a whole; `code` as its language has it. */
export function requestFault({ code, template }: RequestError, name: string = code): Fault {
  return { code: name, text: template, position: msg`` }
}

/** A query that is ready to be evaluated, as often as it takes. */
export interface Query {
  /** The most that it does by itself; what the functions do that it calls is found out by running it. */
  readonly effect: Effect
  /** Sure to take longer than it may hold the process that serves all others. */
  readonly isLong?: boolean
  /**
   * Evaluates it, and renders its result while the snapshot is there. What depends on the commit is a mark until
   * {@link Language.complete}.
   */
  evaluate(session: Session): Rendered
  /** Its value alone. */
  value(session: Session): Value
}

/** What a request for an explanation asks. */
export interface Explanation {
  /** Its value is what it comes to as others see it. */
  readonly query: Query
  /** Its value is the name of a built-in role or a reference; undefined for the caller itself. */
  readonly as: Query | undefined
  /** The filters and orders in the text of a query, of one that can be parsed. */
  readonly setUses: () => readonly SetUse[]
  /** The version of the language in which the query is asked. */
  readonly dialect: string
}

/** A language that requests can be written in. Errors are LanguageErrors of its own, and RequestErrors. */
export interface Language {
  /** What it decides otherwise about rights. */
  readonly accessOptions?: AccessOptions
  /** Reads the query of a request. Throws for what is none. */
  parse(request: LanguageRequest): Query
  /** What is wrong with a request that is told even to who has no credential; absent where that is nothing. */
  faultForAnybody?(request: LanguageRequest): RequestError | undefined
  /** A value as the body of a response. */
  render(value: Value, session: Session): Rendered
  /** Puts into a body of {@link Query.evaluate} or {@link render} what is known at the end. */
  complete(body: string, request: LanguageRequest, ending: Ending): string
  /** The response to a query that failed by its own doing. */
  refused(error: LanguageError, request: LanguageRequest, ending: Ending): Rendered
  /** The response to a request that failed as a whole. */
  failed(error: RequestError, request: LanguageRequest, ending: Ending): Rendered
  /** The error of a query that is nested deeper than the runtime's own stack. */
  stackOverflow(): LanguageError
  /**
   * The query to be explained in the body of a request for an explanation, and as whom; undefined when it is in another
   * language. Throws for what is none.
   */
  parseExplanation(request: LanguageRequest): Explanation | undefined
  /** An explanation as the body of a response. */
  renderExplanation(told: ObjectValue, session: Session): Rendered
  /** An error as an explanation tells it: one value for each thing that is wrong. */
  describe(error: LanguageError): readonly Value[]
  /** What a stream follows that is opened by a query. `parameter`: what the URL says about what events show. */
  streamOrder(request: LanguageRequest, parameter: string | undefined, session: Session): StreamOrder
  /**
   * The text of a query with everything removed that a person could have typed as data, as the inside of a JSON string: for
   * the query log. The names of schema objects in `names` leave marks (`src/values/name-marks.ts`).
   */
  shape(text: string, names?: readonly string[]): string
  /** Tells whether a word belongs to the language, so that the query log stores it even if an error quotes it. */
  isWord(word: string): boolean
}

/** A language of that name, with the code in it that is stored. */
export interface NamedLanguage<L extends LanguageName> extends Language {
  readonly code: CodeLanguage<L>
  /** Reads the types of fields, where the language has such. */
  readonly readSignature?: ReadSignature
}

/** The languages that a service speaks. */
export type Languages = { readonly [L in LanguageName]?: NamedLanguage<L> }

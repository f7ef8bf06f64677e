// Describes failures of queries: a code, a message, and diagnostics with positions. `summary.ts` renders the
// diagnostics.

import { type Message, messageOf, msg, own } from '../../base/message.ts'
import { LanguageError } from '../../model/failure.ts'
import type { ResponseFault } from '../../model/language.ts'
import type { Span } from '../syntax/source.ts'
import type { Value } from '../value.ts'

/** A response with any of these codes has the status 400. */
export type FailureCode =
  | 'abort'
  | 'constraint_failure'
  | 'disabled_feature'
  | 'divide_by_zero'
  | 'document_id_exists'
  | 'document_not_found'
  | 'eval_error'
  | 'index_out_of_bounds'
  | 'invalid_argument'
  | 'invalid_bounds'
  | 'invalid_cursor'
  | 'invalid_date'
  | 'invalid_effect'
  | 'invalid_function_invocation'
  | 'invalid_id'
  | 'invalid_index_invocation'
  | 'invalid_null_access'
  | 'invalid_query'
  | 'invalid_receiver'
  | 'invalid_regex'
  | 'invalid_schema'
  | 'invalid_secret'
  | 'invalid_time'
  | 'invalid_type'
  | 'invalid_unit'
  | 'invalid_write'
  | 'null_value'
  | 'permission_denied'
  | 'stack_overflow'
  | 'type_mismatch'
  | 'unbound_variable'
  | 'value_too_large'

/** A hint or cause below a diagnostic. The summary also shows the source text with the change of `suggestion`. */
export interface Remark {
  readonly name: 'hint' | 'cause'
  readonly message: string
  readonly span: Span | undefined
  /** The replacement for the text of `span`: an insertion if `span` is empty, a removal if the replacement is empty. */
  readonly suggestion?: string
}

/** A message for the user. The summary shows the message with the source lines of `span`. */
export interface Diagnostic {
  /** A `log` is rendered in one line, with its source name and line number but without the source text. */
  readonly name: 'error' | 'warning' | 'info' | 'log' | 'performance_hint'
  readonly message: string | Message
  readonly span: Span | undefined
  /** The text after the underline. */
  readonly annotation?: string
  readonly remarks?: readonly Remark[]
  /** The argument lists of the enclosing calls, innermost first. */
  readonly trace?: readonly (Span | undefined)[]
}

/** A reason why a write was rejected, with the affected fields. */
export interface ConstraintFailure {
  readonly paths: readonly (readonly (string | number)[])[]
  readonly message: string
  /** The label if `paths` is empty. */
  readonly label?: string
}

export interface FailureParts {
  readonly constraintFailures?: readonly ConstraintFailure[]
  /** The argument of `abort`, and its text. */
  readonly abort?: { readonly value: Value; readonly text: string } | undefined
}

/** Thrown when a query fails. The diagnostics contain positions in the query, in stored code or in schema files. */
export class QueryFailure extends LanguageError {
  override name = 'QueryFailure'
  readonly code: FailureCode
  /** Template of the message for the query log. */
  readonly template: Message
  readonly diagnostics: readonly Diagnostic[]
  readonly constraintFailures: readonly ConstraintFailure[]
  readonly abort: FailureParts['abort']

  constructor(
    code: FailureCode,
    message: Message,
    diagnostics: readonly Diagnostic[],
    parts: FailureParts = {},
  ) {
    super(String(message))
    this.template = messageOf(message)
    this.code = code
    this.diagnostics = diagnostics
    this.constraintFailures = parts.constraintFailures ?? []
    this.abort = parts.abort
  }

  /** The text of the argument of `abort`, for callers whose code is in version 4. Undefined for other failures. */
  get aborted(): string | undefined {
    return this.abort?.text
  }

  /** The text for callers whose code is in version 4. Unlike `message`, includes the failed constraints. */
  override get foreignText(): string {
    const [first] = this.diagnostics
    return this.constraintFailures.length === 0 ? this.message : String(first?.message ?? this.message)
  }
}

/** The query cannot be evaluated. Each diagnostic describes one fault. */
export function invalidQuery(diagnostics: readonly Diagnostic[]): QueryFailure {
  const count = diagnostics.length
  const message = msg`The query failed ${count} validation check${count === 1 ? '' : 's'}`
  return new QueryFailure('invalid_query', message, diagnostics)
}

/** Matches the source names of queries and stored code: `*query*`, `*udf:NAME*`. */
const namedSource = /^\*([a-z_]+)(?::(.*))?\*$/s

/**
 * Returns the fault for the query log, which must not store values of clients, such as the argument of `abort`. A
 * `Message` keeps these values separate from its fixed text.
 */
export function faultOf({ code, diagnostics, template }: QueryFailure): ResponseFault {
  const [first] = diagnostics
  // The message of `invalid_query` contains only the number of faults, so the text of the first fault is used.
  const text = code === 'invalid_query' && first !== undefined ? messageOf(first.message) : template
  return { code, text: code === 'abort' ? msg`` : text, position: positionOf(first?.span) }
}

/** Returns source, line and column. The result is empty if `span` is undefined. */
export function positionOf(span: Span | undefined): Message {
  if (span === undefined) return msg``
  const { source, start } = span
  return msg`${nameOf(source.name)}:${own(source.lineOf(start))}:${own(source.columnOf(start))}`
}

/** Hides the names of schema files, because they are client data. */
function nameOf(source: string): Message {
  const [, kind, name] = namedSource.exec(source) ?? []
  if (kind === undefined) return msg`a schema file`
  return name === undefined ? msg`*${own(kind)}*` : msg`*${own(kind)}:${name}*`
}

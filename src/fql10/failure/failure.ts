// What goes wrong in a query: a code, a message, and diagnostics with the places they are about. How they are drawn is
// in summary.ts.

import { type Message, messageOf, msg } from '../../base/message.ts'
import { LanguageError } from '../../model/failure.ts'
import type { Span } from '../syntax/source.ts'
import type { Value } from '../value.ts'

/** The codes of errors of queries; all have status 400. */
export type FailureCode =
  | 'abort'
  | 'constraint_failure'
  | 'disabled_feature'
  | 'divide_by_zero'
  | 'document_deleted'
  | 'document_id_exists'
  | 'document_not_found'
  | 'eval_error'
  | 'index_out_of_bounds'
  | 'internal_failure'
  | 'invalid_argument'
  | 'invalid_bounds'
  | 'invalid_computed_field_access'
  | 'invalid_cursor'
  | 'invalid_date'
  | 'invalid_document_id'
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
  | 'invalid_timestamp_field_access'
  | 'invalid_type'
  | 'invalid_unit'
  | 'invalid_write'
  | 'null_value'
  | 'permission_denied'
  | 'stack_overflow'
  | 'type_mismatch'
  | 'unbound_variable'
  | 'value_too_large'

/** A remark below a diagnostic: a hint, a cause. With `suggestion` the text as it would be is shown. */
export interface Remark {
  readonly name: 'hint' | 'cause'
  readonly message: string
  readonly span: Span | undefined
  /** What would stand in place of the span: an insertion for an empty one, a removal when it is empty itself. */
  readonly suggestion?: string
}

/** Something to tell the user, drawn under the text it is about. */
export interface Diagnostic {
  /** A `log` is one line, with the line of the text only. */
  readonly name: 'error' | 'warning' | 'info' | 'log' | 'performance_hint'
  readonly message: string | Message
  readonly span: Span | undefined
  /** Stands behind the underline. */
  readonly annotation?: string
  readonly remarks?: readonly Remark[]
  /** The calls around it, innermost first. */
  readonly trace?: readonly (Span | undefined)[]
}

/** Why a write was refused: the fields it is about, and the reason. */
export interface ConstraintFailure {
  readonly paths: readonly (readonly (string | number)[])[]
  readonly message: string
  /** What the summary names where there are no paths. */
  readonly label?: string
}

/** What some failures carry beside their message. */
export interface FailureParts {
  readonly constraintFailures?: readonly ConstraintFailure[]
  /** The value given to `abort`, and its text. */
  readonly abort?: { readonly value: Value; readonly text: string } | undefined
}

/** Thrown where a query fails. Its diagnostics have the places in the query. */
export class QueryFailure extends LanguageError {
  override name = 'QueryFailure'
  readonly code: FailureCode
  /** The message as the query log may show it. */
  readonly template: Message
  readonly diagnostics: readonly Diagnostic[]
  readonly constraintFailures: readonly ConstraintFailure[]
  /** The value given to `abort`. */
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

  /** For other languages, whose queries give up with texts. */
  get aborted(): string | undefined {
    return this.abort?.text
  }

  /** With the constraints that have failed, which the diagnostic lists. */
  override get toldElsewhere(): string {
    const [first] = this.diagnostics
    return this.constraintFailures.length === 0 ? this.message : String(first?.message ?? this.message)
  }
}

/** The failure of a text: one diagnostic for each fault that was found before anything ran. */
export function invalidQuery(diagnostics: readonly Diagnostic[]): QueryFailure {
  const count = diagnostics.length
  const message = msg`The query failed ${count} validation check${count === 1 ? '' : 's'}`
  return new QueryFailure('invalid_query', message, diagnostics)
}

// The errors of GraphQL requests, in the form that clients of the hosted service know.

import { type Message, messageOf, msg } from '../base/message.ts'
import { LanguageError } from '../model/failure.ts'
import type { ResponseFault } from '../model/language.ts'

/** An element of the list `errors` in a response. The specification of GraphQL defines the members. */
export interface ErrorEntry {
  readonly message: string
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code: string }
}

/** A failed operation discards all its writes. */
export class OperationError extends LanguageError {
  override name = 'OperationError'
  readonly errors: readonly ErrorEntry[]
  /** True if the document is invalid, so that nothing has run. The response then contains `data: null`. */
  readonly isInvalid: boolean
  readonly fault: ResponseFault
  readonly aborted: string | undefined

  constructor(
    errors: readonly ErrorEntry[],
    {
      isInvalid,
      template,
      aborted,
    }: { readonly isInvalid: boolean; readonly template?: Message; readonly aborted?: string | undefined },
  ) {
    super(errors[0]?.message ?? 'the operation failed')
    this.errors = errors
    this.isInvalid = isInvalid
    this.aborted = aborted
    this.fault = {
      code: errors[0]?.extensions?.code ?? 'invalid document',
      text: template ?? msg``,
      position: msg``,
    }
  }

  /** The error for a document or a request that cannot be evaluated. */
  static invalid(message: string | Message): OperationError {
    return new OperationError([{ message: String(message) }], {
      isInvalid: true,
      template: messageOf(message),
    })
  }

  /** The error for a request whose evaluation fails. `code` is an error code of version 4. */
  static failed(code: string, message: string | Message): OperationError {
    const entry = { message: String(message), extensions: { code } }
    return new OperationError([entry], { isInvalid: false, template: messageOf(message) })
  }
}

/** A rejected import of a schema discards all its writes. */
export class SchemaError extends LanguageError {
  override name = 'SchemaError'
  readonly status: 400 | 403
  readonly fault: ResponseFault
  readonly aborted = undefined

  constructor(message: string | Message, status: SchemaError['status'] = 400) {
    super(String(message))
    this.status = status
    this.fault = { code: 'invalid schema', text: messageOf(message), position: msg`` }
  }
}

export function errorsBody(errors: readonly ErrorEntry[], isInvalid: boolean): string {
  return JSON.stringify(isInvalid ? { data: null, errors } : { errors })
}

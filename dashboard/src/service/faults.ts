// Errors of requests to the service, with advice for the user.

import { at, isMap, type Json, listAt, textAt } from '../wire/json.ts'
import { printTagged } from '../wire/tagged.ts'

/** An error in the response to a rejected query. */
export interface Fault {
  readonly code: string
  readonly description: string
  /** Path in the query: keys and indexes from its root. */
  readonly position: readonly string[]
  /** Rejected fields, with the reason. */
  readonly failures: readonly { readonly field: string; readonly description: string }[]
  /** Errors inside a called function. */
  readonly causes: readonly Fault[]
}

/** Status 0: the request did not reach the service. */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly status: number
  readonly faults: readonly Fault[]
  /** The errors of version 10 with excerpts of the query, and log lines. */
  readonly summary: string

  constructor(status: number, message: string, faults: readonly Fault[] = [], summary = '') {
    super(message)
    this.status = status
    this.faults = faults
    this.summary = summary
  }

  /** Compares the code of the first error. */
  is(code: string): boolean {
    return this.faults[0]?.code === code
  }
}

/** Returns whether a request was aborted, for example because its page was closed. */
export function isAborted(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'AbortError'
}

/** `body`: the body of a response, parsed. */
export function errorOf(status: number, body: Json | undefined): ServiceError {
  const error = at(body, 'error')
  if (isMap(error)) return version10Error(status, error, textAt(body, 'summary') ?? '')
  const faults = faultsIn(listAt(body, 'errors'))
  const message = faults[0]?.description || textAt(body, 'message')
  return new ServiceError(status, message ?? `The service answered with status ${status}.`, faults)
}

function version10Error(status: number, error: Json, summary: string): ServiceError {
  const message = textAt(error, 'message') ?? ''
  const aborted = at(error, 'abort')
  const failures = listAt(error, 'constraint_failures').map(each => ({
    field: listAt(each, 'paths')
      .map(path => (Array.isArray(path) ? path.join('.') : String(path)))
      .join(', '),
    description: textAt(each, 'message') ?? '',
  }))
  const code = textAt(error, 'code') ?? 'error'
  const fault = { code, description: message, position: [], failures, causes: [] }
  const shown = aborted === undefined ? message : `${message} ${printTagged(aborted)}`
  return new ServiceError(status, shown, [fault], summary)
}

function faultsIn(errors: readonly Json[]): Fault[] {
  return errors.filter(isMap).map(error => ({
    code: textAt(error, 'code') ?? 'error',
    description: textAt(error, 'description') ?? '',
    position: listAt(error, 'position').map(String),
    failures: listAt(error, 'failures').map(failure => ({
      field: listAt(failure, 'field').map(String).join('.'),
      description: textAt(failure, 'description') ?? '',
    })),
    causes: faultsIn(listAt(error, 'cause')),
  }))
}

/** Returns undefined if the message of the error is enough. */
export function adviceFor(error: ServiceError): string | undefined {
  if (error.status === 0) return 'Check that the service is running and try again.'
  if (error.status === 429) return 'Wait a moment and try again.'
  if (error.status === 503) return 'Request less data at once, or try again when the service is less busy.'
  if (error.is('permission denied'))
    return 'Your secret does not allow this action. Sign in with a secret that has more rights, or ask an admin.'
  if (error.is('invalid ref')) return 'The object may have been deleted or renamed in the meantime.'
  if (error.is('instance not found'))
    return 'The document may have been deleted in the meantime, or may not exist at the chosen time.'
  return undefined
}

// What can go wrong between the page and the service, in words that say what to do.

import { at, isMap, type Json, listAt, textAt } from '../wire/json.ts'
import { printTagged } from '../wire/tagged.ts'

/** One error of a refused query. */
export interface Fault {
  readonly code: string
  readonly description: string
  /** Where in the query: keys and indexes from its root. */
  readonly position: readonly string[]
  /** Fields that were refused, and why. */
  readonly failures: readonly { readonly field: string; readonly description: string }[]
  /** The errors inside a called function. */
  readonly causes: readonly Fault[]
}

/** A request that the service has refused, or that never reached it (status 0). */
export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly status: number
  readonly faults: readonly Fault[]
  /** What version 10 draws: the errors under the text of the query, and what was logged. */
  readonly summary: string

  constructor(status: number, message: string, faults: readonly Fault[] = [], summary = '') {
    super(message)
    this.status = status
    this.faults = faults
    this.summary = summary
  }

  /** Whether the first error has this code. */
  is(code: string): boolean {
    return this.faults[0]?.code === code
  }
}

/** Whether a request ended because its page was left. */
export function isAborted(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'AbortError'
}

/** The error that a response's body tells of. */
export function errorOf(status: number, body: Json | undefined): ServiceError {
  const failure = at(body, 'error')
  if (isMap(failure)) return version10Error(status, failure, textAt(body, 'summary') ?? '')
  const faults = faultsIn(listAt(body, 'errors'))
  const message = faults[0]?.description || textAt(body, 'message')
  return new ServiceError(status, message ?? `The service answered with status ${status}.`, faults)
}

function version10Error(status: number, failure: Json, summary: string): ServiceError {
  const message = textAt(failure, 'message') ?? ''
  const aborted = at(failure, 'abort')
  const failures = listAt(failure, 'constraint_failures').map(each => ({
    field: listAt(each, 'paths')
      .map(path => (Array.isArray(path) ? path.join('.') : String(path)))
      .join(', '),
    description: textAt(each, 'message') ?? '',
  }))
  const fault = {
    code: textAt(failure, 'code') ?? 'error',
    description: message,
    position: [],
    failures,
    causes: [],
  }
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

/** What to do about an error; undefined where its own words say it. */
export function adviceFor(error: ServiceError): string | undefined {
  if (error.status === 0) return 'Check that the service is running and try again.'
  if (error.status === 429) return 'Wait a moment and try again.'
  if (error.status === 503) return 'Ask for less at once, or try again when the service is less busy.'
  if (error.is('permission denied')) return 'The secret you signed in with does not grant this.'
  if (error.is('invalid ref')) return 'It may have been deleted or renamed meanwhile.'
  if (error.is('instance not found'))
    return 'It may have been deleted meanwhile, or not exist at the time looked at.'
  return undefined
}

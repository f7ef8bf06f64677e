// Renders errors for the wire: `{"errors":[…]}`, members in their documented order, and for the query log.

import type { RequestError } from '../base/errors.ts'
import { joinMessages, type Message, msg, own } from '../base/message.ts'
import type { Fault } from '../model/language.ts'
import type { ErrorEntry, Position } from './errors.ts'

function entryJson(entry: ErrorEntry): Record<string, unknown> {
  const { position, code, description, failures, cause } = entry
  return { position, code, description, failures, cause: cause?.map(entryJson) }
}

/** The body of a failed query. */
export function queryErrorBody(errors: readonly ErrorEntry[]): string {
  return JSON.stringify({ errors: errors.map(entryJson) })
}

/** The body of a request that failed as a whole. */
export function requestErrorBody(error: RequestError): string {
  return JSON.stringify({ errors: [{ code: error.code, description: error.description }] })
}

/** Maximum numbers of logged steps of a position, and of logged errors, fields and causes. */
const stepsShown = 30
const errorsShown = 3

/** Converts the errors of a response to the fault in the query log. */
export function faultOf(errors: readonly ErrorEntry[]): Fault | undefined {
  const [first, ...others] = errors.slice(0, errorsShown)
  if (first === undefined) return undefined
  const text = joinMessages([textOf(first), ...others.map(each => withCode(each))], '; ')
  return { code: first.code, text, position: placeOf(first.position) }
}

/** Returns the text of an error, with its fields and causes. */
function textOf({ cause = [], code, failures = [], template }: ErrorEntry, depth = 0): Message {
  const fields = failures.slice(0, errorsShown).map(({ code, field }) => msg`${placeOf(field)}: ${own(code)}`)
  const inner = depth < errorsShown ? cause.slice(0, 1).map(each => withCode(each, depth + 1)) : []
  // The text of `abort` is the client's own.
  const text = code === 'transaction aborted' ? msg`` : template
  return joinMessages([text, ...fields, ...inner], ' – ')
}

function withCode(error: ErrorEntry, depth = 0): Message {
  return joinMessages([own(error.code), textOf(error, depth)], ': ')
}

/** Names of fields are the client's, so they are quoted. */
function placeOf(position: Position): Message {
  const steps = position.slice(0, stepsShown)
  return joinMessages(
    steps.map(step => (typeof step === 'number' ? own(step) : msg`${step}`)),
    '/',
  )
}

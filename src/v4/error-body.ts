// Renders errors for the wire: `{"errors":[…]}`, members in their documented order.

import type { RequestError } from '../errors.ts'
import type { ErrorEntry } from './errors.ts'

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

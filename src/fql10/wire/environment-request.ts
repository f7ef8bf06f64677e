// The request for the environment of a database (its global names and static types), and the errors of this request.

import { type RequestErrorCode, requestErrors } from '../../base/request-errors.ts'
import { quoteJson } from '../../values/json-text.ts'

export const environmentOptions = { kind: 'environment' } as const

/** The body of the response to a request that fails with a RequestError. */
export function environmentErrorBody(code: RequestErrorCode, description: string): string {
  const text = code === 'unauthorized' ? 'Invalid token, unable to authenticate request' : description
  return errorText(requestErrors[code].version10, text)
}

export function errorText(code: string, message: string): string {
  return `{"code":"${code}","message":${quoteJson(message)}}`
}

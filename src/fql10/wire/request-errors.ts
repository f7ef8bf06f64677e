// Creates the error bodies of version 10 for requests that fail with a RequestError.

import { type RequestErrorCode, requestErrors } from '../../base/request-errors.ts'
import { quoteJson } from '../../values/json-text.ts'

export function requestErrorBody(code: RequestErrorCode, description: string): string {
  return errorBody(code, code === 'unauthorized' ? 'Access token required' : description)
}

/** The body of an error from a feed or a stream. */
export function eventErrorBody(code: RequestErrorCode, description: string): string {
  const isUnauthorized = code === 'unauthorized'
  return errorBody(code, isUnauthorized ? 'Invalid token, unable to authenticate request' : description)
}

function errorBody(code: RequestErrorCode, message: string): string {
  return `{"error":{"code":"${requestErrors[code].version10}","message":${quoteJson(message)}}}`
}

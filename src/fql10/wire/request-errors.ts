// Creates the error bodies of version 10 for requests that fail with a RequestError.

import type { RequestErrorCode } from '../../base/request-errors.ts'
import { quoteJson } from '../../values/json-text.ts'

/** The error codes in version 10. */
export const requestErrorCodes: Readonly<Record<RequestErrorCode, string>> = {
  'bad request': 'invalid_request',
  'contended transaction': 'contended_transaction',
  forbidden: 'forbidden',
  'internal server error': 'internal_error',
  'method not allowed': 'method_not_allowed',
  'not found': 'not_found',
  'request timeout': 'time_out',
  'request too large': 'request_size_exceeded',
  'service unavailable': 'time_out',
  'time out': 'time_out',
  'too many requests': 'limit_exceeded',
  unauthorized: 'unauthorized',
}

/** The body of an error. */
export function requestErrorBody(code: RequestErrorCode, description: string): string {
  return errorBody(code, code === 'unauthorized' ? 'Access token required' : description)
}

/** The body of an error from a feed or a stream. */
export function eventErrorBody(code: RequestErrorCode, description: string): string {
  const isRefused = code === 'unauthorized'
  return errorBody(code, isRefused ? 'Invalid token, unable to authenticate request' : description)
}

function errorBody(code: RequestErrorCode, message: string): string {
  return `{"error":{"code":"${requestErrorCodes[code]}","message":${quoteJson(message)}}}`
}

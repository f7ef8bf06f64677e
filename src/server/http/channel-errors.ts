// Responds to HTTP/1.1 connections that cannot be read any further, because the bytes are not HTTP, the head is too long,
// or the client is too slow. The response is written to the bare connection, which is then closed. Its body has an
// `errors` array, without which the JavaScript driver crashes.

import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RequestErrorCode, requestErrors } from '../../base/request-errors.ts'
import { errorBody, jsonType } from './answer.ts'

/** Closes the connection, after a response if it is writable. */
export function answerChannelError(error: NodeJS.ErrnoException, connection: Duplex): void {
  // The response to an earlier request is still being written. Node closes the connection after it.
  if (connection.writableEnded && !connection.writableFinished) return
  if (error.code === 'ECONNRESET' || !connection.writable) {
    connection.destroy()
    return
  }
  connection.end(channelResponse(error.code))
}

function channelResponse(errorCode: string | undefined): string {
  switch (errorCode) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return rawResponse('request timeout', 'Client timed out.')
    case 'HPE_HEADER_OVERFLOW':
      return rawResponse('bad request', 'The request line and headers are too long.')
    default:
      return rawResponse('bad request', 'The request is not valid HTTP.')
  }
}

function rawResponse(code: RequestErrorCode, description: string): string {
  const status = requestErrors[code].status
  const body = errorBody(code, description)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

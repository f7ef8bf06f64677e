// Answers of the endpoints under /api: plain JSON, and errors as `{"message": …}`. `code` and `reason` say the same
// again for clients of older versions of that interface, which show `reason`.

import { type RequestErrorCode, requestErrorStatus } from '../errors.ts'
import { formatTime, timeFromMicros } from '../values/time.ts'
import type { Micros } from '../values/value.ts'
import type { Answer } from './answer.ts'
import { jsonType } from './response-headers.ts'

/** Thrown by handlers: answered with its status and message. */
export class MessageError extends Error {
  override name = 'MessageError'
  readonly status: number
  readonly code: string

  constructor(code: MessageCode, message: string) {
    super(message)
    this.code = code
    this.status = messageStatus[code]
  }
}

/** What is wrong with a request, as a sentence without its full stop. */
export function badRequest(message: string): MessageError {
  return new MessageError('bad request', `Bad request: ${message}.`)
}

const messageStatus = { ...requestErrorStatus, conflict: 409 } as const

type MessageCode = keyof typeof messageStatus

/** The body of an error. */
function messageBody(code: string, message: string): string {
  return JSON.stringify({ message, code: code.replaceAll(' ', '_'), reason: message })
}

/** A body of JSON with nothing about queries in the headers. */
export function jsonAnswer(status: number, body: unknown): Answer {
  return {
    status,
    body: body === undefined ? '' : JSON.stringify(body),
    txnTime: undefined,
    metrics: undefined,
    contentType: jsonType,
  }
}

/** A time in ISO 8601 with milliseconds. */
export function isoTime(micros: Micros): string {
  return formatTime(timeFromMicros(Math.floor(micros / 1000) * 1000))
}

/** Runs a handler; a {@link MessageError} that it throws becomes an answer. */
export async function refusing(handle: () => Promise<Answer>): Promise<Answer> {
  try {
    return await handle()
  } catch (error) {
    if (error instanceof MessageError) return errorAnswer(error)
    throw error
  }
}

/** The answer that a refusal becomes. */
function errorAnswer({ status, code, message }: MessageError): Answer {
  return { ...jsonAnswer(status, undefined), body: messageBody(code, message) }
}

/** The error body of the edge's own refusals at these endpoints. */
export function edgeErrorBody(code: RequestErrorCode, description: string): string {
  return messageBody(code, description)
}

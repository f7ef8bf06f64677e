// Code that the endpoints under /api share: answers in plain JSON, and errors as `{"message": …}`. The fields `code`
// and `reason` repeat the error for older clients, which show `reason`.

import { type Message, messageOf, msg } from '../../base/message.ts'
import { type RequestErrorCode, requestErrorStatus } from '../../base/request-errors.ts'
import type { Principal } from '../../engine/engine-contract.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import type { Micros } from '../../values/value.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall, Services } from './endpoint.ts'
import { jsonType } from './response-headers.ts'

/** Thrown by handlers. The edge (edge.ts) responds with the status and the message of the error. */
export class MessageError extends Error {
  override name = 'MessageError'
  readonly status: number
  readonly code: string
  readonly template: Message

  constructor(code: MessageCode, message: string | Message) {
    super(String(message))
    this.template = messageOf(message)
    this.code = code
    this.status = messageStatus[code]
  }

  /** The answer that the client gets. */
  get answer(): Answer {
    const fault = { code: codeName(this.code), text: this.template, position: msg`` }
    return { ...jsonAnswer(this.status, undefined), body: messageBody(this.code, this.message), fault }
  }
}

/** A 400 error. `message` is a sentence without its full stop. */
export function badRequest(message: string | Message): MessageError {
  return new MessageError('bad request', msg`Bad request: ${message}.`)
}

const messageStatus = { ...requestErrorStatus, conflict: 409 } as const

type MessageCode = keyof typeof messageStatus

function messageBody(code: string, message: string): string {
  return JSON.stringify({ message, code: codeName(code), reason: message })
}

function codeName(code: string): string {
  return code.replaceAll(' ', '_')
}

/** Traits of the endpoints under /api. With these traits, errors of the edge have the same form as handlers' errors. */
export const apiTraits = {
  errorBody: (code: RequestErrorCode, description: string) => messageBody(code, description),
  errorCode: codeName,
} as const

/** A JSON answer without the headers of queries, such as `x-txn-time`. */
export function jsonAnswer(status: number, body: unknown): Answer {
  return { status, body: body === undefined ? '' : JSON.stringify(body), contentType: jsonType }
}

/** A time in ISO 8601 with milliseconds. */
export function isoTime(micros: Micros): string {
  return formatTime(timeFromMicros(Math.floor(micros / 1000) * 1000))
}

/** Returns the principal of a call's credential. Throws a 401 error when the credential is invalid. */
export async function principalOf(
  { request }: EndpointCall,
  { engine }: Services,
  authorization = request.headers.authorization,
): Promise<Principal> {
  const principal = await engine.whoIs(authorization)
  if (principal) return principal
  throw new MessageError('unauthorized', msg`The credential is unknown, has expired or was revoked.`)
}

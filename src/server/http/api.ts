// What the endpoints under /api have in common: plain JSON, and errors as `{"message": …}`. `code` and `reason` say the same
// again for clients of older versions of that interface, which show `reason`.

import { type RequestErrorCode, requestErrorStatus } from '../../base/errors.ts'
import { type Message, messageOf, msg } from '../../base/message.ts'
import type { Principal } from '../../engine/contract.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import type { Micros } from '../../values/value.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall, Services } from './endpoint.ts'
import { jsonType } from './response-headers.ts'

/** Thrown by handlers: answered with its status and message. */
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

  /** What it is answered with. */
  get answer(): Answer {
    const fault = { code: codeName(this.code), text: this.template, position: msg`` }
    return { ...jsonAnswer(this.status, undefined), body: messageBody(this.code, this.message), fault }
  }
}

/** What is wrong with a request, as a sentence without its full stop. */
export function badRequest(message: string | Message): MessageError {
  return new MessageError('bad request', msg`Bad request: ${message}.`)
}

const messageStatus = { ...requestErrorStatus, conflict: 409 } as const

type MessageCode = keyof typeof messageStatus

/** The body of an error. */
function messageBody(code: string, message: string): string {
  return JSON.stringify({ message, code: codeName(code), reason: message })
}

function codeName(code: string): string {
  return code.replaceAll(' ', '_')
}

/** The traits of these endpoints. What the edge refuses in their place looks like their own errors. */
export const apiTraits = {
  errorBody: (code: RequestErrorCode, description: string) => messageBody(code, description),
  errorCode: codeName,
} as const

/** A body of JSON with nothing about queries in the headers. */
export function jsonAnswer(status: number, body: unknown): Answer {
  return { status, body: body === undefined ? '' : JSON.stringify(body), contentType: jsonType }
}

/** A time in ISO 8601 with milliseconds. */
export function isoTime(micros: Micros): string {
  return formatTime(timeFromMicros(Math.floor(micros / 1000) * 1000))
}

/** Who the credential of a call stands for. Throws 401. */
export async function principalOf(
  { request }: EndpointCall,
  { engine }: Services,
  authorization = request.headers.authorization,
): Promise<Principal> {
  const principal = await engine.whoIs(authorization)
  if (principal) return principal
  throw new MessageError('unauthorized', msg`The credential is unknown, has expired or was revoked.`)
}

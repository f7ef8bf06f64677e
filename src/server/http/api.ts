// Endpoints with plain JSON, such as those under /api. `apiEndpoint` adds authentication, the forms of answers and
// errors, and for some endpoints also limits and costs. Errors have the form `{"message": …}`; the fields `code` and
// `reason` repeat the error for older clients, which show `reason`.

import { limits } from '../../base/limits.ts'
import { type Message, msg } from '../../base/message.ts'
import { RequestError, type RequestErrorCode } from '../../base/request-errors.ts'
import type { Principal } from '../../engine/engine-contract.ts'
import { formatMicros } from '../../values/time.ts'
import type { Micros } from '../../values/value.ts'
import { type Answer, jsonAnswer, jsonType, noQueryMetrics } from './answer.ts'
import type { Endpoint, EndpointCall, Handler, Services } from './endpoint.ts'
import type { Protocol } from './protocol.ts'
import { version4Protocol } from './request-headers.ts'

/** Reports the costs of each transaction of a charged request. */
type OnCosts = (costs: { readonly readBytes: number; readonly writeOps: number }) => void

/**
 * Handles a call of an authorized client. Returns the body: a string is sent as plain text, any other value as JSON.
 * Throws {@link ApiError}.
 */
type ApiHandler = (call: EndpointCall, principal: Principal, onCosts: OnCosts) => unknown

interface ApiEndpoint extends Pick<Endpoint, 'path' | 'readsBody' | 'bodyBytesMax'> {
  /** Secrets that may use the endpoint. `admin`: an admin key of any database, or the root secret. */
  readonly access: 'any secret' | 'admin' | 'root'
  /** The message for clients without access. The default is a general message. */
  readonly forbidden?: string
  /** Requests are limited, charged and recorded like queries. */
  readonly isCharged?: true
  /** The status of successful POST requests. The default is 200. */
  readonly postStatus?: number
  readonly methods: Readonly<Record<string, ApiHandler>>
}

/** Checks the client's secret, and then calls the handler of the method. */
export function apiEndpoint(services: Services, endpoint: ApiEndpoint): Endpoint {
  const { access, forbidden, isCharged, methods, postStatus = 200, ...rest } = endpoint
  const handlers = Object.entries(methods).map(([method, handle]): [string, Handler] => {
    const status = method === 'POST' ? postStatus : 200
    const handler = async (call: EndpointCall) => {
      const begunMs = services.clock.elapsedMs()
      const principal = await principalOf(call, services)
      const run = async (onCosts: OnCosts) => {
        const work = async () => handle(call, principal, onCosts)
        const body = await services.engine.withMemory(call.ticket, call.body?.length ?? 0, work)
        return bodyAnswer(status, body)
      }
      const rejection = mayUse[access](principal)
        ? undefined
        : new ApiError('forbidden', forbidden ?? noAccess)
      if (isCharged) return runCharged(services, { begunMs, principal, rejection }, run)
      if (rejection) throw rejection
      return run(ignoreCosts)
    }
    return [method, handler]
  })
  const recorded = isCharged === true
  return { ...rest, recorded, protocol: apiProtocol, methods: Object.fromEntries(handlers) }
}

const noAccess = 'The secret gives no access to this endpoint.'

const mayUse: Readonly<Record<ApiEndpoint['access'], (principal: Principal) => boolean>> = {
  'any secret': () => true,
  admin: ({ isAdmin }) => isAdmin,
  root: ({ isRoot }) => isRoot,
}

function bodyAnswer(status: number, body: unknown): Answer {
  return typeof body === 'string' ? { status, body, contentType: textType } : jsonAnswer(status, body)
}

const textType = 'text/plain; charset=utf-8'
const ignoreCosts: OnCosts = () => undefined

/** An {@link ApiError} of the handler is answered with the costs, too. */
async function runCharged(
  { clock, engine }: Services,
  request: {
    readonly principal: Principal
    readonly rejection: ApiError | undefined
    readonly begunMs: number
  },
  run: (onCosts: OnCosts) => Promise<Answer>,
): Promise<Answer> {
  const { begunMs, principal, rejection } = request
  const { caller, database, place } = principal
  const rateLimited = rejection ? [] : engine.exhausted(database)
  const costs = { compute: 1, read: 0, write: 0 }
  const handled = async () => {
    if (rejection) throw rejection
    if (rateLimited.length > 0)
      throw new ApiError('too many requests', msg`Rate limit for ${rateLimited[0]} exceeded`)
    try {
      return await run(({ readBytes, writeOps }) => {
        costs.read += Math.ceil(readBytes / limits.readOpBytes)
        costs.write += writeOps
      })
    } finally {
      engine.charge(database, costs)
    }
  }
  const answer = await handled().catch((error: unknown) => {
    if (error instanceof ApiError) return error.answer
    throw error
  })
  const metrics = {
    ...noQueryMetrics,
    byteReadOps: costs.read,
    byteWriteOps: costs.write,
    queryTimeMs: Math.round(clock.elapsedMs() - begunMs),
    rateLimited,
  }
  return { ...answer, metrics, place, caller }
}

/** An error whose answer has no headers of queries, in contrast to other request errors. */
export class ApiError extends RequestError {
  override name = 'ApiError'

  get answer(): Answer {
    const fault = { code: apiProtocol.errorCode(this.code), text: this.template, position: msg`` }
    const body = apiProtocol.errorBody(this.code, this.description)
    return { status: this.status, body, contentType: jsonType, fault }
  }
}

/** Status 400. `message` is a sentence without its full stop. */
export function badRequest(message: string | Message): ApiError {
  return new ApiError('bad request', msg`Bad request: ${message}.`)
}

/** Version 4 with the errors of the endpoints under /api, also for errors of the edge. */
export const apiProtocol = {
  ...version4Protocol,
  errorBody: (code: RequestErrorCode, message: string) =>
    JSON.stringify({ message, code: apiCode(code), reason: message }),
  errorCode: apiCode,
} as const satisfies Protocol

function apiCode(code: RequestErrorCode): string {
  return code.replaceAll(' ', '_')
}

/** Returns a time in ISO 8601 with milliseconds. */
export function isoTime(micros: Micros): string {
  return formatMicros(Math.floor(micros / 1000) * 1000)
}

/** Throws a 401 error when the credential is invalid. */
export async function principalOf(
  { request, ticket }: EndpointCall,
  { engine }: Services,
  authorization = request.headers.authorization,
): Promise<Principal> {
  const principal = await engine.whoIs(authorization, ticket)
  if (principal) return principal
  throw new ApiError('unauthorized', msg`The credential is unknown, has expired or was revoked.`)
}

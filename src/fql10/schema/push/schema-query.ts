// Evaluates requests to the schema endpoints as queries, so that the engine retries conflicting transactions.

import { catchError } from '../../../base/catch-error.ts'
import { msg } from '../../../base/message.ts'
import { RequestError } from '../../../base/request-errors.ts'
import type { LanguageError } from '../../../model/failure.ts'
import {
  type LanguageRequest,
  type Query,
  type RenderedResponse,
  requestFault,
} from '../../../model/language.ts'
import type { Session } from '../../../model/session.ts'
import { formatMicros } from '../../../values/time.ts'
import type { Micros, Value } from '../../../values/value.ts'
import {
  readSchemaRequest,
  type SchemaRequest,
  schemaErrorBody,
  schemaOptions,
  schemaRequestErrorBody,
} from '../../wire/schema-request.ts'
import {
  checksVersion,
  documentTimePlaceholder,
  doesWrite,
  JsonText,
  type ResponseMembers,
  SchemaFailure,
  versionPlaceholder,
} from './route.ts'
import { routeOf } from './routes.ts'

export function isSchemaRequest({ options }: LanguageRequest): boolean {
  return options?.kind === schemaOptions.kind
}

export class SchemaQuery implements Query {
  readonly #request: SchemaRequest
  readonly #typecheck: string | undefined

  constructor({ body = '{}', options }: LanguageRequest) {
    this.#request = readSchemaRequest(body)
    this.#typecheck = options?.typecheck
  }

  /** A request to an unknown endpoint counts as `pure`. `evaluate` reports its error after authentication. */
  get effect(): Query['effect'] {
    const effect = () => (doesWrite(routeOf(this.#request), this.#request) ? 'write' : 'read')
    return catchError(SchemaFailure, effect, () => 'pure')
  }

  /** Requests with files take long, because all files are parsed, compared and checked. */
  get isLong(): boolean {
    return this.#request.files.length > 0
  }

  evaluate(session: Session): RenderedResponse {
    const request = this.#request
    if (!readers.has(roleOf(session))) throw new SchemaFailure(403, msg`Access denied`)
    const route = routeOf(request)
    if (doesWrite(route, request) && roleOf(session) !== 'admin')
      throw new SchemaFailure(403, msg`Access denied`)
    // The check of a write can only be disabled, as for queries that write the schema.
    if (this.#typecheck === 'false') session.typecheck = false
    else if (this.#typecheck === 'true' && !doesWrite(route, request)) session.typecheck = true
    const version = session.transaction.catalogue.schemaVersion(session.database)
    if (checksVersion(route, request)) checkVersion(request, version)
    return { status: 200, body: bodyOf(route.handle({ request, session, version })) }
  }

  value(session: Session): Value {
    throw new RequestError(
      'bad request',
      msg`Requests to the schema endpoints cannot be evaluated here as ${session.dialect}.`,
    )
  }
}

const readers: ReadonlySet<string | undefined> = new Set(['admin', 'server', 'server-readonly'])

/** The built-in role of the caller's key; undefined for tokens, and for keys with user-defined roles. */
function roleOf({ authority, caller }: Session): string | undefined {
  return authority.kind === 'builtin' && caller.identity === undefined ? authority.role : undefined
}

/**
 * Throws a SchemaFailure if the version in a request is not the current version. The version is ignored if it is not an
 * integer, or if the request has `force=true`.
 */
function checkVersion({ parameters }: SchemaRequest, version: Micros): void {
  const given = parameters.version ?? ''
  if (parameters.force === 'true' || !/^-?[0-9]+$/.test(given)) return
  if (BigInt(given) !== BigInt(version)) throw new SchemaFailure(409, msg`Stale schema version provided`)
}

function bodyOf(members: ResponseMembers): string {
  const texts = Object.entries(members).map(([name, value]) => {
    const text = value instanceof JsonText ? value.text : JSON.stringify(value)
    return `${JSON.stringify(name)}:${text}`
  })
  return `{${texts.join(',')}}`
}

export function completeSchemaBody(body: string, time: Micros): string {
  const text = body.replace(versionPlaceholder.text, `${time}`)
  return text.includes(documentTimePlaceholder)
    ? text.replaceAll(documentTimePlaceholder, formatMicros(time))
    : text
}

export function rejectedSchemaRequest(error: LanguageError): RenderedResponse {
  const status = error instanceof SchemaFailure ? error.status : 400
  const fault = error instanceof SchemaFailure ? error.fault : undefined
  return { status, body: schemaErrorBody(error.message), ...(fault && { fault }) }
}

export function failedSchemaRequest(error: RequestError): RenderedResponse {
  const { code, description, status } = error
  return { status, body: schemaRequestErrorBody(code, description), fault: requestFault(error, '') }
}

// Handles `GET /environment/1`: prints the static types of a database.

import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { LanguageError } from '../model/failure.ts'
import { type LanguageRequest, type Query, type RenderedResponse, requestFault } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import type { Value } from '../values/value.ts'
import type { Scheme, Shape } from './typing/environment.ts'
import { libraryNames, libraryShapes } from './typing/library.ts'
import { schemeText } from './typing/print.ts'
import { environmentErrorBody, environmentOptions, errorText } from './wire/environment-request.ts'
import { typesOf } from './world/static-types.ts'

export function isEnvironmentRequest({ options }: LanguageRequest): boolean {
  return options?.kind === environmentOptions.kind
}

/** The message for callers that may not see types. */
export const forbiddenText = 'A valid admin/server key must be provided to use this endpoint'

class EnvironmentForbidden extends LanguageError {
  override name = 'EnvironmentForbidden'

  get aborted(): undefined {
    return undefined
  }
}

/** Only server and admin keys may list the names and types of a database. */
export function mayReadTypes({ authority, caller }: Session): boolean {
  if (authority.kind !== 'builtin' || caller.identity !== undefined) return false
  return authority.role === 'admin' || authority.role === 'server'
}

export class EnvironmentQuery implements Query {
  readonly effect = 'read'

  evaluate(session: Session): RenderedResponse {
    if (!mayReadTypes(session)) throw new EnvironmentForbidden(forbiddenText)
    const types = typesOf(session)
    const environment = {
      globals: textsOf([...libraryNames, ...types.names()]),
      types: Object.fromEntries(
        [...libraryShapes, ...types.shapes].map(([name, shape]) => [name, describe(name, shape)]),
      ),
    }
    return { status: 200, body: JSON.stringify({ environment }) }
  }

  value(session: Session): Value {
    throw new RequestError('bad request', msg`The environment cannot be read as ${session.dialect}.`)
  }
}

export function forbiddenEnvironment(error: LanguageError): RenderedResponse {
  return { status: 403, body: errorText('forbidden', error.message) }
}

/** The body differs from other errors of version 10: it is not nested in a member `error`. */
export function failedEnvironment(error: RequestError): RenderedResponse {
  const { code, description, status } = error
  return { status, body: environmentErrorBody(code, description), fault: requestFault(error, code) }
}

function textsOf(schemes: Iterable<readonly [string, Scheme]>): Record<string, string> {
  return Object.fromEntries([...schemes].map(([name, scheme]) => [name, schemeText(scheme)]))
}

function describe(name: string, { access, alias, apply, fields, hint, operators, self }: Shape): object {
  return {
    self: self ?? name,
    ...(fields.size > 0 && { fields: textsOf(fields) }),
    ...(operators !== undefined && operators.size > 0 && { ops: textsOf(operators) }),
    ...(apply && { apply: schemeText(apply) }),
    ...(access && { access: schemeText(access) }),
    ...(alias && { alias: schemeText(alias) }),
    ...(hint && { type_hint: hint }),
  }
}

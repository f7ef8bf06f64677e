// Handles requests that explain a query: `{"query": …, "as": …}`. Both members are texts or templates. With `as`, the
// explanation lists permission checks, otherwise reads.

import { catchError } from '../base/catch-error.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { isBuiltinRole } from '../model/auth/builtin-role.ts'
import type { Query } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import { JsonSyntaxError, parseJson } from '../values/json.ts'
import { formatMicros } from '../values/time.ts'
import type { Json, Micros, ObjectValue, Value as Stored } from '../values/value.ts'
import { Call } from './call.ts'
import { Interpreter } from './evaluate/interpreter.ts'
import { QueryFailure } from './failure/query-failure.ts'
import { renderInMessage } from './failure/summary.ts'
import { renderReferences } from './formats/result.ts'
import { type QueryBody, queryOf } from './request.ts'
import { timeMark } from './response.ts'
import { Source } from './syntax/source.ts'
import { Doc, type Value } from './value.ts'
import { DataWorld } from './world/data-world.ts'

interface ExplanationRequest {
  readonly query: QueryBody
  /** A built-in role, or an expression whose value is a document. Undefined for the caller of the request. */
  readonly as: QueryBody | string | undefined
}

/**
 * Returns undefined if the body has no member `query` with a text or a template. Throws `bad request` if the rest of the
 * body is invalid.
 */
export function readExplanation(body: string | undefined): ExplanationRequest | undefined {
  const parsed = () => parseJson(body ?? '')
  const given = catchError(JsonSyntaxError, parsed, () => undefined)
  if (!(given instanceof Map)) return undefined
  const query = given.get('query')
  if (!isQueryJson(query)) return undefined
  const as = given.get('as')
  if (as !== undefined && !isQueryJson(as))
    throw new RequestError('bad request', msg`The body must be {"query": …, "as": …}.`)
  const queryMembers = new Map([...given].filter(([name]) => name !== 'as'))
  return {
    query: queryOf(queryMembers),
    as:
      as === undefined || (typeof as === 'string' && isBuiltinRole(as))
        ? as
        : queryOf(new Map([['query', as]])),
  }
}

function isQueryJson(query: Json | undefined): boolean {
  return typeof query === 'string' || (query instanceof Map && query.has('fql'))
}

/**
 * Returns a query whose value is the caller `as`: a built-in role, or the reference of a document. `run` evaluates an
 * expression.
 */
export function callerQuery(
  as: QueryBody | string,
  run: (body: QueryBody, session: Session) => Value,
): Query {
  const value = (session: Session): Stored => {
    if (typeof as === 'string') return as
    const evaluated = () => run(as, session)
    const found = catchError(QueryFailure, evaluated, ({ diagnostics }) => {
      throw new RequestError('bad request', msg`"as" fails:\n${renderInMessage(diagnostics, '\n\n')}`)
    })
    if (found instanceof Doc) return found.ref
    throw new RequestError('bad request', msg`"as" must be a built-in role or a document of this database.`)
  }
  return {
    effect: 'read',
    value,
    evaluate: () => {
      throw new RequestError('bad request', msg`"as" is a role or a document, which cannot be evaluated.`)
    },
  }
}

/**
 * Parses the member `data` in the beginning of a body (response.ts). `time` replaces the mark for the commit
 * time, because the query is not committed.
 */
export function dataOf(beginning: string, time: Micros): Stored {
  const text = beginning.replaceAll(timeMark, formatMicros(time))
  const members = parseJson(`{${text}}`)
  return members instanceof Map ? (members.get('data') as Stored) : null
}

export function describeFailure(error: Error): ObjectValue {
  if (!(error instanceof QueryFailure)) return new Map([['description', error.message]])
  const { code, diagnostics, message } = error
  return new Map([
    ['code', code],
    ['description', message],
    ['summary', renderInMessage(diagnostics, '\n\n')],
  ])
}

/** Plain JSON with documents as references. */
export function explanationBody(explanation: ObjectValue, session: Session): string {
  const world = new DataWorld(session)
  const call = new Call(new Interpreter(session, world), undefined, new Source('', ''), undefined)
  return `{"resource":${renderReferences(world.runtime(explanation), call)}}`
}

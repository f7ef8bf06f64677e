// Handles `POST /api/v1/check`: checks a query without evaluating it, or lists the members of a value in the query.
// Editors use this endpoint to underline errors while the user types, and for completion.

import { catchError } from '../base/catch-error.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import type { Query, RenderedResponse } from '../model/language.ts'
import { isTypechecked } from '../model/resources/databases.ts'
import type { Session } from '../model/session.ts'
import type { Value as Stored } from '../values/value.ts'
import { forbiddenText, mayReadTypes } from './environment-query.ts'
import { QueryFailure } from './failure/query-failure.ts'
import { summaryOf } from './failure/summary.ts'
import { bindTemplate } from './formats/decode.ts'
import { decodeArguments, programOf, type QueryBody, queryOf, readMembers } from './request.ts'
import type { RequestOptions } from './response.ts'
import { type Member, membersAt } from './typing/members.ts'
import type { Struct } from './value.ts'
import { DataWorld } from './world/data-world.ts'
import { visibleTo } from './world/log-output.ts'
import { type CheckOutcome, checkOnce } from './world/remembered-checks.ts'
import { typesOf, ValueTypes } from './world/static-types.ts'
import { namesOf } from './world/wire-names.ts'

interface CheckRequest {
  readonly query: QueryBody
  /**
   * The offset of the name of a field or method, in UTF-16 units. The response lists the members that could replace this
   * name. If undefined, the query is checked.
   */
  readonly membersAt: number | undefined
}

/** Reads the body of a request. Throws `bad request`. */
export function readCheck(body: string | undefined): CheckRequest {
  const { members, repeated } = readMembers(body)
  const position = members.get('members_at')
  if (position !== undefined && !(typeof position === 'bigint' && position >= 0n)) {
    throw new RequestError('bad request', msg`"members_at" must be a position in the query.`)
  }
  const queryMembers = new Map([...members].filter(([name]) => name !== 'members_at'))
  return {
    query: queryOf(queryMembers, repeated),
    membersAt: position === undefined ? undefined : Number(position),
  }
}

/**
 * Returns whether the types of a query are checked. `typecheck`: the option of the request; if it is undefined, the
 * database decides.
 */
export function isCheckEnabled(typecheck: string | undefined, session: Session): boolean {
  return typecheck === undefined ? isTypechecked(session.database, session) : typecheck === 'true'
}

/** Runs a request to the endpoint. Only callers that may read the environment may check queries. */
export class CheckQuery implements Query {
  readonly effect = 'read'
  readonly #request: CheckRequest
  readonly #options: RequestOptions

  constructor(body: string | undefined, options: RequestOptions) {
    this.#request = readCheck(body)
    this.#options = options
  }

  evaluate(session: Session): RenderedResponse {
    if (!mayReadTypes(session)) throw new RequestError('forbidden', msg`${forbiddenText}`)
    const { membersAt: position, query } = this.#request
    const names = namesOf(new DataWorld(session))
    const args = decodeArguments(query.arguments, (this.#options.format ?? 'simple') !== 'simple', names)
    if (position !== undefined) {
      const list = () => this.#members(position, args, session)
      const members = catchError(QueryFailure, list, () => [])
      return { status: 200, body: JSON.stringify({ members }) }
    }
    const check = () => this.#check(args, session)
    const failed = ({ diagnostics }: QueryFailure): CheckOutcome => ({
      checked: { type: undefined, errors: diagnostics, warnings: [] },
    })
    const outcome = catchError(QueryFailure, check, failed)
    const { errors = [], type = null, warnings = [] } = outcome?.checked ?? {}
    const summary = summaryOf(visibleTo(session, [...warnings, ...errors]))
    return { status: 200, body: JSON.stringify({ static_type: type, summary }), lesson: outcome?.report }
  }

  #check(args: Struct, session: Session): CheckOutcome | undefined {
    const { query } = this.#request.query
    const program = programOf(query)
    const placeholders = bindTemplate(query, program.source, namesOf(new DataWorld(session)))
    if (!isCheckEnabled(this.#options.typecheck, session)) return undefined
    return checkOnce({ query, program, args, placeholders }, session)
  }

  #members(position: number, args: Struct, session: Session): readonly Member[] {
    const program = programOf(this.#request.query.query)
    const types = new ValueTypes()
    const given = new Map(Array.from(args, ([name, value]) => [name, types.typeOf(value)]))
    return membersAt(program, typesOf(session).environment, given, position)
  }

  value(session: Session): Stored {
    throw new RequestError('bad request', msg`A check cannot be evaluated as ${session.dialect}.`)
  }
}

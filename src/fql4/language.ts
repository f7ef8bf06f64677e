// Implements `NamedLanguage` for version 4. The engine, stored code and the query log use this interface.

import { catchError } from '../base/catch-error.ts'
import type { CallSite } from '../model/auth/access-contract.ts'
import { type NamedLanguage, type Query, type RenderedResponse, requestFault } from '../model/language.ts'
import { fieldNames } from '../model/resources/kinds.ts'
import type { CodeLanguage, Session } from '../model/session.ts'
import { DocumentValue, type Json, type ObjectValue, type Value } from '../values/value.ts'
import {
  faultOf,
  queryErrorBody,
  readBody,
  readExplanation,
  renderResource,
  requestErrorBody,
} from './bodies.ts'
import { applyStored, evaluate, stackOverflow } from './evaluate.ts'
import { families, registry } from './functions/registry.ts'
import { indexSuggestionsOf } from './index-suggestions.ts'
import { type ParsedQuery, parseQuery } from './parse-query.ts'
import { type ErrorEntry, QueryError, statusOf } from './query-errors.ts'
import { createShapeFunction } from './shape.ts'
import { compileLambda } from './stored-code.ts'
import { streamOrder } from './stream-order.ts'
import { fillTransactionTime } from './wire/render.ts'

/** Throws `invalid expression`. */
export function parse(json: Json, apiVersion: string): ParsedQuery {
  return parseQuery(json, apiVersion, registry)
}

class Version4Query implements Query {
  readonly #parsed: ParsedQuery

  constructor(json: Json, apiVersion: string) {
    this.#parsed = parse(json, apiVersion)
  }

  get effect(): Query['effect'] {
    return this.#parsed.effect
  }

  get onlyReads(): boolean {
    return this.#parsed.staticEffect !== 'write'
  }

  evaluate(session: Session): RenderedResponse {
    return render(this.value(session), session)
  }

  value(session: Session): Value {
    return evaluate(this.#parsed.expression, undefined, session)
  }
}

function render(value: Value, session: Session): RenderedResponse {
  const isCreated = value instanceof DocumentValue && value.created
  return { status: isCreated ? 201 : 200, body: renderResource(value, session) }
}

/** The position of errors outside of calls. */
const nowhere: CallSite = { position: () => [] }

/** Errors before a lambda runs, such as a wrong number of arguments, have the position of the calling function. */
const code: CodeLanguage<'4'> = {
  run(lambda, given, session) {
    const argument = 'one' in given ? given.one : argumentOf(lambda.parameters, given.list)
    return applyStored(lambda, argument, session, session.callSite ?? nowhere)
  },
  isValid(lambda) {
    const compiled = () => compileLambda(lambda)
    return catchError(QueryError, compiled, () => undefined) !== undefined
  },
  properties(lambda) {
    const { parameters } = lambda
    return {
      parameters: typeof parameters === 'string' ? 1 : parameters.length,
      effect: compileLambda(lambda).effect,
    }
  },
}

/** If `parameters` is a name and `list` has one value, the argument is this value, else the whole list. */
function argumentOf(parameters: string | readonly string[], list: readonly Value[]): Value {
  const [only] = list
  return typeof parameters === 'string' && list.length === 1 && only !== undefined ? only : list
}

/** Wire keys of special forms and tags, without those that {@link createShapeFunction} adds. */
const forms = ['var', 'in', 'lambda', 'expr', '@set', '@query', 'api_version']

/** The wire keys that the shape of a query, which the query log stores, may contain. */
export const languageWords: ReadonlySet<string> = new Set([
  ...families.flatMap(({ definitions }) => definitions.flatMap(({ keys }) => keys)),
  ...forms,
])

/** Words in the names of types, which error messages contain. */
const typeWords: ReadonlySet<string> = new Set(
  `object Action Any Array Boolean Bytes Class Collection Credentials Database Date Document Double Event Expression Function
   Identifier Index Integer Key Lambda Null Number Object Page Query Ref Role Scalar Schema Set String Temporal Time Token
   Transaction UUID Unit Unresolved or and of`.split(/\s+/),
)

/** Returns an empty list for errors of other languages. */
function entriesOf(error: Error): readonly ErrorEntry[] {
  return error instanceof QueryError ? error.errors : []
}

function describe({ cause, code, description, position }: ErrorEntry): ObjectValue {
  const steps = position.map(step => (typeof step === 'number' ? BigInt(step) : step))
  const entries: [string, Value][] = [
    ['position', steps],
    ['code', code],
    ['description', description],
  ]
  return new Map(cause ? [...entries, ['cause', cause.map(describe)]] : entries)
}

export const version4: NamedLanguage<'4'> = {
  code,
  parse: ({ body, dialect }) => new Version4Query(readBody(body), dialect),
  render,
  complete: (body, _request, { time }) => fillTransactionTime(body, time),
  rejected(error) {
    const entries = entriesOf(error)
    return { status: statusOf(entries), body: queryErrorBody(entries), fault: faultOf(entries) }
  },
  failed: error => ({
    status: error.status,
    body: requestErrorBody(error),
    fault: requestFault(error),
  }),
  stackOverflow: () => stackOverflow([]),
  parseExplanation({ body, dialect }) {
    const explanation = readExplanation(body)
    if (explanation === undefined) return undefined
    const { as, query } = explanation
    return {
      query: new Version4Query(query, dialect),
      as: as === undefined ? undefined : new Version4Query(as, dialect),
      indexSuggestions: () => indexSuggestionsOf(query),
      dialect,
    }
  },
  renderExplanation: render,
  describe: error =>
    error instanceof QueryError ? error.errors.map(describe) : [new Map([['description', error.message]])],
  streamOrder(request, parameter, session) {
    return streamOrder(() => version4.parse(request).value(session), parameter, session)
  },
  shape: createShapeFunction(languageWords),
  isWord: word => languageWords.has(word) || typeWords.has(word) || fieldNames.has(word),
}

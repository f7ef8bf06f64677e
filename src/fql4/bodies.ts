// Parses the bodies of requests, and renders the results and errors of queries as JSON. Errors have the form
// `{"errors":[…]}`, with members in the documented order. The query log contains only the first errors of a query.
// Values in the error texts are left out of the log.

import { catchError } from '../base/catch-error.ts'
import { joinMessages, type Message, msg, own } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import type { ResponseFault } from '../model/language.ts'
import type { Session } from '../model/session.ts'
import type { Transaction } from '../storage/store/store-contract.ts'
import { JsonSyntaxError, parseJson } from '../values/json.ts'
import { flat } from '../values/json-text.ts'
import { type DatabaseId, type Json, type RefTails, rootDatabase, type Value } from '../values/value.ts'
import { apiVersionOf } from './definition.ts'
import { type ErrorEntry, type Position, QueryError } from './query-errors.ts'
import type { RefNames } from './wire/refs.ts'
import { renderValue } from './wire/render.ts'
import type { ApiVersion } from './wire/version.ts'

/** Throws `invalid expression` for a body that is missing, not JSON, or nested too deeply. */
export function readBody(body: string | undefined): Json {
  const invalidBody = (description: Message) => QueryError.of('invalid expression', description, [])
  if (body === undefined) throw invalidBody(msg`No query provided.`)
  const parsed = () => parseJson(body)
  return catchError(JsonSyntaxError, parsed, ({ reason }) => {
    const isNested = reason === 'nesting'
    throw invalidBody(
      isNested ? msg`Request body JSON exceeds nesting limit.` : msg`Request body is not valid JSON.`,
    )
  })
}

/**
 * Returns the query, and the caller (`as`) for whom the query is explained. Returns undefined for queries of version
 * 10, which are strings or templates, and of GraphQL. Throws `bad request` if the body has another form, and the errors
 * of {@link readBody}.
 */
export function readExplanation(
  body: string | undefined,
): { readonly query: Json; readonly as: Json | undefined } | undefined {
  const given = readBody(body)
  if (given instanceof Map && given.has('graphql')) return undefined
  if (given instanceof Map && given.has('query')) {
    const query = given.get('query') as Json
    const isText = typeof query === 'string' || (query instanceof Map && query.has('fql'))
    return isText ? undefined : { query, as: given.get('as') }
  }
  throw new RequestError('bad request', msg`The body has to be {"query": …} or {"query": …, "as": …}.`)
}

function entryJson(entry: ErrorEntry): Record<string, unknown> {
  const { position, code, description, failures, cause } = entry
  return { position, code, description, failures, cause: cause?.map(entryJson) }
}

export function queryErrorBody(errors: readonly ErrorEntry[]): string {
  return JSON.stringify({ errors: errors.map(entryJson) })
}

export function requestErrorBody(error: RequestError): string {
  return JSON.stringify({ errors: [{ code: error.code, description: error.description }] })
}

/** Maximum number of steps of a position in the query log. */
const stepsShown = 30
/** Maximum number of errors of a query in the query log, also of invalid fields and nested causes of an error. */
const errorsShown = 3

/** Converts the errors of a response to the fault for the query log. */
export function faultOf(errors: readonly ErrorEntry[]): ResponseFault | undefined {
  const [first, ...others] = errors.slice(0, errorsShown)
  if (first === undefined) return undefined
  const text = joinMessages([textOf(first), ...others.map(each => withCode(each))], '; ')
  return { code: first.code, text, position: positionText(first.position) }
}

/** Returns the text of an error, followed by the invalid fields and the text of the cause. */
function textOf({ cause = [], code, failures = [], template }: ErrorEntry, depth = 0): Message {
  const fields = failures
    .slice(0, errorsShown)
    .map(({ code, field }) => msg`${positionText(field)}: ${own(code)}`)
  const inner = depth < errorsShown ? cause.slice(0, 1).map(each => withCode(each, depth + 1)) : []
  // The client chooses the text of `abort`, so the log omits this text.
  const text = code === 'transaction aborted' ? msg`` : template
  return joinMessages([text, ...fields, ...inner], ' – ')
}

function withCode(error: ErrorEntry, depth = 0): Message {
  return joinMessages([own(error.code), textOf(error, depth)], ': ')
}

/** Names of fields are quoted values, because clients choose them and the log omits quoted values. */
function positionText(position: Position): Message {
  const steps = position.slice(0, stepsShown)
  return joinMessages(
    steps.map(step => (typeof step === 'number' ? own(step) : msg`${step}`)),
    '/',
  )
}

type NamesOf = Pick<Transaction, 'catalogue' | 'writable'>

/**
 * References are relative to the database of the request. A writing transaction does not know its time yet, so the
 * caller must pass the body to `fillTransactionTime` after the commit.
 */
export function renderResource(value: Value, session: Session): string {
  const { transaction } = session
  const apiVersion = apiVersionOf(session)
  const rendered = renderValue(value, {
    apiVersion,
    transactionTime: transaction.writable ? 'open' : transaction.snapshotTime,
    names: refNames(session.database, apiVersion, transaction),
  })
  const text = rendered === undefined ? '{}' : `{"resource":${rendered}}`
  // The body stays in memory until the commit. A flat string needs less memory than hundreds of concatenated pieces.
  return transaction.writable ? flat(text) : text
}

/** The names are relative to the database `scope`. */
export function refNames(scope: DatabaseId, apiVersion: ApiVersion, transaction: NamesOf): RefNames {
  const { catalogue, writable } = transaction
  return {
    scope,
    nameOf: ref => catalogue.nameOf(ref),
    databaseDocument: database => (database === rootDatabase ? undefined : catalogue.database(database)?.ref),
    hasCollection: collection => catalogue.hasCollection(scope, collection),
    // A writing transaction may change names, so references are rendered without the cache `tails`.
    ...(!writable && { tails: catalogue.derived(scope, `tails in ${apiVersion}`, noTails) }),
  }
}

const noTails = (): RefTails => new Map()

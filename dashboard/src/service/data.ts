// Runs queries with the secret of the session, reads as of the time in the address, and builds common parts of queries:
// pages of sets, and expressions for their elements.

import { pastTime } from '../router.ts'
import { currentSecret } from '../session.ts'
import { at, type Json, listAt, type Query } from '../wire/json.ts'
import { literal } from '../wire/refs.ts'
import { type QueryResult, run } from './client.ts'

/** If the address contains a past time, wraps the query so that the query reads as of this time. */
export function atPastTime(query: Query): Query {
  const past = pastTime.value
  return past === undefined ? query : { at: { '@ts': past }, expr: query }
}

/** Runs a query in the database of the address, as of the time in the address. */
export function read(query: Query, signal?: AbortSignal): Promise<QueryResult> {
  return run(atPastTime(query), currentSecret.value, signal)
}

/** Runs a query in the database of the address at the present time. */
export function write(query: Query, signal?: AbortSignal): Promise<QueryResult> {
  return run(query, currentSecret.value, signal)
}

export interface Cursor {
  readonly after?: Json | undefined
  readonly before?: Json | undefined
}

export function pageOf(set: Query, size: number, { after, before }: Cursor = {}): Query {
  // Without `literal`, an object such as an event would be evaluated as a function call.
  const cursor: Record<string, Query> =
    after !== undefined ? { after: literal(after) } : before !== undefined ? { before: literal(before) } : {}
  return { paginate: set, size: BigInt(size), ...cursor }
}

/** Evaluates `expression` for each element of `collection`. `element`: the name of the variable with the element. */
export function mapping(collection: Query, expression: Query, element = 'element'): Query {
  return { map: { lambda: element, expr: expression }, collection }
}

/** Reads a variable, by default the parameter of {@link mapping}. */
export function variable(name = 'element'): Query {
  return { var: name }
}

/** A page of a set, with the cursors of the next and the previous page; undefined if there is no such page. */
export interface Page {
  readonly data: readonly Json[]
  readonly after: Json | undefined
  readonly before: Json | undefined
}

export function asPage(value: Json): Page {
  return { data: listAt(value, 'data'), after: at(value, 'after'), before: at(value, 'before') }
}

// Reads the bodies of requests as JSON.

import { RequestError } from '../base/errors.ts'
import { type Message, msg } from '../base/message.ts'
import { JsonSyntaxError, parseJson } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import { QueryError } from './errors.ts'

/** Parses a body. Throws `invalid expression` for a body that is missing, not JSON, or nested too deeply. */
export function readBody(body: string | undefined): Json {
  const refuse = (description: Message) => QueryError.of('invalid expression', description, [])
  if (body === undefined) throw refuse(msg`No query provided.`)
  try {
    return parseJson(body)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const nested = error.reason === 'nesting'
    throw refuse(
      nested ? msg`Request body JSON exceeds nesting limit.` : msg`Request body is not valid JSON.`,
    )
  }
}

/**
 * The query to explain, and the caller for whom it is explained. Undefined for a text or a template, which are queries
 * of version 10; in version 4 they would only be literals. Throws `bad request`.
 */
export function readExplanation(
  body: string | undefined,
): { readonly query: Json; readonly as: Json | undefined } | undefined {
  const given = readBody(body)
  if (given instanceof Map && given.has('query')) {
    const query = given.get('query') as Json
    const isText = typeof query === 'string' || (query instanceof Map && query.has('fql'))
    return isText ? undefined : { query, as: given.get('as') }
  }
  throw new RequestError('bad request', msg`The body has to be {"query": …} or {"query": …, "as": …}.`)
}

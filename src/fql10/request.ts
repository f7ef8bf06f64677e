// Parses the body of a request: a query or a template, and arguments. A request with an invalid body fails with
// `bad request`. Parsed queries are cached by their text, because drivers send the same template again with other
// values.

import { GenerationCache } from '../base/generation-cache.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import { JsonSyntaxError, parseJsonWithRepeated, type RepeatedNames } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import { DecodingError, decodeSimple, decodeTagged, type TagNames } from './formats/decode.ts'
import { type Program, treeBytes } from './syntax/nodes.ts'
import { parseQuery } from './syntax/parse-query.ts'
import { Source } from './syntax/source.ts'
import { type ComposedQuery, composeQuery, jsonKind, TemplateError, unexpected } from './syntax/template.ts'
import type { Struct, Value } from './value.ts'

/** The arguments are decoded after authentication. */
export interface QueryBody {
  readonly query: ComposedQuery
  readonly arguments: ReadonlyMap<string, Json>
}

function invalidBody(detail = ''): RequestError {
  return new RequestError('bad request', msg`Invalid request body${detail === '' ? '' : `: ${detail}`}`)
}

/** Throws `bad request`. */
export function readQueryBody(body: string | undefined): QueryBody {
  const { members, repeated } = readMembers(body)
  return queryOf(members, repeated)
}

/** Parses a body to the members of its object. Throws `bad request`. */
export function readMembers(body: string | undefined): {
  readonly members: ReadonlyMap<string, Json>
  readonly repeated: RepeatedNames
} {
  if (body === undefined || body === '') throw new RequestError('bad request', msg`No request body provided`)
  const { json, repeated } = parseBody(body)
  if (!(json instanceof Map)) throw invalidBody(`Unexpected JSON ${jsonKind(json)}.`)
  return { members: json, repeated }
}

/** `repeated`: see {@link composeQuery}. Throws `bad request`. */
export function queryOf(json: ReadonlyMap<string, Json>, repeated?: RepeatedNames): QueryBody {
  for (const key of json.keys()) if (key !== 'query' && key !== 'arguments') throw invalidBody()
  const query = json.get('query')
  if (query === undefined) throw invalidBody()
  if (typeof query !== 'string' && !(query instanceof Map))
    throw invalidBody(unexpected(query, 'query template'))
  const args = json.get('arguments') ?? new Map<string, Json>()
  if (!(args instanceof Map)) throw invalidBody(unexpected(args, 'Object'))
  try {
    return { query: composeQuery(query, repeated), arguments: args }
  } catch (error) {
    throw error instanceof TemplateError ? invalidBody(error.message) : error
  }
}

function parseBody(body: string): ReturnType<typeof parseJsonWithRepeated> {
  try {
    return parseJsonWithRepeated(body)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    if (error.reason === 'nesting') throw invalidBody('JSON exceeds nesting limit')
    // The protocol has no details for a body of whitespace, or if the first character is invalid.
    throw invalidBody(error.offset === 0 || body.trim() === '' ? '' : error.message)
  }
}

/** Throws `bad request` for the first invalid argument. */
export function decodeArguments(args: ReadonlyMap<string, Json>, tagged: boolean, names: TagNames): Struct {
  const values = new Map<string, Value>()
  for (const [name, json] of args) {
    try {
      values.set(name, tagged ? decodeTagged(json, names) : decodeSimple(json))
    } catch (error) {
      if (!(error instanceof DecodingError)) throw error
      throw new RequestError('bad request', msg`Invalid argument '${name}': ${error.message}`)
    }
  }
  return values
}

/** Maximum total size of the cached syntax trees, in bytes. */
const cachedBytesMax = 33_554_432
/** The tree of a text with this number of UTF-16 units or more is not cached. */
const longUnits = 65_536

const cache = new GenerationCache<string, Program>(cachedBytesMax, ({ source }) => treeBytes(source))

/**
 * Each placeholder is `<value>` in the text. A query can contain the same text itself, so the offsets of the
 * placeholders are part of the key.
 */
export function queryKey({ text, placeholders }: ComposedQuery): string {
  return placeholders.length === 0 ? text : `${placeholders.join()} ${text}`
}

/** Throws a QueryFailure if the query cannot be parsed. */
export function programOf(query: ComposedQuery): Program {
  const { placeholders, text } = query
  const key = queryKey(query)
  const known = cache.get(key)
  if (known !== undefined) return known
  const program = parseQuery(new Source('*query*', text), placeholders)
  if (text.length < longUnits) cache.set(key, program)
  return program
}

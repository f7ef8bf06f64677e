// Reads the body of a request: `query`, `variables` and `operationName`.

import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { tryJson } from '../../values/json.ts'
import type { Json } from '../../values/value.ts'
import { OperationError } from '../errors.ts'
import { tokensOf } from '../text/tokens.ts'
import type { Variables } from './selections.ts'

export interface OperationRequest {
  readonly query: string
  readonly variables: Variables
  readonly operationName: string | undefined
}

/** Tools recognize the service by this text. */
const missingQuery =
  'No usable value for query\nDid not find value which can be converted into java.lang.String'

/** Throws OperationError if the query is missing, and `bad request` for any other fault of the body. */
export function readOperationRequest(body: string | undefined): OperationRequest {
  const json = readObject(body)
  const query = json.get('query')
  if (typeof query !== 'string')
    throw new OperationError([{ message: missingQuery }], {
      isInvalid: false,
      template: msg`No usable value for query`,
    })
  const variables = json.get('variables') ?? null
  const operationName = json.get('operationName') ?? null
  if (variables !== null && !(variables instanceof Map))
    throw new RequestError('bad request', msg`The member 'variables' has to be an object.`)
  if (operationName !== null && typeof operationName !== 'string')
    throw new RequestError('bad request', msg`The member 'operationName' has to be a string.`)
  return {
    query,
    variables: variables === null ? {} : (plain(variables as Json) as Variables),
    operationName: operationName === null || operationName === '' ? undefined : operationName,
  }
}

function readObject(body: string | undefined): ReadonlyMap<string, Json> {
  // Tools recognize the service also by the response to a request without a body.
  if (body === undefined || body === '') return new Map()
  const json = tryJson(body)
  if (json instanceof Map) return json
  throw new RequestError('bad request', msg`The body has to be a JSON object with the member 'query'.`)
}

/** Integers beyond 2^53 stay exact. */
function plain(json: Json): unknown {
  if (typeof json === 'bigint') {
    const number = Number(json)
    return Number.isSafeInteger(number) ? number : json
  }
  if (Array.isArray(json)) return json.map(plain)
  if (json instanceof Map) return Object.fromEntries(Array.from(json, ([key, value]) => [key, plain(value)]))
  return json
}

export function containsMutation(query: string): boolean {
  let depth = 0
  for (const { end, kind, start } of tokensOf(query)) {
    if (kind === 'name' && depth === 0 && query.slice(start, end) === 'mutation') return true
    if (query[start] === '{') depth++
    else if (query[start] === '}') depth--
  }
  return false
}

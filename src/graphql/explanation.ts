// Parses the body of a request for an explanation: `{"graphql": {"query": …, "variables": …}, "as": …}`.

import { version4 } from '../fql4/language.ts'
import type { Explanation, LanguageRequest } from '../model/language.ts'
import { tryJson } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import { writeJson } from '../values/write-json.ts'
import { OperationQuery } from './operation/operation-query.ts'
import { readOperationRequest } from './operation/operation-request.ts'

/** Returns undefined if the query is in another language. */
export function readExplanation({ body, dialect }: LanguageRequest): Explanation | undefined {
  const json = body === undefined || !body.includes('"graphql"') ? undefined : tryJson(body)
  const given = json instanceof Map ? json.get('graphql') : undefined
  if (given === undefined || !(json instanceof Map)) return undefined
  const as: Json | undefined = json.get('as')
  return {
    query: new OperationQuery(readOperationRequest(writeJson(given))),
    as: as === undefined ? undefined : version4.parse({ body: writeJson(as), dialect }),
    indexSuggestions: () => [],
    dialect,
  }
}

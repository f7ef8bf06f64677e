// Finds the GraphQL types that an export refers to, but does not contain: exports of the hosted service have the
// metadata of collections, indexes and functions, but no embedded types, inputs and enums.

import { scalarNames } from '../graphql/wire/scalar-names.ts'
import type { Json } from '../values/value.ts'
import type { SchemaRecord } from './record.ts'
import { memberOf } from './references.ts'

/** Returns the sorted names of the missing types. */
export function missingGraphqlTypes(records: readonly SchemaRecord[]): readonly string[] {
  const used = new Set<string>()
  const known = new Set(scalarNames)
  for (const { object, params } of records) {
    const meta = memberOf(params.get('data'), 'gql', 'meta')
    if (meta === undefined) continue
    addTypes(meta, used)
    const name = memberOf(meta, 'name')
    if (object !== 'collection' || typeof name !== 'string') continue
    for (const each of [name, `${name}Input`, `PartialUpdate${name}Input`]) known.add(each)
  }
  return [...used.difference(known)].sort()
}

/** Names of types have the form `{ Named: NAME }`. */
function addTypes(json: Json, names: Set<string>): void {
  if (Array.isArray(json)) for (const each of json) addTypes(each, names)
  if (!(json instanceof Map)) return
  for (const [key, value] of json)
    if (key === 'Named' && typeof value === 'string') names.add(value)
    else addTypes(value, names)
}

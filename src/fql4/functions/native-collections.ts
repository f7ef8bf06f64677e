// Functions that return the native collections of a database as sets.

import type { NativeName } from '../../values/value.ts'
import { databaseRefOrNull } from '../arguments.ts'
import { family, type Lifetime, unary } from '../definition.ts'
import { nativeRef } from '../references.ts'

function nativeCollection(name: string, collection: NativeName, what: string, lifetime: Lifetime = {}) {
  return unary(name, databaseRefOrNull, {
    ...lifetime,
    result: 'Collection Ref',
    summary: `Returns the collection of all ${what} in the database of the query, or in the child database if its reference is given. The result can be used as a set.`,
    example: ['null', `{"@ref": {"id": "${collection}"}}`],
    evaluate: (database, call) => nativeRef(collection, database ?? undefined, call.session),
  })
}

export const nativeCollections = family('Native collections', [
  nativeCollection('databases', 'databases', 'child databases'),
  nativeCollection('collections', 'collections', 'collections'),
  nativeCollection('classes', 'collections', 'collections', { deprecatedFor: 'collections' }),
  nativeCollection('indexes', 'indexes', 'indexes'),
  nativeCollection('functions', 'functions', 'user functions'),
  nativeCollection('roles', 'roles', 'roles'),
  nativeCollection('keys', 'keys', 'keys'),
  nativeCollection('tokens', 'tokens', 'tokens'),
  nativeCollection('credentials', 'credentials', 'credentials'),
  nativeCollection('access_providers', 'access_providers', 'access providers', { since: '4' }),
])

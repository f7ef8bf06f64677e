// Maps each collection to the rules for its documents.

import { native } from '../../values/value.ts'
import { accessProviderResource } from './access-providers.ts'
import { collectionResource } from './collections.ts'
import { databaseResource } from './databases.ts'
import { credentialResource, documentResource } from './documents.ts'
import { functionResource } from './functions.ts'
import { indexResource } from './indexes.ts'
import type { Resource } from './resource.ts'
import { roleResource } from './roles.ts'
import { keyResource, tokenResource } from './secrets.ts'

const byNative: ReadonlyMap<number, Resource> = new Map([
  [native.databases, databaseResource],
  [native.collections, collectionResource],
  [native.indexes, indexResource],
  [native.functions, functionResource],
  [native.roles, roleResource],
  [native.access_providers, accessProviderResource],
  [native.keys, keyResource],
  [native.tokens, tokenResource],
  [native.credentials, credentialResource],
])

export function resourceOf(collection: number): Resource {
  return byNative.get(collection) ?? documentResource
}

/** The names of all fields in native documents and at the top level of user documents. */
export const fieldNames: ReadonlySet<string> = new Set(
  [...byNative.values(), documentResource].flatMap(({ fields }) => Object.keys(fields)),
)

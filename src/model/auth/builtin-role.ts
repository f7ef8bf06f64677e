// The rights of the built-in roles, which the protocol defines: a set of actions for each role and each kind of
// resource. Rights to read and to call also apply to descendant databases. Rights to write do not.

import type { Catalogue } from '../../storage/store/store-contract.ts'
import {
  type DatabaseId,
  firstUserCollection,
  type NativeName,
  native,
  nativeName,
  type Ref,
} from '../../values/value.ts'
import { type AccessRequest, type BuiltinRole, builtinRoles, type ResourceAction } from './access-contract.ts'

export function isBuiltinRole(value: unknown): value is BuiltinRole {
  return builtinRoles.includes(value as BuiltinRole)
}

/**
 * What a privilege can name: the documents of user collections, sets of indexes, calls of functions, and the documents
 * of each native collection.
 */
type ResourceKind = 'documents' | 'index' | 'function' | NativeName

const firstUserId = BigInt(firstUserCollection)

/** Returns undefined if privileges cannot contain the resource. */
export function resourceKind(resource: Ref): ResourceKind | undefined {
  switch (resource.collection) {
    case native.collections:
      if (resource.id >= firstUserId) return 'documents'
      return nativeName(Number(resource.id))
    case native.indexes:
      return 'index'
    case native.functions:
      return 'function'
    default:
      return undefined
  }
}

type Actions = ReadonlySet<ResourceAction>
type Rights = Readonly<Partial<Record<ResourceKind, Actions>>>

const reading = ['read', 'history_read'] as const
const writing = ['write', 'create', 'create_with_id', 'delete', 'history_write'] as const

const read: Actions = new Set(reading)
const readAndWrite: Actions = new Set([...reading, ...writing])
const call: Actions = new Set(['call'])

function onServerKinds(actions: Actions): Rights {
  return {
    documents: actions,
    index: read,
    collections: actions,
    indexes: actions,
    functions: actions,
    tokens: actions,
    credentials: actions,
  }
}

const rightsOf: Readonly<Record<BuiltinRole, Rights>> = {
  admin: {
    ...onServerKinds(readAndWrite),
    function: call,
    databases: readAndWrite,
    keys: readAndWrite,
    roles: readAndWrite,
    access_providers: readAndWrite,
  },
  server: { ...onServerKinds(readAndWrite), function: call },
  'server-readonly': onServerKinds(read),
  client: {},
}

const reachesDescendants: Actions = new Set([...reading, 'call'])

export function builtinAllows(
  role: BuiltinRole,
  database: DatabaseId,
  request: AccessRequest,
  catalogue: Catalogue,
): boolean {
  const kind = resourceKind(request.resource)
  if (kind === undefined || !rightsOf[role][kind]?.has(request.action)) return false
  const where = request.resource.database
  if (where === database) return true
  const isDescendant = () => catalogue.lineage(where).some(({ parent }) => parent === database)
  return reachesDescendants.has(request.action) && isDescendant()
}

const predicateRights: Rights = {
  documents: new Set(['read', 'unrestricted_read']),
  index: new Set(['read', 'unrestricted_read']),
  function: call,
  collections: new Set(['read']),
  indexes: new Set(['read']),
  functions: new Set(['read']),
  tokens: new Set(['read']),
  credentials: new Set(['read']),
}

/** Returns whether predicates of roles in `database` may make the request. */
export function predicateAllows(database: DatabaseId, request: AccessRequest): boolean {
  const kind = resourceKind(request.resource)
  if (kind === undefined || request.resource.database !== database) return false
  return predicateRights[kind]?.has(request.action) === true
}

// Parses role documents for permission decisions. Their writes are validated, so the parser reports no errors: invalid
// parts grant nothing.

import { upsert } from '../../base/upsert.ts'
import type { ReadTransaction } from '../../storage/store/store-contract.ts'
import { type Code, codeOf } from '../../values/code.ts'
import {
  collectionOf,
  type DatabaseId,
  isObject,
  itemsOf,
  native,
  type ObjectValue,
  Ref,
  refKey,
  type Value,
} from '../../values/value.ts'
import { type Authority, type ResourceAction, type RunPredicate, resourceActions } from './access-contract.ts'
import { isBuiltinRole } from './builtin-role.ts'
import { memberCollection, privilegeResource } from './resource-names.ts'

/** `true` is unconditional. Of a list of predicates, at least one must return true. */
export type Grant = true | readonly Code[]

interface Membership {
  /** The index in its role. */
  readonly number: number
  readonly resource: Ref
  readonly predicate: Code | undefined
}

export interface Role {
  readonly ref: Ref
  /**
   * Privileges by the `collection` and the `id` of the reference to the resource: an index, a function or a collection.
   */
  readonly privileges: ReadonlyMap<number, ReadonlyMap<bigint, ReadonlyMap<ResourceAction, Grant>>>
  readonly memberships: readonly Membership[]
}

/** The roles by id, cached until the schema changes. */
function rolesOf(transaction: ReadTransaction, database: DatabaseId): ReadonlyMap<bigint, Role> {
  return transaction.catalogue.derived(database, 'roles', () => {
    const roles = new Map<bigint, Role>()
    for (const { document } of transaction.documents(database, native.roles, {})) {
      const fields = transaction.get(document)?.fields
      if (fields) roles.set(document.id, readRole(document, fields, transaction))
    }
    return roles
  })
}

/** Returns undefined if the role does not exist. */
export function findRole(transaction: ReadTransaction, ref: Ref): Role | undefined {
  return ref.collection === native.roles ? rolesOf(transaction, ref.database).get(ref.id) : undefined
}

type Mutable<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, Mutable<V>> : T

function readRole(ref: Ref, fields: ObjectValue, transaction: ReadTransaction): Role {
  const privileges: Mutable<Role['privileges']> = new Map()
  for (const { resource, actions } of privilegesIn(fields, ref.database, transaction)) {
    const ofCollection = upsert(privileges, resource.collection, () => new Map())
    const grants = upsert(ofCollection, resource.id, () => new Map())
    addGrants(grants, actions)
  }
  return { ref, privileges, memberships: readMemberships(ref.database, fields, transaction) }
}

/** Yields the valid privileges. `number`: the index of the privilege. */
export function* privilegesIn(fields: ObjectValue, database: DatabaseId, transaction: ReadTransaction) {
  for (const [number, privilege] of itemsOf(fields.get('privileges')).entries()) {
    if (!isObject(privilege)) continue
    const resource = privilegeResource(privilege.get('resource'), database, transaction)
    const actions = privilege.get('actions') ?? null
    if (resource !== undefined && isObject(actions)) yield { number, resource, actions }
  }
}

function addGrants(grants: Map<ResourceAction, Grant>, actions: ObjectValue): void {
  for (const action of resourceActions) {
    const value = actions.get(action)
    const before = grants.get(action)
    if (before === true) continue
    const predicate = codeOf(value)
    if (value === true) grants.set(action, true)
    else if (predicate) grants.set(action, [...(before ?? []), predicate])
  }
}

function readMemberships(
  database: DatabaseId,
  fields: ObjectValue,
  transaction: ReadTransaction,
): readonly Membership[] {
  return itemsOf(fields.get('membership')).flatMap((membership, number) => {
    if (!isObject(membership)) return []
    const resource = memberCollection(membership.get('resource'), database, transaction)
    const stored = membership.get('predicate') ?? undefined
    const predicate = codeOf(stored)
    if (resource === undefined) return []
    // A membership with an invalid predicate is ignored. Without the predicate, the membership would be unconditional.
    if (stored !== undefined && predicate === undefined) return []
    return [{ number, resource, predicate }]
  })
}

type MembershipOfRole = Membership & { readonly role: Ref }

const noMemberships: readonly MembershipOfRole[] = []

/**
 * Returns the memberships for the collection of an identity, from all roles of the database. The memberships are
 * cached until the schema changes, because every request of a token needs them.
 */
export function membershipsFor(transaction: ReadTransaction, identity: Ref): readonly MembershipOfRole[] {
  const { database } = identity
  const byCollection = transaction.catalogue.derived(database, 'memberships', () => {
    const all = [...rolesOf(transaction, database).values()].flatMap(({ ref: role, memberships }) =>
      memberships.map(each => ({ ...each, role })),
    )
    return Map.groupBy(all, ({ resource }) => refKey(resource))
  })
  return byCollection.get(refKey(collectionOf(identity))) ?? noMemberships
}

/** The identity's current roles. */
export function rolesOfIdentity(
  transaction: ReadTransaction,
  identity: Ref,
  runPredicate: RunPredicate,
): readonly Ref[] {
  const roles = new Set<Ref>()
  for (const { role, predicate } of membershipsFor(transaction, identity)) {
    if (roles.has(role)) continue
    if (predicate === undefined || runPredicate(predicate, () => identity)) roles.add(role)
  }
  return [...roles]
}

/**
 * The role of `database` for a stored reference or name. A key for a child database can contain a reference to a role
 * of the parent database, which is resolved by the role's name in `database`.
 */
export function resolveRole(
  transaction: ReadTransaction,
  database: DatabaseId,
  stored: Value,
): Ref | undefined {
  const { catalogue } = transaction
  if (stored instanceof Ref && stored.collection === native.roles && stored.database === database) {
    return findRole(transaction, stored)?.ref
  }
  const name = stored instanceof Ref ? catalogue.nameOf(stored) : stored
  return typeof name === 'string' ? catalogue.resolve(database, native.roles, name) : undefined
}

/**
 * The authority, without an identity, for the stored `role` of a key or function: the name of a built-in role, or
 * references or names of custom roles. Missing roles are ignored.
 */
export function authorityOfRole(
  transaction: ReadTransaction,
  database: DatabaseId,
  stored: Value | undefined,
): Authority {
  if (isBuiltinRole(stored)) return { kind: 'builtin', role: stored, database }
  const roles = itemsOf(stored).flatMap(item => resolveRole(transaction, database, item) ?? [])
  return { kind: 'roles', database, roles, identity: undefined }
}

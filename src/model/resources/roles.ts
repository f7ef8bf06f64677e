// The rules for roles, and for references to roles in keys, functions and access providers.

import { codeOf } from '../../values/code.ts'
import {
  isArray,
  isObject,
  itemsOf,
  Lambda,
  native,
  type ObjectValue,
  Ref,
  type Value,
} from '../../values/value.ts'
import { type ResourceAction, resourceActions } from '../auth/access-contract.ts'
import { isBuiltinRole } from '../auth/builtin-role.ts'
import { memberCollection } from '../auth/resource-names.ts'
import type { FieldFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import { cleanField, map, name, pick } from './fields.ts'
import { renameRole } from './renaming.ts'
import { collectionRefType, type FieldCheck, failure, invalidType, type Resource } from './resource.ts'

const rolesLimits = {
  /** Maximum number of roles with memberships for the same collection. */
  rolesPerMembershipMax: 64,
} as const

/** The number of parameters of predicates, by action. */
const predicateArity: Record<ResourceAction, number> = {
  read: 1,
  write: 2,
  create: 1,
  create_with_id: 2,
  delete: 1,
  history_read: 1,
  history_write: 4,
  unrestricted_read: 1,
  call: 1,
}

/** Some languages store names and code as strings. For other languages, {@link textFailures} rejects strings. */
const isText = (value: Value) => typeof value === 'string'

/** As in the hosted service, the path of a failure does not contain the position in the array. */
const privileges: FieldCheck = (value, path) =>
  itemsOf(value).flatMap(item =>
    isObject(item) ? privilegeFailures(item, path) : [invalidType(path, item, 'Map')],
  )

function privilegeFailures(item: ObjectValue, path: readonly string[]): readonly FieldFailure[] {
  const resource = item.get('resource')
  const failures: FieldFailure[] = []
  if (resource === undefined) failures.push(failure([...path, 'resource'], { kind: 'required' }))
  else if (!(resource instanceof Ref) && !isText(resource)) {
    failures.push(invalidType([...path, 'resource'], resource, 'Ref'))
  }
  const actions = item.get('actions')
  if (actions === undefined) return failures
  if (!isObject(actions)) return [...failures, invalidType([...path, 'actions'], actions, 'Map')]
  for (const action of resourceActions) {
    const granted = actions.get(action)
    if (granted === undefined || typeof granted === 'boolean' || codeOf(granted)) continue
    failures.push(invalidType([...path, 'actions', action], granted, 'RoleAction'))
  }
  return failures
}

const membership: FieldCheck = (value, path) =>
  itemsOf(value).flatMap(item => {
    if (!isObject(item)) return [invalidType(path, item, 'Map')]
    const resource = item.get('resource')
    const predicate = item.get('predicate')
    const failures: FieldFailure[] = []
    if (resource === undefined) failures.push(failure([...path, 'resource'], { kind: 'required' }))
    else if (!isCollectionRef(resource) && !isText(resource))
      failures.push(invalidType([...path, 'resource'], resource, collectionRefType))
    if (predicate !== undefined && !codeOf(predicate)) {
      failures.push(invalidType([...path, 'predicate'], predicate, 'Query'))
    }
    return failures
  })

const isCollectionRef = (value: Value) => value instanceof Ref && value.collection === native.collections

export const roleResource: Resource = {
  fields: {
    name: { check: name, required: true },
    privileges: { check: privileges },
    membership: { check: membership },
    data: { check: map },
  },
  preservedOnReplace: ['name'],
  strictReferences: true,
  allowedInContainer: true,
  complete({ failures, fields, patch, ref, rules, session }) {
    if (!rules.languageChecksTexts) failures.push(...textFailures(patch))
    cleanField(fields, 'privileges', item => withKnownActions(pick(item, ['resource', 'actions'])))
    cleanField(fields, 'membership', item => pick(item, ['resource', 'predicate']))
    failures.push(...arityFailures(fields))
    failures.push(...crowdedMemberships(fields, ref, session))
  },
  written: renameRole,
}

/**
 * Returns a failure for each string where only a reference or lambda is allowed. Used if `languageChecksTexts` is
 * false.
 */
function textFailures(patch: ObjectValue): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  const rejectText = (value: Value | undefined, path: readonly string[], expected: string) => {
    if (typeof value === 'string') failures.push(invalidType(path, value, expected))
  }
  for (const item of itemsOf(patch.get('privileges'))) {
    if (!isObject(item)) continue
    rejectText(item.get('resource'), ['privileges', 'resource'], 'Ref')
    const actions = item.get('actions')
    if (!isObject(actions)) continue
    for (const action of resourceActions) {
      rejectText(actions.get(action), ['privileges', 'actions', action], 'RoleAction')
    }
  }
  for (const item of itemsOf(patch.get('membership'))) {
    if (!isObject(item)) continue
    rejectText(item.get('resource'), ['membership', 'resource'], collectionRefType)
    rejectText(item.get('predicate'), ['membership', 'predicate'], 'Query')
  }
  return failures
}

function withKnownActions(item: ObjectValue): ObjectValue {
  const actions = item.get('actions')
  if (!isObject(actions)) return item
  return new Map([...item, ['actions', pick(actions, resourceActions)]])
}

/**
 * Returns a failure for each predicate with a wrong number of parameters. Like the hosted service, skips `privileges`
 * and `membership` that are arrays.
 */
function arityFailures(fields: ObjectValue): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  const check = (predicate: Value | undefined, expected: number, path: readonly string[]) => {
    if (!(predicate instanceof Lambda)) return
    const { parameters } = predicate
    const found = typeof parameters === 'string' ? 1 : parameters.filter(each => each !== '_').length
    if (parameters === '_' || found === expected) return
    failures.push(failure(path, { kind: 'arity', found, expected }))
  }
  const single = fields.get('privileges')
  const actions = isObject(single) ? single.get('actions') : undefined
  if (isObject(actions)) {
    for (const action of resourceActions) {
      check(actions.get(action), predicateArity[action], ['privileges', 'actions', action])
    }
  }
  const member = fields.get('membership')
  if (isObject(member)) check(member.get('predicate'), 1, ['membership', 'predicate'])
  return failures
}

/** Returns a failure if too many other roles have a membership for a member collection of this role. */
function crowdedMemberships(fields: ObjectValue, ref: Ref, session: Session): readonly FieldFailure[] {
  const wanted = memberCollections(fields, session)
  if (wanted.size === 0) return []
  const { transaction } = session
  const counts = new Map<Member, number>()
  for (const { document } of transaction.documents(ref.database, native.roles, {})) {
    if (document.id === ref.id) continue
    const role = transaction.get(document)
    for (const id of role ? memberCollections(role.fields, session) : []) {
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  const crowded = [...wanted].some(id => (counts.get(id) ?? 0) >= rolesLimits.rolesPerMembershipMax)
  if (!crowded) return []
  const fault = { kind: 'too many roles', most: rolesLimits.rolesPerMembershipMax } as const
  return [{ path: [], fault, isInArgument: true }]
}

/** The id of a collection, or its name if it does not exist yet. */
type Member = bigint | string

function memberCollections(fields: ObjectValue, { database, transaction }: Session): ReadonlySet<Member> {
  const ids = itemsOf(fields.get('membership')).flatMap((item): readonly Member[] => {
    const resource = isObject(item) ? item.get('resource') : undefined
    const found = memberCollection(resource, database, transaction)
    if (found !== undefined) return [found.id]
    return typeof resource === 'string' ? [resource] : []
  })
  return new Set(ids)
}

const isRoleRef = (value: Value) => value instanceof Ref && value.collection === native.roles

/** Accepts a built-in role (a name), a custom role (a reference or a name), or an array of custom roles. */
export function roleFailures(
  value: Value,
  path: readonly string[],
  session: Session,
): readonly FieldFailure[] {
  if (isArray(value)) return value.flatMap(each => customRoleFailures(each, path, session))
  return isBuiltinRole(value) ? [] : customRoleFailures(value, path, session)
}

/** Accepts a reference, or the name of an existing role. */
export function customRoleFailures(
  value: Value,
  path: readonly string[],
  session: Session,
): readonly FieldFailure[] {
  if (isRoleRef(value)) return []
  if (typeof value !== 'string') return [invalidType(path, value, 'Role')]
  if (isBuiltinRole(value)) return [failure(path, { kind: 'built-in role', role: value })]
  const { database, transaction } = session
  if (transaction.catalogue.resolve(database, native.roles, value)) return []
  return [failure(path, { kind: 'unknown role', role: value })]
}

/**
 * Returns whether a role has at most the rights of the caller's built-in role. `role` is undefined for a function that
 * runs with the rights of its caller. `callerRole` is undefined for callers with another built-in role (such as
 * `server-readonly`) or without one: every role then has too many rights.
 */
export function isWithin(role: Value | undefined, callerRole: 'admin' | 'server' | undefined): boolean {
  if (role === undefined || callerRole === 'admin') return true
  const lesser: readonly Value[] = ['server', 'server-readonly', 'client']
  return callerRole === 'server' && lesser.includes(role)
}

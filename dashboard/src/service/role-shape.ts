// A role as a table: a row for each resource, with no, yes or a predicate for each action.

import { parseLiteral, printValue } from '../language.ts'
import { at, isMap, type Json, type Query } from '../wire/json.ts'
import { natives, refOf } from '../wire/refs.ts'

export const actions = [
  'read',
  'write',
  'create',
  'delete',
  'create_with_id',
  'history_read',
  'history_write',
  'unrestricted_read',
  'call',
] as const
export type RoleAction = (typeof actions)[number]

/** True, a predicate in driver notation, or absent for no grant. */
export type Grants = Readonly<Partial<Record<RoleAction, true | string>>>

export type ResourceKind = 'collection' | 'index' | 'function' | 'native'

export interface Privilege {
  readonly kind: ResourceKind
  readonly name: string
  readonly grants: Grants
}

export interface Membership {
  readonly collection: string
  /** Driver notation; empty if all documents of the collection are members. */
  readonly predicate: string
}

/** The privileges and the members of a role, as stored or as edited. */
export interface RoleShape {
  readonly privileges: readonly Privilege[]
  readonly memberships: readonly Membership[]
}

const actionsOf: Readonly<Record<ResourceKind, readonly RoleAction[]>> = {
  collection: actions.filter(action => action !== 'call'),
  native: actions.filter(action => action !== 'call' && action !== 'unrestricted_read'),
  index: ['read', 'unrestricted_read'],
  function: ['call'],
}

export function applies(action: RoleAction, kind: ResourceKind): boolean {
  return actionsOf[kind].includes(action)
}

/** Initial predicates, with the parameters that the action passes. Fields of documents are under `data`. */
export const predicateTemplates: Readonly<Record<RoleAction, string>> = {
  read: 'Query(Lambda("ref", Equals(CurrentIdentity(), Select(["data", "owner"], Get(Var("ref"))))))',
  delete: 'Query(Lambda("ref", Equals(CurrentIdentity(), Select(["data", "owner"], Get(Var("ref"))))))',
  history_read: 'Query(Lambda("ref", Equals(CurrentIdentity(), Select(["data", "owner"], Get(Var("ref"))))))',
  // Tests both versions, so that the owner cannot give the document to another user.
  write:
    'Query(Lambda(["old", "new"], Equals(CurrentIdentity(), Select(["data", "owner"], Var("old")), Select(["data", "owner"], Var("new")))))',
  create: 'Query(Lambda("new", Equals(Select(["data", "owner"], Var("new")), CurrentIdentity())))',
  create_with_id:
    'Query(Lambda(["new", "ref"], Equals(Select(["data", "owner"], Var("new")), CurrentIdentity())))',
  history_write: 'Query(Lambda(["ref", "ts", "action", "new"], false))',
  unrestricted_read: 'Query(Lambda("terms", Equals(Select(0, Var("terms")), CurrentIdentity())))',
  call: 'Query(Lambda("arguments", true))',
}

const asList = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : isMap(value) ? [value] : []

function kindOf(resource: Json | undefined): ResourceKind {
  const ref = refOf(resource)
  if (ref?.collection === 'indexes') return 'index'
  if (ref?.collection === 'functions') return 'function'
  return (natives as readonly string[]).includes(ref?.id ?? '') && isBare(resource) ? 'native' : 'collection'
}

/** Returns true for a resource without a collection, such as the reference of a native collection. */
function isBare(resource: Json | undefined): boolean {
  return at(resource, '@ref', 'collection') === undefined
}

export function roleShape(role: Json): RoleShape {
  return {
    privileges: asList(at(role, 'privileges')).map(privilege => {
      const resource = at(privilege, 'resource')
      return {
        kind: kindOf(resource),
        name: refOf(resource)?.id ?? '',
        grants: grantsOf(at(privilege, 'actions')),
      }
    }),
    memberships: asList(at(role, 'membership')).map(membership => {
      const predicate = at(membership, 'predicate')
      return {
        collection: refOf(at(membership, 'resource'))?.id ?? '',
        predicate: isMap(predicate) ? printValue(predicate, 'text') : '',
      }
    }),
  }
}

function grantsOf(written: Json | undefined): Grants {
  const grants: Partial<Record<RoleAction, true | string>> = {}
  for (const action of actions) {
    const grant = at(written, action)
    if (grant === true) grants[action] = true
    else if (isMap(grant)) grants[action] = printValue(grant, 'text')
  }
  return grants
}

function resourceOf({ kind, name }: Pick<Privilege, 'kind' | 'name'>): Query {
  return kind === 'native' ? { [name]: null } : { [kind]: name }
}

/** Fields that differ, with the values of `after`. Throws a NotationError for an invalid predicate. */
export function roleChanges(before: RoleShape, after: RoleShape): Readonly<Record<string, Query>> {
  const [was, is] = [shapeLines(before), shapeLines(after)]
  return {
    ...(was.privileges !== is.privileges && { privileges: privilegeParams(after) }),
    ...(was.members !== is.members && { membership: memberParams(after) }),
  }
}

function privilegeParams({ privileges }: RoleShape): Query {
  return privileges.map(privilege => ({
    object: { resource: resourceOf(privilege), actions: { object: grantParams(privilege.grants) } },
  }))
}

function memberParams({ memberships }: RoleShape): Query {
  return memberships.map(({ collection, predicate }) => ({
    object: {
      resource: { collection },
      ...(predicate.trim() !== '' && { predicate: parseLiteral(predicate, 'text') }),
    },
  }))
}

/** Returns a text for comparisons, with a line for each grant and each member. */
export function shapeText(shape: RoleShape): string {
  const { privileges, members } = shapeLines(shape)
  return `${privileges}\n${members}`
}

function shapeLines({ privileges, memberships }: RoleShape) {
  const rows = privileges.map(({ kind, name, grants }) => {
    const granted = actions.flatMap(action => {
      const grant = grants[action]
      return grant === undefined ? [] : [`  ${action}: ${grant === true ? 'yes' : grant}`]
    })
    return [`${kind} ${name}`, ...granted].join('\n')
  })
  const members = memberships.map(
    ({ collection, predicate }) => `member ${collection}: ${predicate || 'all'}`,
  )
  return { privileges: rows.join('\n'), members: members.join('\n') }
}

function grantParams(grants: Grants): Record<string, Query> {
  return Object.fromEntries(
    Object.entries(grants).map(([action, grant]) => [
      action,
      grant === true ? true : parseLiteral(grant, 'text'),
    ]),
  )
}

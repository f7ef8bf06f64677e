// Checks native documents (documents of built-in collections): their names, code, and references to roles. The types of
// fields are checked in native-fields.ts.

import { msg } from '../../base/message.ts'
import { resourceActions } from '../../model/auth/access-contract.ts'
import { isBuiltinRole } from '../../model/auth/builtin-role.ts'
import type { FieldPath } from '../../model/failure.ts'
import { valueTypeText } from '../../model/schema/field-types.ts'
import type { Session } from '../../model/session.ts'
import {
  isArray,
  isObject,
  itemsOf,
  native,
  type ObjectValue,
  type Value as StoredValue,
} from '../../values/value.ts'
import { arityText } from '../arity.ts'
import { type ConstraintFailure, QueryFailure } from '../failure/query-failure.ts'
import { nameFault, plainNameFault } from '../schema/name-rules.ts'
import { constraintFailureAt, parseFailures, signatureFailures, unparsable } from '../schema/text-failures.ts'
import { isShortLambda } from '../syntax/nodes.ts'
import { parseLambda } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'
import type { Doc } from '../value.ts'
import { findNameConflict } from './collection-writing.ts'

/** `before` contains the stored fields. `doc` is the changed document; undefined for a creation. */
export function definitionFailures(
  number: number,
  mode: 'create' | 'update' | 'replace',
  given: ObjectValue,
  before: ObjectValue,
  doc: Doc | undefined,
  session: Session,
): readonly ConstraintFailure[] {
  const isPatch = mode === 'update'
  switch (number) {
    case native.functions:
      return [...sharedNameFailures(given, before, doc, session), ...functionFailures(given)]
    case native.roles:
      return [
        ...roleNameFailures(given, before),
        ...memberFailures(given, 'privileges', privilege, isPatch),
        ...memberFailures(given, 'membership', membership, isPatch),
        ...itemPredicateFailures(given, 'membership'),
        ...privilegeFailures(given),
      ]
    case native.databases:
      return plainNameFailures(given, before)
    case native.access_providers:
      return [
        ...plainNameFailures(given, before),
        ...memberFailures(given, 'roles', providerRole, isPatch),
        ...providerFailures(given),
      ]
    default:
      return []
  }
}

function changedName(given: ObjectValue, before: ObjectValue, field: string): string | undefined {
  const value = given.get(field)
  return typeof value === 'string' && value !== before.get(field) ? value : undefined
}

function sharedNameFailures(
  given: ObjectValue,
  before: ObjectValue,
  doc: Doc | undefined,
  session: Session,
): readonly ConstraintFailure[] {
  return ['name', 'alias'].flatMap(field => {
    const name = changedName(given, before, field)
    const fault =
      name === undefined ? undefined : (nameFault(name) ?? findNameConflict(name, doc?.ref, session))
    return fault === undefined ? [] : [constraintFailureAt([field], fault)]
  })
}

function plainNameFailures(given: ObjectValue, before: ObjectValue): readonly ConstraintFailure[] {
  const name = changedName(given, before, 'name')
  const fault = name === undefined ? undefined : plainNameFault(name)
  return fault === undefined ? [] : [constraintFailureAt(['name'], fault)]
}

function roleNameFailures(given: ObjectValue, before: ObjectValue): readonly ConstraintFailure[] {
  const name = changedName(given, before, 'name')
  if (name !== 'admin' && name !== 'server') return plainNameFailures(given, before)
  return [constraintFailureAt(['name'], `The identifier \`${name}\` is reserved.`)]
}

function functionFailures(given: ObjectValue): readonly ConstraintFailure[] {
  const body = given.get('body')
  return [
    ...(typeof body === 'string' ? bodyFailures(body) : []),
    ...signatureFailures(given.get('signature'), ['signature'], '\n'),
  ]
}

function bodyFailures(text: string): readonly ConstraintFailure[] {
  return parseFailures(['body'], unparsable, '\n', () => {
    const source = new Source('*body*', text)
    const lambda = parseLambda(source)
    if (!isShortLambda(lambda)) return
    const { end, start } = lambda
    const message = msg`Short form lambdas are not allowed here`
    throw new QueryFailure('invalid_query', message, [
      { name: 'error', message, span: { source, start, end } },
    ])
  })
}

/** The numbers of parameters that the predicate of each action may have. `call` allows any number. */
const arities: Readonly<Record<string, readonly number[]>> = {
  read: [1],
  write: [2, 3],
  create: [1],
  create_with_id: [1, 2],
  delete: [1],
  history_read: [1],
  history_write: [4],
  unrestricted_read: [1],
}

function items(
  value: StoredValue | undefined,
  path: FieldPath,
): readonly (readonly [ObjectValue, FieldPath])[] {
  if (value === undefined) return []
  if (isObject(value)) return [[value, path]]
  if (!isArray(value)) return []
  return value.flatMap((item, index) => (isObject(item) ? [[item, [...path, index]] as const] : []))
}

function privilegeFailures(given: ObjectValue): readonly ConstraintFailure[] {
  return items(given.get('privileges'), ['privileges']).flatMap(([privilege, path]) => {
    const actions = privilege.get('actions')
    if (!isObject(actions)) return []
    return [...actions].flatMap(([action, predicate]) =>
      predicateFailures(predicate, [...path, 'actions', action], '*privileges*', arities[action]),
    )
  })
}

/** Checks the predicates in the memberships of a role, or in the roles of an access provider. */
function itemPredicateFailures(
  given: ObjectValue,
  field: 'membership' | 'roles',
): readonly ConstraintFailure[] {
  return items(given.get(field), [field]).flatMap(([item, path]) =>
    predicateFailures(item.get('predicate'), [...path, 'predicate'], `*${field}*`, [1]),
  )
}

function providerFailures(given: ObjectValue): readonly ConstraintFailure[] {
  const names = itemsOf(given.get('roles')).flatMap(item => {
    const name = isObject(item) ? item.get('role') : item
    return typeof name === 'string' ? [name] : []
  })
  const builtin = names.filter(isBuiltinRole)
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  const messages = [
    ...builtin.map(name => `Builtin role \`${name}\` not allowed.`),
    ...[...repeated].map(
      name => `The role \`${name}\` is present more than once, there can only be one entry per role.`,
    ),
  ]
  return [
    ...messages.map(message => constraintFailureAt(['roles'], message)),
    ...itemPredicateFailures(given, 'roles'),
  ]
}

function predicateFailures(
  text: StoredValue | undefined,
  path: FieldPath,
  name: string,
  counts: readonly number[] | undefined,
): readonly ConstraintFailure[] {
  if (typeof text !== 'string') return []
  let count = counts?.[0] ?? 0
  const failures = parseFailures(path, unparsable, '\n', () => {
    count = parseLambda(new Source(name, text)).parameters.length
  })
  if (failures.length > 0 || counts === undefined || counts.includes(count)) return failures
  const expected = `Expected ${arityText({ counts, open: false }, 'argument')}`
  const message = `Invalid function arity. ${expected}, but the function was defined with ${count} arguments`
  return [constraintFailureAt(path, message)]
}

/** Must be called at the end of the query, because the query may first refer to a role and then create the role. */
export function unknownRole(name: StoredValue | undefined, session: Session): string | undefined {
  if (typeof name !== 'string' || isBuiltinRole(name)) return undefined
  const { database, transaction } = session
  if (transaction.catalogue.resolve(database, native.roles, name) !== undefined) return undefined
  return `Field refers to an unknown role name \`${name}\`.`
}

/** A member of a role's privileges or memberships, or of an access provider's roles. */
interface Member {
  readonly type: string
  readonly isRequired?: boolean
  readonly accepts: (value: StoredValue) => boolean
  /** Nested members, if this member is an object. */
  readonly members?: Members
}

type Members = Readonly<Record<string, Member>>

const isText = (value: StoredValue) => typeof value === 'string'
const name: Member = { type: 'String', isRequired: true, accepts: isText }
/** Accepts code of version 4 too: an update may contain a predicate that version 4 has written. */
const isCode = (value: StoredValue) =>
  isText(value) || (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'lambda')

const action: Member = {
  type: 'Boolean | String',
  accepts: value => typeof value === 'boolean' || isCode(value),
}

const privilege: Members = {
  resource: name,
  actions: {
    type: '{ *: Any }',
    accepts: isObject,
    members: Object.fromEntries(resourceActions.map(each => [each, action])),
  },
}

const membership: Members = { resource: name, predicate: { type: 'String', accepts: isCode } }

const providerRole: Members = { role: name, predicate: { type: 'String', isRequired: true, accepts: isCode } }

/**
 * Checks one object or a list of objects. Ignores other values, because the type check of the field reports them.
 * `isPatch` is true if `given` changes only some of the stored fields. A list replaces the stored value, so its objects
 * must be complete.
 */
function memberFailures(given: ObjectValue, field: string, members: Members, isPatch: boolean) {
  const isOne = isObject(given.get(field) ?? null)
  return items(given.get(field), [field]).flatMap(([item, path]) =>
    objectFailures(item, members, path, isPatch && isOne),
  )
}

/** Reports faults of the given members in their order, and then missing members. */
function objectFailures(
  given: ObjectValue,
  members: Members,
  path: FieldPath,
  isPatch: boolean,
): readonly ConstraintFailure[] {
  const failures: ConstraintFailure[] = []
  const fail = (key: string, message: string) => failures.push(constraintFailureAt([...path, key], message))
  for (const [key, value] of given) {
    const member = Object.hasOwn(members, key) ? members[key] : undefined
    if (value === null && (member === undefined || !member.isRequired || isPatch)) continue
    if (member === undefined) fail(key, 'Unexpected field provided')
    else if (value === null) fail(key, `Missing required field of type ${member.type}`)
    else if (!member.accepts(value)) {
      const type = member.isRequired ? member.type : `${member.type} | Null`
      fail(key, `Expected ${type}, provided ${valueTypeText(value)}`)
    } else if (member.members !== undefined && isObject(value)) {
      failures.push(...objectFailures(value, member.members, [...path, key], isPatch))
    }
  }
  if (isPatch) return failures
  for (const [key, { isRequired, type }] of Object.entries(members)) {
    if (isRequired && !given.has(key)) fail(key, `Missing required field of type ${type}`)
  }
  return failures
}

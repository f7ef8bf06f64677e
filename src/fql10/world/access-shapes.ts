// Checks the members of privileges, memberships and roles of access providers, and the types of these members.

import { resourceActions } from '../../model/auth/contract.ts'
import type { FieldPath } from '../../model/failure.ts'
import { valueTypeText } from '../../model/schema/field-types.ts'
import { isArray, isObject, type ObjectValue, type Value as StoredValue } from '../../values/value.ts'
import type { ConstraintFailure } from '../failure/query-failure.ts'
import { failureAt } from '../schema/text-failures.ts'

/** A member of an object that is part of a native document. */
interface Member {
  readonly type: string
  readonly isRequired?: boolean
  readonly accepts: (value: StoredValue) => boolean
  /** Rules for the members of this member, if it is an object. */
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

/** Checks the form of a role's privileges and memberships. `isPatch`: the fields are merged into stored fields. */
export function roleShape(given: ObjectValue, isPatch: boolean): readonly ConstraintFailure[] {
  return [
    ...shapeOf(given, 'privileges', privilege, isPatch),
    ...shapeOf(given, 'membership', membership, isPatch),
  ]
}

/** Checks the form of the roles of an access provider. `isPatch`: the fields are merged into stored fields. */
export function providerShape(given: ObjectValue, isPatch: boolean): readonly ConstraintFailure[] {
  return shapeOf(given, 'roles', providerRole, isPatch)
}

/** Checks one object or a list of objects. The type check of the field reports every other value. */
function shapeOf(given: ObjectValue, field: string, members: Members, isPatch: boolean) {
  const value = given.get(field)
  if (value === undefined) return []
  if (isObject(value)) return failuresOf(value, members, [field], isPatch)
  if (!isArray(value)) return []
  return value.flatMap((item, index) =>
    isObject(item) ? failuresOf(item, members, [field, index], false) : [],
  )
}

/** Reports faults of the given members in their order, and then missing members. */
function failuresOf(
  given: ObjectValue,
  members: Members,
  path: FieldPath,
  isPatch: boolean,
): readonly ConstraintFailure[] {
  const failures: ConstraintFailure[] = []
  const fail = (key: string, message: string) => failures.push(failureAt([...path, key], message))
  for (const [key, value] of given) {
    const member = Object.hasOwn(members, key) ? members[key] : undefined
    if (value === null && (member === undefined || !member.isRequired || isPatch)) continue
    if (member === undefined) fail(key, 'Unexpected field provided')
    else if (value === null) fail(key, `Missing required field of type ${member.type}`)
    else if (!member.accepts(value)) {
      const type = member.isRequired ? member.type : `${member.type} | Null`
      fail(key, `Expected ${type}, provided ${valueTypeText(value)}`)
    } else if (member.members !== undefined && isObject(value)) {
      failures.push(...failuresOf(value, member.members, [...path, key], isPatch))
    }
  }
  if (isPatch) return failures
  for (const [key, { isRequired, type }] of Object.entries(members)) {
    if (isRequired && !given.has(key)) fail(key, `Missing required field of type ${type}`)
  }
  return failures
}

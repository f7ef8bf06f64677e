// The form of privileges, memberships and roles of access providers: their members and the types of these.

import { resourceActions } from '../../model/auth/contract.ts'
import type { FieldPath } from '../../model/failure.ts'
import { valueTypeText } from '../../model/schema/field-types.ts'
import { isArray, isObject, type ObjectValue, type Value as StoredValue } from '../../values/value.ts'
import type { ConstraintFailure } from '../failure/failure.ts'
import { failureAt } from '../schema/text-failures.ts'

/** A member of an object that is part of a native document. */
interface Member {
  readonly type: string
  readonly isRequired?: boolean
  readonly accepts: (value: StoredValue) => boolean
  /** What its own members are. */
  readonly members?: Members
}

type Members = Readonly<Record<string, Member>>

const isText = (value: StoredValue) => typeof value === 'string'
const name: Member = { type: 'String', isRequired: true, accepts: isText }
/** Also code of version 4, of a document whose fields are written again. */
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

/** What is wrong with the form of the fields of a role. `isPatch`: objects are put into those that are there. */
export function roleShape(given: ObjectValue, isPatch: boolean): readonly ConstraintFailure[] {
  return [
    ...shapeOf(given, 'privileges', privilege, isPatch),
    ...shapeOf(given, 'membership', membership, isPatch),
  ]
}

/** What is wrong with the form of the roles of an access provider. */
export function providerShape(given: ObjectValue, isPatch: boolean): readonly ConstraintFailure[] {
  return shapeOf(given, 'roles', providerRole, isPatch)
}

/** One object or a list of them; what else stands there is told by the type of the field. */
function shapeOf(given: ObjectValue, field: string, members: Members, isPatch: boolean) {
  const value = given.get(field)
  if (value === undefined) return []
  if (isObject(value)) return failuresOf(value, members, [field], isPatch)
  if (!isArray(value)) return []
  return value.flatMap((item, index) =>
    isObject(item) ? failuresOf(item, members, [field, index], false) : [],
  )
}

/** What is given in the order in which it is, and then what is missing. */
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

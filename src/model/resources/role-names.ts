// Checks the roles of keys, functions and access providers: built-in roles by name, custom roles by reference or name.

import { isArray, native, Ref, type Value } from '../../values/value.ts'
import { isBuiltinRole } from '../auth/builtin-role.ts'
import type { FieldFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import { failure, invalidType } from './resource.ts'

const isRoleRef = (value: Value) => value instanceof Ref && value.collection === native.roles

/** Checks a built-in role, a custom role, or an array of custom roles. */
export function roleFailures(
  value: Value,
  path: readonly string[],
  session: Session,
): readonly FieldFailure[] {
  if (isArray(value)) return value.flatMap(each => customRoleFailures(each, path, session))
  return isBuiltinRole(value) ? [] : customRoleFailures(value, path, session)
}

/** Checks a custom role: a reference, or the name of an existing role. */
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

/** Returns whether a role gives no more rights than a caller with the built-in role `holder` has. */
export function isWithin(role: Value | undefined, holder: 'admin' | 'server' | undefined): boolean {
  if (role === undefined || holder === 'admin') return true
  const lesser: readonly Value[] = ['server', 'server-readonly', 'client']
  return holder === 'server' && lesser.includes(role)
}

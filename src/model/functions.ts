// Calls user functions.

import { assert } from '../base/assert.ts'
import { codeOf } from '../values/code.ts'
import type { Ref, Value } from '../values/value.ts'
import { authorityOfRole } from './auth/role.ts'
import type { CodeArguments } from './code-arguments.ts'
import { Failure } from './failure.ts'
import { permissionDenied } from './permissions.ts'
import type { Session } from './session.ts'

/**
 * Runs a user function with the rights of its role, or else with those of the caller. Throws Failures if there is no
 * such function or the caller may not call it. Errors of its body pass through.
 */
export function callFunction(ref: Ref, given: CodeArguments, session: Session): Value {
  const { access, callSite, transaction } = session
  const stored = transaction.get(ref)
  if (!stored) throw Failure.of({ kind: 'not found', ref }, 'target')
  const argument = () => ('one' in given ? given.one : given.list)
  if (!access.allows({ action: 'call', resource: ref, argument, callSite })) throw permissionDenied()
  const body = codeOf(stored.fields.get('body'))
  assert(body !== undefined, 'a function has a body')
  const role = stored.fields.get('role')
  if (role === undefined) return session.run(body, given)
  const authority = authorityOfRole(transaction, ref.database, role)
  return session.withAuthority(authority, () => session.run(body, given))
}

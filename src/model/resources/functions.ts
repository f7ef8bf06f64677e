// The rules for user functions. A user function contains stored code, and the role with which the code runs.

import { equalValues } from '../../values/equality.ts'
import { Lambda, native, Ref, type Value } from '../../values/value.ts'
import { Failure, type FieldFailure } from '../failure.ts'
import { permissionDenied } from '../permissions.ts'
import { map, name } from './fields.ts'
import { renameResource } from './renaming.ts'
import { type Draft, failure, failurePlaceOf, type Resource } from './resource.ts'
import { isWithin, roleFailures } from './roles.ts'

export const functionResource: Resource = {
  fields: {
    name: { check: name, required: true },
    alias: { schemaOnly: true },
    body: { required: true },
    signature: { schemaOnly: true },
    role: {},
    data: { check: map },
  },
  preservedOnReplace: ['name'],
  strictReferences: true,
  complete(draft) {
    const { session, failures, fields, patch, rules } = draft
    const body = patch.get('body') ?? undefined
    if (body !== undefined && !(body instanceof Lambda) && !rules.languageChecksTexts) {
      throw Failure.of({ kind: 'no body' }, failurePlaceOf(draft.mode))
    }
    const role = fields.get('role')
    if (role !== undefined && !rules.languageChecksTexts)
      failures.push(...roleFailures(role, ['role'], session))
    rejectHigherRole(draft)
  },
  written: renameResource,
}

/**
 * Rejects a function whose role has more rights than the caller. Two exceptions: the caller may create keys, or
 * `explainsRoles` is set and the write changes neither the role nor the body. The hosted service was less strict: a
 * server key could create functions with the role `admin`.
 */
function rejectHigherRole(draft: Draft): void {
  const { access, authority, database } = draft.session
  const callerRole = authority.kind === 'builtin' && authority.role !== 'client' ? authority.role : undefined
  const before = draft.previous?.fields.get('role')
  const role = draft.fields.get('role') ?? before
  if (isWithin(role, callerRole === 'server-readonly' ? undefined : callerRole)) return
  const keys = new Ref(database, native.collections, BigInt(native.keys))
  if (access.allows({ action: 'create', resource: keys, argument: () => new Map() })) return
  if (draft.rules.explainsRoles && role !== undefined) {
    const keepsRole = before !== undefined && equalValues(role, before)
    if (keepsRole && keepsBody(draft)) return
    const reasons = keepsRole || callerRole !== 'server' ? [] : reasonsAgainst(role, draft)
    draft.failures.push(...reasons)
    if (reasons.length > 0) return
  }
  throw permissionDenied(failurePlaceOf(draft.mode))
}

function keepsBody({ fields, previous }: Draft): boolean {
  return equalValues(fields.get('body') ?? null, previous?.fields.get('body') ?? null)
}

/** Returns the reasons why a server key may not write a function with the given role. */
function reasonsAgainst(role: Value, { mode, session }: Draft): readonly FieldFailure[] {
  if (role !== 'admin') return roleFailures(role, ['role'], session)
  return [failure(['role'], { kind: 'admin role', isNew: mode === 'create' })]
}

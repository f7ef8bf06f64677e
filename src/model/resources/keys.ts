// Keys: secrets with a role, for the key's own database or a child of it.

import { native, Ref } from '../../values/value.ts'
import type { FieldFailure } from '../failure.ts'
import { map, priority, refOf, text, timestamp } from './fields.ts'
import { type Draft, failure, type Resource } from './resource.ts'
import { roleFailures } from './role-names.ts'
import { giveSecret } from './tokens.ts'

export const keyResource: Resource = {
  fields: {
    name: { check: text },
    role: { required: true },
    database: { check: refOf('Database Ref', native.databases) },
    ttl: { check: timestamp },
    priority: { check: priority },
    data: { check: map },
    secret: { check: text, transient: true },
    hashed_secret: { check: text, createOnly: true },
  },
  preservedOnReplace: ['hashed_secret'],
  strictReferences: true,
  allowedInContainer: true,
  complete(draft) {
    const { session, failures, fields, mode, patch, ref, rules } = draft
    const role = fields.get('role')
    if (role !== undefined && !rules.checksTexts) failures.push(...roleFailures(role, ['role'], session))
    failures.push(...importFailures(draft))
    // The history of a key contains no hashes.
    if (mode === 'history') fields.delete('hashed_secret')
    if (failures.length > 0 || mode === 'history') return
    const secret = patch.get('secret')
    if (typeof secret === 'string') importSecret(draft, secret)
    else if (!fields.has('hashed_secret'))
      giveSecret(draft, session.host.logins.newKeySecret(session.memo, ref))
  },
}

/**
 * A secret must identify one key. So a hash is rejected if a key with the same id in another database has the same
 * hash. The error reveals nothing, because the caller already knows the secret.
 */
function importFailures({ session, mode, patch, ref }: Draft): readonly FieldFailure[] {
  const given = patch.get('hashed_secret')
  if (mode !== 'create' || given === undefined) return []
  const { transaction } = session
  const isTaken = transaction.directory.keyDatabases(ref.id).some(database => {
    if (database === ref.database) return false
    return transaction.get(new Ref(database, native.keys, ref.id))?.fields.get('hashed_secret') === given
  })
  return isTaken ? [failure(['hashed_secret'], { kind: 'not unique' })] : []
}

function importSecret(draft: Draft, secret: string): void {
  const { memo, host } = draft.session
  const hashedSecret = host.logins.hashKeySecret(memo, draft.ref, secret)
  if (hashedSecret === undefined) draft.failures.push(failure(['secret'], { kind: 'secret' }))
  else giveSecret(draft, { hashedSecret, secret })
}

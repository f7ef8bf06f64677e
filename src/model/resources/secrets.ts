// The rules for keys and tokens. The secret of a key has the rights of a role. The secret of a token authenticates a
// client as a document.

import { type DocumentValue, native, type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { applyWrite, Failure, type FieldFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import { viewDocument } from '../view-document.ts'
import { documentRef, map, priority, refOf, text, timestamp } from './fields.ts'
import { applyPatch } from './patch.ts'
import { type Draft, failure, type Resource } from './resource.ts'
import { roleFailures } from './roles.ts'

export const tokenResource: Resource = {
  fields: {
    instance: { check: documentRef, required: true },
    ttl: { check: timestamp },
    data: { check: map },
    hashed_secret: { check: text },
  },
  complete(draft) {
    draft.omitted.add('hashed_secret')
    const hash = draft.rules.keepsTokenSecret ? draft.previous?.fields.get('hashed_secret') : undefined
    if (hash !== undefined) draft.fields.set('hashed_secret', hash)
    if (draft.failures.length === 0 && !draft.fields.has('hashed_secret')) makeTokenSecret(draft)
  },
}

function makeTokenSecret(draft: Pick<Draft, 'session' | 'fields' | 'ref' | 'shown'>): void {
  const { host, memo } = draft.session
  giveSecret(draft, host.logins.newTokenSecret(memo, draft.ref))
}

/** Stores the hash in a key or token, and adds the secret to the response. */
function giveSecret(
  { fields, shown }: Pick<Draft, 'fields' | 'shown'>,
  { hashedSecret, secret }: { readonly hashedSecret: string; readonly secret: string },
): void {
  shown.set('secret', secret)
  fields.set('hashed_secret', hashedSecret)
}

const checks = { data: map, ttl: timestamp }

/** Does not check permissions. Uses only `data` and `ttl` of `params`. The returned document contains the secret. */
export function createToken(instance: Ref, params: ObjectValue, session: Session): DocumentValue {
  const given = new Map([...params].filter(([name]) => Object.hasOwn(checks, name)))
  const fields = applyPatch(new Map([['instance', instance]]), given)
  const failures = Object.entries(checks).flatMap(([name, check]) => {
    const value = fields.get(name)
    return value === undefined ? [] : check(value, [name])
  })
  if (failures.length > 0) throw Failure.of({ kind: 'invalid fields', failures })
  const ref = session.newDocument(instance.database, native.tokens)
  const shown = new Map<string, Value>()
  makeTokenSecret({ session, fields, ref, shown })
  const { action, ts } = applyWrite(() => session.transaction.put(ref, fields), 'call')
  fields.delete('hashed_secret')
  return viewDocument({ ref, ts, action, fields: new Map([...fields, ...shown]) }, session, true)
}

/** A key grants access to the database that contains it, or to a child database. */
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
    if (role !== undefined && !rules.languageChecksTexts)
      failures.push(...roleFailures(role, ['role'], session))
    failures.push(...importFailures(draft))
    // Inserted history versions of a key contain no hash.
    if (mode === 'history') fields.delete('hashed_secret')
    if (failures.length > 0 || mode === 'history') return
    const secret = patch.get('secret')
    if (typeof secret === 'string') importSecret(draft, secret)
    else if (!fields.has('hashed_secret'))
      giveSecret(draft, session.host.logins.newKeySecret(session.memo, ref))
  },
}

/**
 * Rejects a hash if a key of another database has the same id and the same hash, because the secret would match both
 * keys. The error reveals nothing to the caller, who already knows the hash.
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

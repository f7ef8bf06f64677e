// Creates tokens for identities that have logged in.

import { type DocumentValue, native, type ObjectValue, type Ref, type Value } from '../values/value.ts'
import { applied, Failure } from './failure.ts'
import { map, timestamp } from './resources/fields.ts'
import { applyPatch } from './resources/patch.ts'
import { makeTokenSecret } from './resources/tokens.ts'
import type { Session } from './session.ts'
import { viewDocument } from './view-document.ts'

const checks = { data: map, ttl: timestamp }

/**
 * Creates a token for a document, with the service's own rights. Only `data` and `ttl` of `params` are used. The
 * returned document shows the secret.
 */
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
  const { action, ts } = applied(() => session.transaction.put(ref, fields), 'call')
  fields.delete('hashed_secret')
  return viewDocument({ ref, ts, action, fields: new Map([...fields, ...shown]) }, session, true)
}

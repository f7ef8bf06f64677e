// The rules for access providers. An access provider defines an issuer of third-party tokens, and the roles of these
// tokens.

import { isObject, itemsOf, Lambda, type Value } from '../../values/value.ts'
import type { FieldFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import { map, name, text } from './fields.ts'
import { type Draft, failure, invalidType, type Resource } from './resource.ts'
import { customRoleFailures } from './roles.ts'

export const accessProviderResource: Resource = {
  fields: {
    name: { check: name, required: true },
    issuer: { check: text, required: true },
    jwks_uri: { check: text, required: true },
    roles: {},
    data: { check: map },
  },
  preservedOnReplace: ['name', 'issuer', 'jwks_uri', 'roles'],
  strictReferences: true,
  allowedInContainer: true,
  complete(draft) {
    const { session, failures, fields, ref } = draft
    const roles = fields.get('roles')
    for (const item of itemsOf(roles)) failures.push(...providerRoleFailures(item, draft))
    failures.push(...uriFailures(fields.get('jwks_uri'), session))
    const issuer = fields.get('issuer')
    if (typeof issuer === 'string') {
      const other = session.transaction.directory.accessProviderByIssuer(ref.database, issuer)
      if (other && other.ref.id !== ref.id) failures.push(failure(['issuer'], { kind: 'not unique' }))
    }
  },
}

/** Matches an HTTP URI without a host (RFC 3986, section 3.2.2). */
const withoutHost = /^https?:\/\/(?:[^/?#]*@)?(?:[:/?#\s]|$)/i

/**
 * Checks only the scheme and the presence of a host, like the hosted service. A stricter check would reject URIs that
 * the test suite of a driver stores. If the key set cannot be fetched, the provider's tokens are rejected, and the
 * reason is logged. The operator can allow plain HTTP.
 */
function uriFailures(uri: Value | undefined, session: Session): readonly FieldFailure[] {
  if (typeof uri !== 'string') return []
  const isPlain = /^http:/i.test(uri) && session.host.settings.allowInsecureJwks
  if ((isPlain || /^https:/i.test(uri)) && !withoutHost.test(uri)) return []
  return [failure(['jwks_uri'], { kind: 'uri', uri })]
}

function providerRoleFailures(item: Value, { patch, rules, session }: Draft): readonly FieldFailure[] {
  // In an update without `roles`, the stored predicates of version 10 are texts.
  const mayBeText = rules.languageChecksTexts === true || !patch.has('roles')
  const roleFailures = (role: Value, path: string) =>
    rules.languageChecksTexts && typeof role === 'string' ? [] : customRoleFailures(role, [path], session)
  if (!isObject(item)) return roleFailures(item, 'roles')
  const role = item.get('role')
  if (role === undefined) return [failure(['role'], { kind: 'required' })]
  const predicate = item.get('predicate')
  const failures = [...roleFailures(role, 'role')]
  if (predicate === undefined) return [...failures, failure(['predicate'], { kind: 'required' })]
  return predicate instanceof Lambda || (mayBeText && typeof predicate === 'string')
    ? failures
    : [...failures, invalidType(['predicate'], predicate, 'Query')]
}

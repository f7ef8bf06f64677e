// Access providers: issuers of third-party tokens, and the roles their bearers get.

import type { Failure } from '../../errors.ts'
import { isObject, itemsOf, Lambda, type Value } from '../../values/value.ts'
import { map, name, text } from './fields.ts'
import { type Draft, failure, invalidType, type Resource, valueRequired } from './resource.ts'
import { customRoleFailures } from './role-names.ts'

export const accessProviderResource: Resource = {
  label: 'other',
  fields: {
    name: { check: name, required: true },
    issuer: { check: text, required: true },
    jwks_uri: { check: text, required: true },
    roles: { check: () => [] },
    data: { check: map },
  },
  keptOnReplace: ['name', 'issuer', 'jwks_uri', 'roles'],
  strictReferences: true,
  allowedInContainer: true,
  complete(draft) {
    const { call, failures, fields, ref } = draft
    const roles = fields.get('roles')
    for (const item of itemsOf(roles)) failures.push(...providerRoleFailures(item, call))
    failures.push(...uriFailures(fields.get('jwks_uri'), call))
    const issuer = fields.get('issuer')
    if (typeof issuer === 'string') {
      const other = call.evaluation.transaction.accessProviderByIssuer(ref.database, issuer)
      if (other && other.ref.id !== ref.id) {
        failures.push(failure(['issuer'], 'duplicate value', 'Value is not unique.'))
      }
    }
  },
}

/**
 * Only the scheme is looked at, as the original did: an address that cannot be fetched lets nobody in, and the log says
 * why. Plain http only where the operator allows it.
 */
function uriFailures(uri: Value | undefined, call: Draft['call']): readonly Failure[] {
  if (typeof uri !== 'string') return []
  const isPlain = /^http:/i.test(uri) && call.evaluation.host.settings.allowInsecureJwks
  if (isPlain || /^https:/i.test(uri)) return []
  return [failure(['jwks_uri'], 'invalid uri', `\`${uri}\` is a not valid URI`)]
}

function providerRoleFailures(item: Value, call: Draft['call']): readonly Failure[] {
  if (!isObject(item)) return customRoleFailures(item, ['roles'], call)
  const role = item.get('role')
  if (role === undefined) return [valueRequired(['role'])]
  const predicate = item.get('predicate')
  const failures = [...customRoleFailures(role, ['role'], call)]
  if (predicate === undefined) return [...failures, valueRequired(['predicate'])]
  return predicate instanceof Lambda
    ? failures
    : [...failures, invalidType(['predicate'], predicate, 'Query')]
}

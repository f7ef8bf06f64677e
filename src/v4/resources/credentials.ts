// Credentials: the password of a document, as a document of its own or through the `credentials` field of a
// document. Only a hash is stored.

import type { Failure } from '../../errors.ts'
import { native, type ObjectValue, Ref, sameRef, type Value } from '../../values/value.ts'
import type { Call } from '../definition.ts'
import { documentRef, map, text, timestamp } from './fields.ts'
import { failure, type Resource } from './resource.ts'

/** Credentials: the password hash of an identity. */
export const credentialResource: Resource = {
  label: 'Credentials',
  fields: {
    instance: { check: documentRef, required: true },
    password: { check: text, transient: true },
    current_password: { check: text, transient: true },
    hashed_password: { check: text },
    ttl: { check: timestamp },
    data: { check: map },
  },
  keptOnReplace: [],
  strictReferences: false,
  allowedInContainer: false,
  complete({ call, failures, fields, mode, patch, previous, ref }) {
    const instance = fields.get('instance')
    if (failures.length > 0 || !(instance instanceof Ref)) return
    const other = call.evaluation.transaction.credentialOf(instance)
    if (other && other.ref.id !== ref.id) {
      const at = mode === 'create' ? [call.expression.definition.name] : []
      throw call.error('instance not unique', 'document is not unique.', ...at)
    }
    if (!maySetHash(call)) keepHash(fields, previous?.fields)
    const before = previous?.fields.get('instance')
    const owner = before instanceof Ref ? before : instance
    const password = patch.get('password')
    // Moved to somebody else, a password is lost, and could be changed there and moved back.
    if (patch.has('password') || !sameRef(owner, instance))
      failures.push(...passwordFailures(owner, patch, previous?.fields, [], call))
    if (failures.length === 0 && typeof password === 'string')
      fields.set('hashed_password', hashOf(password, call))
  },
}

/** Only keys with built-in rights may store a hash that was made elsewhere. */
function maySetHash({ evaluation: { authority } }: Call): boolean {
  return authority.kind === 'builtin' && (authority.role === 'admin' || authority.role === 'server')
}

function keepHash(fields: Map<string, Value>, before: ObjectValue | undefined): void {
  const hash = before?.get('hashed_password')
  if (hash === undefined) fields.delete('hashed_password')
  else fields.set('hashed_password', hash)
}

/**
 * What is wrong with a change of the password of `instance`. Whoever changes the password of the very document they
 * act as has to give the current one, by whatever form; keys and functions with a role of their own need not.
 */
function passwordFailures(
  instance: Ref,
  patch: ObjectValue,
  before: ObjectValue | undefined,
  path: readonly string[],
  call: Call,
): readonly Failure[] {
  if (!actsAs(instance, call)) return []
  const stored = before ?? call.evaluation.transaction.credentialOf(instance)?.fields
  if (!stored?.has('hashed_password')) return []
  const current = patch.get('current_password')
  const { logins } = call.evaluation.host
  if (typeof current === 'string' && logins.checkPassword(call.evaluation, instance, instance, current))
    return []
  return [
    failure([...path, 'current_password'], 'invalid password', 'Invalid password at `current_password`.'),
  ]
}

function actsAs(instance: Ref, { evaluation: { authority } }: Call): boolean {
  return (
    authority.kind === 'roles' && authority.identity !== undefined && sameRef(authority.identity, instance)
  )
}

function hashOf(password: string, call: Call): string {
  return call.evaluation.host.logins.hashPassword(call.evaluation, password)
}

const blockFields = ['password', 'hashed_password', 'current_password']

/** What is wrong with the `credentials` field of a document that is about to be written. */
export function credentialsFailures(instance: Ref, block: ObjectValue, call: Call): readonly Failure[] {
  const wrong = blockFields.flatMap(name => {
    const value = block.get(name)
    return value === undefined || value === null ? [] : text(value, ['credentials', name])
  })
  if (wrong.length > 0 || !block.has('password')) return wrong
  return passwordFailures(instance, block, undefined, ['credentials'], call)
}

/** Writes what the `credentials` field of a document says into its credentials, with the service's own rights. */
export function writeCredentialsOf(instance: Ref, block: ObjectValue, call: Call): void {
  const { transaction } = call.evaluation
  const existing = transaction.credentialOf(instance)
  const fields = new Map<string, Value>(existing?.fields ?? [['instance', instance]])
  const hash = block.get('hashed_password')
  if (typeof hash === 'string' && maySetHash(call)) fields.set('hashed_password', hash)
  const password = block.get('password')
  if (typeof password === 'string') fields.set('hashed_password', hashOf(password, call))
  const ref = existing?.ref ?? call.evaluation.newDocument(instance.database, native.credentials)
  transaction.put(ref, fields)
}

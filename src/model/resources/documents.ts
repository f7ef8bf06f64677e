// The rules for documents of user collections, and for credentials, with which a document (such as a user) can log in
// with a password. Clients write credentials as separate documents, or in the field `credentials` of the document that
// logs in. Only a hash of the password is stored.

import { addToTime, maxTime, minTime, type TimeUnit, timeFromMicros, timeUnit } from '../../values/time.ts'
import { isObject, native, type ObjectValue, Ref, sameRef, type Value } from '../../values/value.ts'
import { applyWrite, Failure, type FieldFailure } from '../failure.ts'
import { applyTypes, runChecks } from '../schema/collection-rules.ts'
import type { Session } from '../session.ts'
import { documentRef, map, text, timestamp } from './fields.ts'
import { type Draft, failure, failurePlaceOf, type Resource } from './resource.ts'

export const documentResource: Resource = {
  fields: {
    data: { check: map },
    ttl: { check: timestamp },
    // A field of the protocol without effect.
    constraints: {},
    credentials: { check: map, transient: true },
  },
  complete(draft) {
    applyTimeToLive(draft)
    applyTypes(draft)
    const credentials = draft.patch.get('credentials')
    if (!isObject(credentials)) return
    draft.failures.push(...credentialsFailures(draft.ref, credentials, draft.session))
  },
  written(draft, version) {
    runChecks(draft)
    const credentials = draft.patch.get('credentials')
    if (isObject(credentials) && credentials.size > 0) {
      writeCredentialsOf(version.ref, credentials, draft.session)
    }
  },
}

/**
 * Without `ttl`, a document gets the default expiry time of its collection. With `WriteRules.renewsTimeToLive`, each
 * write without the parameter `ttl` sets a new one.
 */
function applyTimeToLive({ fields, patch, ref, rules, session }: Draft): void {
  if (rules.renewsTimeToLive ? patch.has('ttl') : fields.has('ttl')) return
  const ttl = defaultTimeToLive(ref, session)
  if (ttl) fields.set('ttl', ttl)
}

/** Returns undefined if the collection has no `ttl_days`. */
function defaultTimeToLive(ref: Ref, session: Session): Value | undefined {
  const { catalogue, snapshotTime } = session.transaction
  const collection = catalogue.collection(new Ref(ref.database, native.collections, BigInt(ref.collection)))
  if (collection?.ttlDays === undefined) return undefined
  const days = BigInt(collection.ttlDays)
  const end = addToTime(timeFromMicros(snapshotTime), days, timeUnit('days') as TimeUnit)
  // `ttl_days` can be any integer. A result outside of the range of times becomes the maximum or minimum time.
  return end ?? (days > 0n ? maxTime : minTime)
}

export const credentialResource: Resource = {
  fields: {
    instance: { check: documentRef, required: true },
    password: { check: text, transient: true },
    current_password: { check: text, transient: true },
    hashed_password: { check: text },
    ttl: { check: timestamp },
    data: { check: map },
  },
  complete({ session, failures, fields, mode, patch, previous, ref }) {
    const instance = fields.get('instance')
    if (failures.length > 0 || !(instance instanceof Ref)) return
    const other = session.transaction.directory.credentialOf(instance)
    if (other && other.ref.id !== ref.id) {
      throw Failure.of({ kind: 'not unique', indexes: [] }, failurePlaceOf(mode))
    }
    if (!maySetHash(session)) retainHash(fields, previous?.fields)
    const before = previous?.fields.get('instance')
    const owner = before instanceof Ref ? before : instance
    const password = patch.get('password')
    // Without this rule, a caller could assign the credentials to another document, change the password, and assign the
    // credentials back.
    if (patch.has('password') || !sameRef(owner, instance))
      failures.push(...passwordFailures(owner, patch, previous?.fields, [], session))
    if (failures.length === 0 && typeof password === 'string')
      fields.set('hashed_password', hashOf(password, session))
  },
}

/** The roles `admin` and `server` may store password hashes that another program has computed. */
function maySetHash({ authority }: Session): boolean {
  return authority.kind === 'builtin' && (authority.role === 'admin' || authority.role === 'server')
}

function retainHash(fields: Map<string, Value>, before: ObjectValue | undefined): void {
  const hash = before?.get('hashed_password')
  if (hash === undefined) fields.delete('hashed_password')
  else fields.set('hashed_password', hash)
}

/**
 * A caller whose identity is `instance` must send the current password. Keys, and functions with their own role, need
 * no current password.
 */
function passwordFailures(
  instance: Ref,
  patch: ObjectValue,
  before: ObjectValue | undefined,
  path: readonly string[],
  session: Session,
): readonly FieldFailure[] {
  if (!actsAs(instance, session)) return []
  const stored = before ?? session.transaction.directory.credentialOf(instance)?.fields
  if (!stored?.has('hashed_password')) return []
  const current = patch.get('current_password')
  const { logins } = session.host
  if (typeof current === 'string' && logins.checkPassword(session, instance, instance, current)) return []
  return [failure([...path, 'current_password'], { kind: 'current password' })]
}

function actsAs(instance: Ref, { authority }: Session): boolean {
  return (
    authority.kind === 'roles' && authority.identity !== undefined && sameRef(authority.identity, instance)
  )
}

function hashOf(password: string, session: Session): string {
  return session.host.logins.hashPassword(session, password)
}

const blockFields = ['password', 'hashed_password', 'current_password']

/** `block`: the field `credentials` of a written document. */
function credentialsFailures(instance: Ref, block: ObjectValue, session: Session): readonly FieldFailure[] {
  const wrong = blockFields.flatMap(name => {
    const value = block.get(name)
    return value === undefined || value === null ? [] : text(value, ['credentials', name])
  })
  if (wrong.length > 0 || !block.has('password')) return wrong
  return passwordFailures(instance, block, undefined, ['credentials'], session)
}

/** `block`: the field `credentials` of a document. Does not check permissions. */
function writeCredentialsOf(instance: Ref, block: ObjectValue, session: Session): void {
  const { transaction } = session
  const existing = transaction.directory.credentialOf(instance)
  const fields = new Map<string, Value>(existing?.fields ?? [['instance', instance]])
  const hash = block.get('hashed_password')
  if (typeof hash === 'string' && maySetHash(session)) fields.set('hashed_password', hash)
  const password = block.get('password')
  if (typeof password === 'string') fields.set('hashed_password', hashOf(password, session))
  const ref = existing?.ref ?? session.newDocument(instance.database, native.credentials)
  applyWrite(() => transaction.put(ref, fields), 'call')
}

// The rules for documents of user collections.

import { addToTime, maxTime, minTime, type TimeUnit, timeFromMicros, timeUnit } from '../../values/time.ts'
import { isObject, native, Ref, type Value } from '../../values/value.ts'
import { applyTypes, runChecks } from '../schema/collection-rules.ts'
import type { Session } from '../session.ts'
import { credentialsFailures, writeCredentialsOf } from './credentials.ts'
import { map, timestamp } from './fields.ts'
import type { Draft, Resource } from './resource.ts'

export const documentResource: Resource = {
  fields: {
    data: { check: map },
    ttl: { check: timestamp },
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
 * A document without a `ttl` gets the default expiry time of its collection. If the rules of the language renew expiry
 * times, each write without the parameter `ttl` replaces the stored `ttl` by a new default.
 */
function applyTimeToLive({ fields, patch, ref, rules, session }: Draft): void {
  if (rules.renewsTimeToLive ? patch.has('ttl') : fields.has('ttl')) return
  const ttl = defaultTimeToLive(ref, session)
  if (ttl) fields.set('ttl', ttl)
}

/** Returns the expiry time of a document that is written now, if the collection sets one. */
function defaultTimeToLive(ref: Ref, session: Session): Value | undefined {
  const { catalogue, snapshotTime } = session.transaction
  const collection = catalogue.collection(new Ref(ref.database, native.collections, BigInt(ref.collection)))
  if (collection?.ttlDays === undefined) return undefined
  const days = BigInt(collection.ttlDays)
  const end = addToTime(timeFromMicros(snapshotTime), days, timeUnit('days') as TimeUnit)
  // The number of days is not checked. If the result is out of range, it becomes the last or the first possible time.
  return end ?? (days > 0n ? maxTime : minTime)
}

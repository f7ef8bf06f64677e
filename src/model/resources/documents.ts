// Documents of user collections.

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

/** A document without a `ttl` gets that of its collection; where a language renews it, with every write that gives none. */
function applyTimeToLive({ fields, patch, ref, rules, session }: Draft): void {
  if (rules.renewsTimeToLive ? patch.has('ttl') : fields.has('ttl')) return
  const ttl = defaultTimeToLive(ref, session)
  if (ttl) fields.set('ttl', ttl)
}

/** When a document of the collection written now ends, if the collection says so. */
function defaultTimeToLive(ref: Ref, session: Session): Value | undefined {
  const { catalogue, snapshotTime } = session.transaction
  const collection = catalogue.collection(new Ref(ref.database, native.collections, BigInt(ref.collection)))
  if (collection?.ttlDays === undefined) return undefined
  const days = BigInt(collection.ttlDays)
  const end = addToTime(timeFromMicros(snapshotTime), days, timeUnit('days') as TimeUnit)
  // There is no check of the days: more of them than there are times mean the last one, or the first.
  return end ?? (days > 0n ? maxTime : minTime)
}

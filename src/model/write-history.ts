// Writes versions in the past of a document.

import { micros, nearestMicros } from '../base/micros.ts'
import type { Version } from '../storage/store/store-contract.ts'
import { microsOfTime } from '../values/time.ts'
import { native, type ObjectValue, type Ref, type Time } from '../values/value.ts'
import { draftOf, throwFailures } from './draft.ts'
import { applyWrite, Failure } from './failure.ts'
import { mayOnDocument, permissionDenied } from './permissions.ts'
import { isUserDocument } from './read.ts'
import { resourceOf } from './resources/kinds.ts'
import type { Session } from './session.ts'
import { rejectForeign, rejectNegativeId, rejectReferences } from './write-checks.ts'

export type HistoryAction = 'create' | 'update' | 'delete'

/** The version contains only the fields in `params`, and no fields of previous versions. */
export function insertVersion(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  params: ObjectValue,
  session: Session,
): Version {
  const { transaction } = session
  const time = Number(microsOfTime(ts))
  // Times are stored as numbers of microseconds, which are exact from the year 1684 on.
  if (time > transaction.snapshotTime || time < Number.MIN_SAFE_INTEGER) {
    throw Failure.of({ kind: 'other time' })
  }
  rejectForeign(ref.database, session)
  rejectNegativeId(ref.id)
  const resource = resourceOf(ref.collection)
  rejectReferences(params, resource, session)
  if (!isUserDocument(ref) && ref.collection !== native.keys) {
    throw Failure.of({ kind: 'fixed history', action: 'insert' })
  }
  rejectUnlessAllowed(ref, ts, action, params, session)
  if (action === 'delete')
    return applyWrite(() => transaction.insertVersion(ref, micros(time), undefined), 'call')
  const draft = draftOf('history', ref, undefined, new Map(), params, resource, session)
  throwFailures(draft)
  return applyWrite(() => transaction.insertVersion(ref, micros(time), draft.fields), 'call')
}

/** Removes the version with exactly the time `ts`, if it exists. */
export function removeVersion(ref: Ref, ts: Time, action: HistoryAction, session: Session): null {
  const { transaction } = session
  const time = nearestMicros(Number(microsOfTime(ts)))
  rejectForeign(ref.database, session)
  if (!isUserDocument(ref)) throw Failure.of({ kind: 'fixed history', action: 'remove' })
  const [valid] = transaction.versions(ref, { reverse: true, notAfter: time })
  const stored = valid?.ts === time ? valid : undefined
  rejectUnlessAllowed(ref, ts, action, stored?.fields ?? new Map(), session)
  applyWrite(() => transaction.removeVersion(ref, time, action === 'delete' ? 'delete' : 'create'), 'call')
  return null
}

function rejectUnlessAllowed(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  fields: ObjectValue,
  session: Session,
): void {
  if (!mayOnDocument('history_write', ref, session, () => [ref, ts, action, fields])) throw permissionDenied()
}

// Writes into the past: `insert` and `remove` change the history of a document, version by version.

import { micros, nearestMicros } from '../base/micros.ts'
import type { Version } from '../storage/store/contract.ts'
import { microsOfTime } from '../values/time.ts'
import { native, type ObjectValue, type Ref, type Time } from '../values/value.ts'
import { applied, Failure } from './failure.ts'
import { mayOnDocument, permissionDenied } from './permissions.ts'
import { isUserDocument } from './read.ts'
import type { Session } from './session.ts'
import { draftFields, refuseForeign, refuseNegativeId } from './write.ts'

/** The action of a version in the past. */
export type HistoryAction = 'create' | 'update' | 'delete'

/**
 * Writes a version at a past time. Unlike an update, the version replaces the fields of earlier versions instead of
 * merging with them.
 */
export function insertVersion(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  params: ObjectValue,
  session: Session,
): Version {
  const { transaction } = session
  const time = Number(microsOfTime(ts))
  // Stored times are numbers that must be exact, so times before 1684 are rejected.
  if (time > transaction.snapshotTime || time < Number.MIN_SAFE_INTEGER) {
    throw Failure.of({ kind: 'other time' })
  }
  refuseForeign(ref.database, session)
  refuseNegativeId(ref.id)
  const fields = draftFields(ref, params, session)
  if (!isUserDocument(ref) && ref.collection !== native.keys) {
    throw Failure.of({ kind: 'fixed history', action: 'insert' })
  }
  refuseUnlessAllowed(ref, ts, action, params, session)
  const given = action === 'delete' ? undefined : fields()
  return applied(() => transaction.insertVersion(ref, micros(time), given), 'call')
}

/** Removes the version at a time. Succeeds, too, if there is no such version. */
export function removeVersion(ref: Ref, ts: Time, action: HistoryAction, session: Session): null {
  const { transaction } = session
  const time = nearestMicros(Number(microsOfTime(ts)))
  refuseForeign(ref.database, session)
  if (!isUserDocument(ref)) throw Failure.of({ kind: 'fixed history', action: 'remove' })
  const stored = [...transaction.versions(ref)].find(version => version.ts === time)
  refuseUnlessAllowed(ref, ts, action, stored?.fields ?? new Map(), session)
  applied(() => transaction.removeVersion(ref, time, action === 'delete' ? 'delete' : 'create'), 'call')
  return null
}

function refuseUnlessAllowed(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  fields: ObjectValue,
  session: Session,
): void {
  if (!mayOnDocument('history_write', ref, session, () => [ref, ts, action, fields])) throw permissionDenied()
}

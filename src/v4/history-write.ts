// Writing into the past: `insert` and `remove` change a document's history, version by version.

import { errorEntry, QueryError } from '../errors.ts'
import { microsOfTime } from '../values/time.ts'
import {
  Action,
  EventValue,
  native,
  type ObjectValue,
  type Ref,
  type Time,
  type Value,
} from '../values/value.ts'
import { type Call, mismatch } from './definition.ts'
import { mayOnDocument, permissionDenied } from './permissions.ts'
import { isUserDocument } from './read.ts'
import { draftFields, refuseNegativeId } from './write.ts'

type HistoryAction = 'create' | 'update' | 'delete'

/** The action of an event to write: a name, as a string or an action. */
export const historyAction = {
  mode: 'value',
  name: 'Action',
  check(value: Value, call: Call, key: string): HistoryAction {
    const name = value instanceof Action ? value.name : value
    if (name === 'create' || name === 'update' || name === 'delete') return name
    throw mismatch("String 'create', 'update', or 'delete'", value, call, key)
  },
} as const

/** Writes a version at a past time. Unlike an update it is not merged with what was there. */
export function insertVersion(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  params: ObjectValue,
  call: Call,
): EventValue {
  const { transaction } = call.evaluation
  const micros = Number(microsOfTime(ts))
  // What is stored has a time that a number holds exactly: none before 1684.
  if (micros > transaction.snapshotTime || micros < Number.MIN_SAFE_INTEGER) {
    throw call.error('invalid write time', 'Cannot write outside of snapshot time.')
  }
  refuseForeign(ref, call, 'insert')
  refuseNegativeId(ref.id, call)
  const fields = draftFields(ref, params, call)
  if (!isUserDocument(ref) && ref.collection !== native.keys) {
    throw call.invalid('Cannot insert event for specified ref.')
  }
  refuseUnlessAllowed(ref, ts, action, params, call)
  const version = transaction.insertVersion(ref, micros, action === 'delete' ? undefined : fields())
  return new EventValue(version.ts, action === 'delete' ? 'delete' : 'create', ref, version.fields)
}

/** Removes the version at a time; what is not there is no error. */
export function removeVersion(ref: Ref, ts: Time, action: HistoryAction, call: Call): null {
  const { transaction } = call.evaluation
  const micros = Number(microsOfTime(ts))
  refuseForeign(ref, call, 'remove')
  if (!isUserDocument(ref)) throw call.invalid('Cannot remove event for specified ref.')
  const stored = [...transaction.versions(ref)].find(version => version.ts === micros)
  refuseUnlessAllowed(ref, ts, action, stored?.fields ?? new Map(), call)
  transaction.removeVersion(ref, micros, action === 'delete' ? 'delete' : 'create')
  return null
}

function refuseForeign(ref: Ref, call: Call, key: string): void {
  if (ref.database === call.evaluation.database) return
  throw new QueryError([errorEntry('invalid argument', 'Cannot write a scoped ref.', call.position(key))])
}

function refuseUnlessAllowed(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  fields: ObjectValue,
  call: Call,
): void {
  if (!mayOnDocument('history_write', ref, call, () => [ref, ts, action, fields]))
    throw permissionDenied(call)
}

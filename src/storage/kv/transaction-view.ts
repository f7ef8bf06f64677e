// Operations of views that only transactions of documents need, in addition to the contract of every engine. One
// operation reads a value that the caller has cached. The other operation adds a read to the read set without an access
// to the store. `getCached` and `recordAbsence` accept every view.

import { areSame } from '../../base/bytes.ts'
import type { Bytes, KeyRange, View } from './kv-contract.ts'

/** A view that compares a stored value with a cached one before it copies the stored value. */
export interface ComparingView extends View {
  /** Returns the stored value; `cached` itself if the stored value is equal. */
  getCached(key: Bytes, cached: Bytes): Bytes | undefined
}

/** A view that records a read set, or has such a view below it. */
export interface AbsenceRecorder extends View {
  /** Adds to the read set that `key` has no entry and that `range` is empty. The caller knows this without reading. */
  recordAbsence(key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void
}

/** {@link ComparingView.getCached} for any view. */
export function getCached(view: View, key: Bytes, cached: Bytes): Bytes | undefined {
  if (isComparing(view)) return view.getCached(key, cached)
  const value = view.get(key)
  return value !== undefined && areSame(value, cached) ? cached : value
}

function isComparing(view: View): view is ComparingView {
  return 'getCached' in view
}

/** {@link AbsenceRecorder.recordAbsence}; without effect if the view records nothing. */
export function recordAbsence(view: View, key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void {
  if (isRecorder(view)) view.recordAbsence(key, range)
}

function isRecorder(view: View): view is AbsenceRecorder {
  return 'recordAbsence' in view
}

// Two operations that only the views of document transactions offer. The contract of all key-value engines
// (kv-contract.ts) does not contain these operations. One operation reads a value, and returns the caller's cached copy
// if the copy is equal. The other operation adds a read to the read set (the keys and ranges that a transaction has
// read) without an access to the store. The functions `getCached` and `recordAbsence` also accept views without these
// operations.

import { areSame } from '../../base/bytes.ts'
import type { Bytes, KeyRange, View } from './kv-contract.ts'

/** A view that compares a stored value with a cached value before it copies the stored value. */
export interface ComparingView extends View {
  /** Returns `cached` if the stored value has the same bytes. Otherwise, returns the stored value. */
  getCached(key: Bytes, cached: Bytes): Bytes | undefined
}

/** A view that records a read set, or a view over such a view. */
export interface AbsenceRecorder extends View {
  /**
   * Called when the caller already knows that `key` has no entry and that `range` is empty. Adds both to the read set
   * without reading the store.
   */
  recordAbsence(key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void
}

/** Like {@link ComparingView.getCached}, but accepts any view. */
export function getCached(view: View, key: Bytes, cached: Bytes): Bytes | undefined {
  if (isComparing(view)) return view.getCached(key, cached)
  const value = view.get(key)
  return value !== undefined && areSame(value, cached) ? cached : value
}

function isComparing(view: View): view is ComparingView {
  return 'getCached' in view
}

/** Like {@link AbsenceRecorder.recordAbsence}, but accepts any view. Has no effect if the view records nothing. */
export function recordAbsence(view: View, key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void {
  if (isRecorder(view)) view.recordAbsence(key, range)
}

function isRecorder(view: View): view is AbsenceRecorder {
  return 'recordAbsence' in view
}

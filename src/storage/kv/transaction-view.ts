// Two operations that only the views of document transactions offer, and the contract of all key-value engines
// (kv-contract.ts) does not contain. The functions `getCached` and `recordAbsence` also accept views without them.

import { bytesEqual } from '../../base/bytes.ts'
import type { Bytes, KeyRange, View } from './kv-contract.ts'

/** Compares a stored value with a cached value before it copies the stored value. */
export interface ComparingView extends View {
  /** Returns `cached` if the stored value has the same bytes, otherwise the stored value. */
  getCached(key: Bytes, cached: Bytes): Bytes | undefined
}

/** Records a read set, or is a view over such a view. */
export interface AbsenceRecorder extends View {
  /**
   * Adds a key without a row and an empty range to the read set, without reading the store. The caller knows already
   * that both are empty. Example: a new document id is unused if the document has neither a row of its current version
   * (`key`) nor rows of its history (`range`). A concurrent commit of either makes the read set invalid.
   */
  recordAbsence(key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void
}

/** Like {@link ComparingView.getCached}, but accepts any view. */
export function getCached(view: View, key: Bytes, cached: Bytes): Bytes | undefined {
  if ('getCached' in view) return (view as ComparingView).getCached(key, cached)
  const value = view.get(key)
  return value !== undefined && bytesEqual(value, cached) ? cached : value
}

/** Like {@link AbsenceRecorder.recordAbsence}, but has no effect if the view records nothing. */
export function recordAbsence(view: View, key: Bytes, range: Pick<KeyRange, 'start' | 'end'>): void {
  if ('recordAbsence' in view) (view as AbsenceRecorder).recordAbsence(key, range)
}

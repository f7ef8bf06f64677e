// The checks that all engines share, so that all engines reject the same transactions.

import { assert } from '../../base/assert.ts'
import { type Bytes, type KeyRange, keyBytesMax, type Work } from './contract.ts'

/** True when no entry can have the key, because it is empty or too long. */
export function isImpossibleKey(key: Bytes): boolean {
  return key.length === 0 || key.length > keyBytesMax
}

/** True when no entry can be in `range`, regardless of the stored data. */
export function isEmptyRange(range: KeyRange): boolean {
  return range.limit === 0 || Buffer.compare(range.start, range.end) >= 0
}

/** Throws unless every change of `work` can be applied: a transaction must never be written partially. */
export function checkWork(work: Work<unknown>): void {
  for (const { key, value } of work.writes) {
    assert(key instanceof Uint8Array && !isImpossibleKey(key), 'a key has 1 to 1900 bytes')
    assert(value === undefined || value instanceof Uint8Array, 'a value is bytes')
  }
}

// What every engine checks the same way, so that a transaction which one engine refuses is refused by all.

import { assert } from '../../base/assert.ts'
import { type Bytes, type KeyRange, keyBytesMax, type Work } from './contract.ts'

/** True when no entry can have that key: it is empty or too long. */
export function isImpossibleKey(key: Bytes): boolean {
  return key.length === 0 || key.length > keyBytesMax
}

/** True when no entry can lie in `range`, whatever is stored. */
export function isEmptyRange(range: KeyRange): boolean {
  return range.limit === 0 || Buffer.compare(range.start, range.end) >= 0
}

/** Throws unless every change of `work` can be applied: half a transaction must never be written. */
export function checkWork(work: Work<unknown>): void {
  for (const { key, value } of work.writes) {
    assert(key instanceof Uint8Array && !isImpossibleKey(key), 'a key has 1 to 1900 bytes')
    assert(value === undefined || value instanceof Uint8Array, 'a value is bytes')
  }
}

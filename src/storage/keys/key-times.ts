// Finds and replaces the times in keys. A transaction is evaluated before its commit time is final. At the commit, the
// final time replaces the provisional time in the keys that the transaction writes.

import { assert } from '../../base/assert.ts'
import { micros } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import { keyTags, timeBytes } from './keyspace.ts'
import { termsLength } from './terms.ts'

export const timeLength = 8
/** Bytes of tag, database and collection. */
export const collectionPrefixLength = 11
/** Bytes of tag, database and index. */
export const indexPrefixLength = 13

/** The offset of the time in a key; undefined for a key without a time. */
export function timeOffset(key: Uint8Array): number | undefined {
  switch (key[0]) {
    case keyTags.history:
    case keyTags.indexEnded:
      return key.length - timeLength
    case keyTags.indexEvent:
      return indexPrefixLength + termsLength(key, indexPrefixLength)
    case keyTags.changes:
      return 1
    case keyTags.collectionChanges:
    case keyTags.expiry:
      return collectionPrefixLength
    case keyTags.garbage:
      return 2
    default:
      return undefined
  }
}

/** Returns whether later times sort first among keys of this kind. */
function isDescending(key: Uint8Array): boolean {
  return key[0] === keyTags.history || key[0] === keyTags.indexEnded
}

const two32 = 0x1_0000_0000
const signBit = 1 << 31

/** Throws an `InvariantError` for a key without a time. */
export function timeOf(key: Uint8Array): Micros {
  const offset = timeOffset(key)
  assert(offset !== undefined, 'there is a time in a key of this kind')
  assert(offset > 0 && key.length >= offset + timeLength, 'a key does not end too early')
  const complement = isDescending(key) ? ~0 : 0
  const high = int32At(key, offset) ^ complement ^ signBit
  const low = (int32At(key, offset + 4) ^ complement) >>> 0
  return micros(high * two32 + low)
}

export function int32At(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  )
}

export class KeyTimes {
  readonly #from: Uint8Array
  readonly #to: Uint8Array
  readonly #fromDescending: Uint8Array
  readonly #toDescending: Uint8Array

  constructor(from: Micros, to: Micros) {
    this.#from = timeBytes(from, 'ascending')
    this.#to = timeBytes(to, 'ascending')
    this.#fromDescending = timeBytes(from, 'descending')
    this.#toDescending = timeBytes(to, 'descending')
  }

  /** Returns `key` itself if it does not contain the time `from`. */
  replace(key: Uint8Array): Uint8Array {
    const at = timeOffset(key)
    if (at === undefined) return key
    const from = isDescending(key) ? this.#fromDescending : this.#from
    for (let index = 0; index < timeLength; index++) if (key[at + index] !== from[index]) return key
    const replaced = key.slice()
    replaced.set(isDescending(key) ? this.#toDescending : this.#to, at)
    return replaced
  }
}

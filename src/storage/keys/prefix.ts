// Computes intervals of keys: those with a common prefix, and what is left of intervals from a key on.

import { assert } from '../../base/assert.ts'
import { compareBytes } from '../../values/order.ts'

/** A half-open interval of keys. */
export interface KeyInterval {
  readonly start: Uint8Array
  readonly end: Uint8Array
}

/** Includes `prefix` itself. */
export function prefixRange(prefix: Uint8Array): KeyInterval {
  return { start: prefix, end: successor(prefix) }
}

/** The smallest key after all keys that begin with `prefix`. */
export function successor(prefix: Uint8Array): Uint8Array {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  assert(length > 0, 'no key is above this prefix')
  const end = prefix.slice(0, length)
  end[length - 1] = (end[length - 1] as number) + 1
  return end
}

/** The parts of intervals that are not before `key`, in the order of keys. The intervals must not overlap. */
export function intervalsFrom<Interval extends KeyInterval>(
  intervals: readonly Interval[],
  key: Uint8Array = firstKey,
): Interval[] {
  return intervals
    .filter(({ end }) => compareBytes(end, key) > 0)
    .map(each => (compareBytes(each.start, key) < 0 ? { ...each, start: key } : each))
    .sort((left, right) => compareBytes(left.start, right.start))
}

const firstKey = new Uint8Array()

// Computes intervals of keys with a common prefix.

import { assert } from '../../base/assert.ts'

/** Half-open. */
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

// How keys and values pass between us and lmdb-js, which reuses one buffer for all that it reads.

import { copyOf } from '../../base/byte-pool.ts'
import type { Bytes } from './contract.ts'

/** The buffers that lmdb-js reuses, for keys and for values, seen as a whole (it redefines `length` on its own). */
let keySource: Bytes = new Uint8Array(0)
let valueSource: Bytes = new Uint8Array(0)

function copyKey(bytes: Bytes, start: number, end: number): Bytes {
  if (keySource.buffer !== bytes.buffer) keySource = new Uint8Array(bytes.buffer)
  return copyOf(keySource, bytes.byteOffset + start, bytes.byteOffset + end)
}

function sourceOf({ buffer }: Bytes): Bytes {
  if (valueSource.buffer !== buffer) valueSource = new Uint8Array(buffer)
  return valueSource
}

function copyValue(bytes: Bytes): Bytes {
  return copyOf(sourceOf(bytes), bytes.byteOffset, bytes.byteOffset + bytes.length)
}

/** `known` if those are the bytes of a value in a buffer that lmdb-js reuses, otherwise a copy of the value. */
export function knownOrCopy(value: Bytes, known: Bytes): Bytes {
  const { byteOffset, length } = value
  if (known.length !== length) return copyValue(value)
  const source = sourceOf(value)
  for (let at = 0; at < length; at++) if (source[byteOffset + at] !== known[at]) return copyValue(value)
  return known
}

/** Keys as they are. LMDB compares them bytewise, shorter prefix first. */
export const keyEncoder = {
  writeKey(key: Bytes, target: Bytes, start: number): number {
    target.set(key, start)
    return start + key.length
  },
  readKey: copyKey,
}

const handedBytes = 65_536

/**
 * Where values are handed over: lmdb-js looks up the address of a value's memory, which for a small array has to be
 * made first, but knows that of this one. `start` and `end` tell it where the value is.
 */
const handed = Object.assign(new Uint8Array(handedBytes), { start: 0, end: 0 })

/** Values as they are. They must be written at once, as in a transaction, before the next is encoded. */
export const valueEncoder = {
  encode(value: Bytes): Bytes {
    if (value.length > handedBytes) return value
    handed.set(value)
    handed.end = value.length
    return handed
  },
  decode: copyValue,
}

// Passes keys and values to and from lmdb-js, which reuses one buffer for all keys and one for all values that it reads.

import { copyOf } from '../../base/bytes.ts'
import type { Bytes } from '../kv/kv-contract.ts'

/**
 * The whole buffers that lmdb-js reuses for keys and for values. The arrays that it passes show only a part, because it
 * redefines their `length`.
 */
let keyBuffer: Bytes = new Uint8Array(0)
let valueBuffer: Bytes = new Uint8Array(0)

function copyKey(bytes: Bytes, start: number, end: number): Bytes {
  if (keyBuffer.buffer !== bytes.buffer) keyBuffer = new Uint8Array(bytes.buffer)
  return copyOf(keyBuffer, bytes.byteOffset + start, bytes.byteOffset + end)
}

function wholeBuffer({ buffer }: Bytes): Bytes {
  if (valueBuffer.buffer !== buffer) valueBuffer = new Uint8Array(buffer)
  return valueBuffer
}

function copyValue(bytes: Bytes): Bytes {
  return copyOf(wholeBuffer(bytes), bytes.byteOffset, bytes.byteOffset + bytes.length)
}

/**
 * Returns `known` if it has the same bytes as `value`, otherwise a copy, because lmdb-js reuses the buffer of `value`.
 */
export function cachedOrCopy(value: Bytes, known: Bytes): Bytes {
  const { byteOffset, length } = value
  if (known.length !== length) return copyValue(value)
  const buffer = wholeBuffer(value)
  for (let at = 0; at < length; at++) if (buffer[byteOffset + at] !== known[at]) return copyValue(value)
  return known
}

/** Passes keys unchanged: LMDB sorts them bytewise, and a prefix of a key before the key, as the store needs. */
export const keyEncoder = {
  writeKey(key: Bytes, target: Bytes, start: number): number {
    target.set(key, start)
    return start + key.length
  },
  readKey: copyKey,
}

const sharedBytes = 65_536

/**
 * lmdb-js needs values at a fixed address. This buffer has one; V8 would first have to move the bytes of a small array
 * out of its heap. lmdb-js reads `start` and `end` as the offsets of the value.
 */
const shared = Object.assign(new Uint8Array(sharedBytes), { start: 0, end: 0 })

/**
 * Passes values unchanged. Values of up to `sharedBytes` share one buffer, so they must be written inside a
 * transaction, where lmdb-js writes each value before it encodes the next.
 */
export const valueEncoder = {
  encode(value: Bytes): Bytes {
    if (value.length > sharedBytes) return value
    shared.set(value)
    shared.end = value.length
    return shared
  },
  decode: copyValue,
}

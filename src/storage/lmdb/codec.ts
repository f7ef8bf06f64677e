// Passes keys and values between this program and lmdb-js, which reuses one buffer for all reads.

import { copyOf } from '../../base/bytes.ts'
import type { Bytes } from '../kv/kv-contract.ts'

/**
 * Arrays over the whole buffers that lmdb-js reuses for keys and for values. The arrays that lmdb-js passes show only a
 * part of a buffer, because lmdb-js redefines their `length`.
 */
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

/**
 * Returns `known` if it has the same bytes as `value`. If the bytes differ, returns a copy of `value`, because lmdb-js
 * reuses the buffer of `value`.
 */
export function cachedOrCopy(value: Bytes, known: Bytes): Bytes {
  const { byteOffset, length } = value
  if (known.length !== length) return copyValue(value)
  const source = sourceOf(value)
  for (let at = 0; at < length; at++) if (source[byteOffset + at] !== known[at]) return copyValue(value)
  return known
}

/**
 * Passes keys unchanged, because LMDB sorts them in the order that the store needs: bytewise, and a prefix of a key
 * before the key.
 */
export const keyEncoder = {
  writeKey(key: Bytes, target: Bytes, start: number): number {
    target.set(key, start)
    return start + key.length
  },
  readKey: copyKey,
}

const handedBytes = 65_536

/**
 * The buffer for values that are passed to lmdb-js. lmdb-js needs values at a fixed address. A small array must first
 * be moved to a fixed address, but this buffer already has a fixed address. `start` and `end` give the position of the
 * value.
 */
const handed = Object.assign(new Uint8Array(handedBytes), { start: 0, end: 0 })

/**
 * Passes values unchanged. Values of up to `handedBytes` share one buffer, so they must be written inside a
 * transaction. There, lmdb-js writes each value before it encodes the next value.
 */
export const valueEncoder = {
  encode(value: Bytes): Bytes {
    if (value.length > handedBytes) return value
    handed.set(value)
    handed.end = value.length
    return handed
  },
  decode: copyValue,
}

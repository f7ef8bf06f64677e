// How keys and values pass between us and lmdb-js, which reuses one buffer for all that it reads.

import { copyOf } from '../base/byte-pool.ts'
import type { Bytes } from './contract.ts'

/** The reused buffer seen as a plain Uint8Array (lmdb-js redefines `length` on its own). */
let source: Bytes = new Uint8Array(0)

/** A copy of `bytes[start..end)`, where `bytes` may be one of lmdb-js's reused buffers. */
function copyOut(bytes: Bytes, start: number, end: number): Bytes {
  if (source.buffer !== bytes.buffer) source = new Uint8Array(bytes.buffer)
  return copyOf(source, bytes.byteOffset + start, bytes.byteOffset + end)
}

/** Keys as they are. LMDB compares them bytewise, shorter prefix first. */
export const keyEncoder = {
  writeKey(key: Bytes, target: Bytes, start: number): number {
    target.set(key, start)
    return start + key.length
  },
  readKey: copyOut,
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
  decode: (bytes: Bytes): Bytes => copyOut(bytes, 0, bytes.length),
}

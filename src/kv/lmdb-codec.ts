// Copies keys and values out of the buffers lmdb-js reuses for every read. Its own binary encoding does the same
// through Uint8Array.slice, which costs a memory allocation outside the JavaScript heap (about 1 µs) for
// everything over 64 bytes; taking middle-sized copies from a shared block is ten times faster.

import type { Bytes } from './contract.ts'

/** V8 keeps typed arrays up to this size in its own heap, where allocating is cheap. */
const heapBytesMax = 64
/** Copies larger than this get memory of their own, so that a kept value pins at most one block of its size class. */
const pooledBytesMax = 2048
const blockBytes = 65_536

let block = new Uint8Array(blockBytes)
let used = 0

/** The reused buffer seen as a plain Uint8Array (lmdb-js redefines `length` on its own). */
let source: Bytes = new Uint8Array(0)

/** A copy of `bytes[start..end)`, where `bytes` may be one of lmdb-js's reused buffers. */
function copyOut(bytes: Bytes, start: number, end: number): Bytes {
  if (source.buffer !== bytes.buffer) source = new Uint8Array(bytes.buffer)
  const from = bytes.byteOffset + start
  const to = bytes.byteOffset + end
  const size = end - start
  if (size <= heapBytesMax || size > pooledBytesMax) return source.slice(from, to)
  if (used + size > blockBytes) {
    block = new Uint8Array(blockBytes)
    used = 0
  }
  const copy = new Uint8Array(block.buffer, used, size)
  used += size
  copy.set(source.subarray(from, to))
  return copy
}

/** Keys as they are. LMDB compares them bytewise, shorter prefix first. */
export const keyEncoder = {
  writeKey(key: Bytes, target: Bytes, start: number): number {
    target.set(key, start)
    return start + key.length
  },
  readKey: copyOut,
}

/**
 * Where values are handed over: lmdb-js looks up the address of a value's memory, which for a small array has to be
 * made first, but knows that of this one. `start` and `end` tell it where the value is.
 */
const handed = Object.assign(new Uint8Array(blockBytes), { start: 0, end: 0 })

/** Values as they are. They must be written at once, as in a transaction, before the next is encoded. */
export const valueEncoder = {
  encode(value: Bytes): Bytes {
    if (value.length > blockBytes) return value
    handed.set(value)
    handed.end = value.length
    return handed
  },
  decode: (bytes: Bytes): Bytes => copyOut(bytes, 0, bytes.length),
}

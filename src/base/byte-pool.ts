// Memory for small arrays of bytes. An array of its own costs a memory allocation outside the JavaScript heap (about
// 1 µs, and again when it is freed) for everything over 64 bytes; a piece of a shared block is ten times faster.

/** V8 keeps typed arrays up to this size in its own heap, where allocating is cheap. */
const heapBytesMax = 64
/** Copies larger than this get memory of their own, so that a kept value pins at most one block of its size class. */
const pooledBytesMax = 2048
const blockBytes = 65_536

let block = new Uint8Array(blockBytes)
let used = 0

/** A copy of `bytes[start..end)` that belongs to the caller. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const size = end - start
  if (size <= heapBytesMax || size > pooledBytesMax) return bytes.slice(start, end)
  if (used + size > blockBytes) {
    block = new Uint8Array(blockBytes)
    used = 0
  }
  const copy = new Uint8Array(block.buffer, used, size)
  used += size
  copy.set(bytes.subarray(start, end))
  return copy
}

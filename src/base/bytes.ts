// Operations on byte strings: successor key, equality, concatenation, hashing and pooled copies.

/** The unit of sizes in settings. */
export const megabyte = 1_048_576

/** The smallest byte string after `key` in byte order. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

/** Most arrays are short, so this loop is faster than a native call. */
export function bytesEqual(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false
  return true
}

/** A single part is returned without a copy. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** The hash of no bytes, as a signed number of 32 bits. */
export const hashSeed = 0x811c9dc5 | 0

/** FNV-1a as a signed number of 32 bits. `seed`: the hash of the preceding bytes. */
export function hashBytes(bytes: Uint8Array, seed: number = hashSeed): number {
  let hash = seed
  for (let at = 0; at < bytes.length; at++) hash = hashByte(hash, bytes[at] as number)
  return hash
}

/** Mixes the bits, so that almost every bit of the word affects almost every bit of the hash. */
export function hashWord(hash: number, word: number): number {
  let mixed = Math.imul(hash ^ word, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

export function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

/**
 * V8 allocates typed arrays up to this size in its own heap, where allocation is cheap. Larger arrays take about 1 µs
 * each to allocate and to free; a slice of a shared block is ten times faster.
 */
const heapBytesMax = 64
/**
 * A retained copy keeps its whole block alive. Larger copies get their own memory, because a block would contain only a
 * few of them, and would often be retained for a single one.
 */
const pooledBytesMax = 2048
const blockBytes = 65_536

let block = new Uint8Array(blockBytes)
let used = 0

/** `slice` of a Buffer would return a view. */
const { slice } = Uint8Array.prototype

/** A copy of `bytes[start..end)`, owned by the caller. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const size = end - start
  if (size <= heapBytesMax || size > pooledBytesMax) return slice.call(bytes, start, end)
  if (used + size > blockBytes) {
    block = new Uint8Array(blockBytes)
    used = 0
  }
  const copy = new Uint8Array(block.buffer, used, size)
  used += size
  copy.set(bytes.subarray(start, end))
  return copy
}

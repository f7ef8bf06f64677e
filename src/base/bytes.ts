// Byte strings: the one that follows another as a key, whether two are the same, several as one, and a hash of one. And how
// many bytes a megabyte of the settings has.

/** Bytes. */
export const megabyte = 1_048_576

/** The smallest byte string behind another. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}

/** Whether two arrays hold the same bytes. They are short, mostly: a native call would cost more than the loop. */
export function areSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false
  return true
}

/** Byte strings, one behind another. */
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

/** Where a hash of {@link hashBytes} begins. */
export const hashSeed = 0x811c9dc5

/** FNV-1a, 32 bits, signed; `seed`: the hash of what stands before. */
export function hashBytes(bytes: Uint8Array, seed: number = hashSeed): number {
  let hash = seed
  for (let at = 0; at < bytes.length; at++) hash = hashByte(hash, bytes[at] as number)
  return hash
}

/** The hash of what `hash` stands for and 32 bits behind it, which change all of its bits. */
export function hashWord(hash: number, word: number): number {
  let mixed = Math.imul(hash ^ word, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** The hash of what `hash` stands for and a byte behind it. */
export function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193)
}

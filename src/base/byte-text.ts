// Encodes bytes as strings, for use as keys of a `Map`. These functions are not in bytes.ts, because the dashboard
// loads bytes.ts in a browser, which has no `Buffer`.

import { hashByte, hashSeed } from './bytes.ts'

const scratchBytes = 4096
/** Shared, because V8 needs a microsecond to allocate the memory of a Buffer. */
const scratch = Buffer.alloc(scratchBytes)

/** Returns one character per byte: two strings are equal if and only if their bytes are equal. */
export function byteText(bytes: Uint8Array): string {
  const { length } = bytes
  if (length > scratchBytes) return Buffer.from(bytes).toString('latin1')
  scratch.set(bytes)
  return scratch.toString('latin1', 0, length)
}

/** Decodes a result of {@link byteText}. */
export function textBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}

/** The hash (`hashBytes` in bytes.ts) of the bytes in a result of {@link byteText}. */
export function hashText(text: string): number {
  let hash = hashSeed
  for (let at = 0; at < text.length; at++) hash = hashByte(hash, text.charCodeAt(at))
  return hash
}

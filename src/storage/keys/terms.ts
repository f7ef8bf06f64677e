// Encodes the terms of an index entry as part of a key: a length byte, then the terms as value-codec.ts encodes them.
// Queries match terms only exactly (1 is not 1.0), so the bytes need no order. Object fields are sorted by name,
// because a match ignores the order of fields. Terms of more than 254 bytes are replaced by the byte 255 and their
// SHA-256.

import { createHash } from 'node:crypto'
import { ByteWriter } from '../../values/byte-writer.ts'
import type { Value } from '../../values/value.ts'
import { appendCanonical, type TransactionTimeSource } from './value-codec.ts'

/** Maximum length in bytes. Longer terms are replaced by a hash, marked by `hashMarker`. */
const inlineBytesMax = 254
const hashMarker = 255

const writer = new ByteWriter()
const noTerms = Uint8Array.of(0)

/**
 * Equal terms, and only equal terms, have equal bytes. `transactionTime` is required if a term contains the placeholder
 * of the running transaction's time.
 */
export function encodeTerms(terms: readonly Value[], transactionTime?: TransactionTimeSource): Uint8Array {
  if (terms.length === 0) return noTerms
  writer.reset().u8(0)
  for (const term of terms) appendCanonical(writer, term, transactionTime)
  const length = writer.length - 1
  if (length <= inlineBytesMax) {
    writer.bytes[0] = length
    return writer.copy()
  }
  const hash = createHash('sha256').update(writer.bytes.subarray(1, writer.length)).digest()
  const bytes = new Uint8Array(1 + hash.length)
  bytes[0] = hashMarker
  bytes.set(hash, 1)
  return bytes
}

/** Includes the length byte at the offset `start`. */
export function termsLength(key: Uint8Array, start: number): number {
  const length = key[start] as number
  return 1 + (length === hashMarker ? 32 : length)
}

/** Returns the size in bytes, before hashing and without the length byte. The query language limits this length. */
export function termsSize(terms: readonly Value[], transactionTime?: TransactionTimeSource): number {
  writer.reset()
  for (const term of terms) appendCanonical(writer, term, transactionTime)
  return writer.length
}

// Encodes data that clients keep and return, with a message authentication code of this service. The bytes are a
// version, which identifies the kind, the stored value, and 16 bytes of authentication code, all in base64url.

import { hash, timingSafeEqual } from 'node:crypto'
import { decodeValue, encodeValue } from '../../storage/keys/value-codec.ts'
import { encodeBase64Url } from '../../values/base64.ts'
import type { Micros, Value as StoredValue } from '../../values/value.ts'

/**
 * Versions by kind. Clients keep texts with these numbers, so never renumber them. 4 is an event position
 * (../events/place-text.ts).
 */
const versions = { 'set cursor': 1, 'event source': 2 } as const

/** The kind of the sealed data. */
type SealedKind = keyof typeof versions

const proofBytes = 16

/** Encodes a value. `time` replaces commit times in the value that are not known yet. */
export function seal(kind: SealedKind, value: StoredValue, key: Uint8Array, time: Micros): string {
  const encoded = encodeValue(value, time)
  const end = 1 + encoded.length
  const bytes = Buffer.allocUnsafe(end + proofBytes)
  bytes[0] = versions[kind]
  bytes.set(encoded, 1)
  bytes.set(proofOf(bytes.subarray(0, end), key), end)
  return encodeBase64Url(bytes)
}

/** Decodes a text that was sealed with the key. Undefined for any other text. */
export function unseal(
  text: string,
  key: Uint8Array,
): { readonly kind: SealedKind; readonly value: StoredValue } | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const end = bytes.length - proofBytes
  const kind = kindOf(bytes[0])
  if (end < 2 || kind === undefined) return undefined
  if (!timingSafeEqual(bytes.subarray(end), proofOf(bytes.subarray(0, end), key))) return undefined
  return { kind, value: decodeValue(bytes, 1, end) }
}

/** True if a text may be sealed data of a kind, as far as this is visible without the key. */
export function looksSealed(text: string, wanted: SealedKind): boolean {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length - proofBytes >= 2 && kindOf(bytes[0]) === wanted
}

function kindOf(version: number | undefined): SealedKind | undefined {
  return (Object.keys(versions) as SealedKind[]).find(kind => versions[kind] === version)
}

/** A truncated hash with the key before and after the data. An HMAC would take three times as long. */
function proofOf(head: Uint8Array, key: Uint8Array): Buffer {
  const end = key.length + head.length
  const proven = Buffer.allocUnsafe(end + key.length)
  proven.set(key, 0)
  proven.set(head, key.length)
  proven.set(key, end)
  return hash('sha256', proven, 'buffer').subarray(0, proofBytes)
}
